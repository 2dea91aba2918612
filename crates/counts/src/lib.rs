//! A number for every thread of a launch, in the memory that the different ones need.
//!
//! Most threads of a large launch do what others do, a million blocks the same as the first. So the numbers are cut into
//! segments of [`SEGMENT`] threads, whatever the shape of the launch, and segments that are alike are kept once. A number is
//! found in constant time; where no two segments are alike it takes a thousandth more than a list would.
//!
//! - [`Counts`]: such numbers;
//! - [`CountsWriter`]: makes them, thread by thread;
//! - [`CountsView`]: the same numbers wherever they lie, in a file that is mapped, for one.

mod counts;
mod view;
mod writer;

pub use counts::Counts;
pub use view::{CountsView, SEGMENT};
pub use writer::CountsWriter;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_number_is_found_where_it_was_put(pattern in prop::collection::vec(0u32..3, 1..700), threads in 0usize..9000) {
            let all: Vec<u32> = pattern.iter().copied().cycle().take(threads).collect();
            let counts: Counts<u32> = all.iter().copied().collect();
            let view = counts.view();
            prop_assert_eq!((view.threads(), view.is_empty()), (threads as u64, threads == 0));
            prop_assert!(view.iter().eq(all.iter().copied()));
            prop_assert_eq!(view.total(), all.iter().map(|&number| u64::from(number)).sum::<u64>());
            prop_assert_eq!(view.most(), all.iter().copied().max());
            for thread in 0..threads {
                prop_assert_eq!(view.get(thread as u64), Some(all[thread]));
            }
            prop_assert_eq!(view.get(threads as u64), None);
            let half = threads / 2;
            prop_assert!(view.range(half as u64..u64::MAX).eq(all[half..].iter().copied()));
            let mut writer = CountsWriter::default();
            writer.extend(all[..half].iter().copied());
            writer.fill(0, threads as u64);
            let filled = writer.finish();
            prop_assert!(filled.view().range(0..half as u64).eq(all[..half].iter().copied()));
            prop_assert!(filled.view().range(half as u64..u64::MAX).eq((half..threads).map(|_| 0)));
            let segments: Vec<u32> = view.segments().flat_map(|(_, numbers)| numbers).copied().collect();
            prop_assert_eq!(segments, all);
        }
    }

    #[test]
    fn blocks_that_are_alike_take_the_memory_of_a_few() {
        for block in [1, 32, 192, 256, 1000] {
            let of_a_block = |thread: u32| if thread < 7 { 12 } else { 5 };
            let counts: Counts<u32> = (0..1 << 22).map(|thread| of_a_block(thread % block)).collect();
            assert!(counts.bytes() < 600_000, "{} bytes for blocks of {block} threads", counts.bytes());
        }
    }

    #[test]
    fn numbers_that_all_differ_take_hardly_more_than_a_list() {
        let counts: Counts<u32> = (0..1 << 20).collect();
        assert_eq!(counts.bytes(), (4 << 20) + (4 << 10));
    }

    #[test]
    fn other_numbers_are_made_of_segments_that_are_alike() {
        let counts: Counts<u64> = (0..5000).map(|thread| thread % 2).collect();
        let more = counts.map(|number| number as u32 + 7);
        assert!(more.view().iter().eq((0..5000).map(|thread| thread % 2 + 7)));
    }

    #[test]
    fn what_lies_in_a_file_cut_off_ends_where_the_file_does() {
        let (different, segments) = ([1u32, 2, 3], [0, 7]);
        let view = CountsView::new(2000, &different, &segments);
        assert_eq!((view.get(2), view.get(3), view.get(1024), view.get(1999)), (Some(3), None, None, None));
        assert!(view.iter().eq([1, 2, 3]));
    }
}
