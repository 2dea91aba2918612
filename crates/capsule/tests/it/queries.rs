//! What capsules answer, and the arithmetic of regions.

use capsule::{AllocKind, Capsule, Digest, Event, LaunchIndex, ModuleId, RecordedModule, Region};
use expect_test::expect;
use proptest::prelude::*;

use crate::samples::{launch, small};

fn out(address: u64) -> Event {
    Event::CopyOut { from: Region::linear(address, 0), digest: Digest::of(b""), data: None }
}

/// A capsule with one module and these events after its load.
fn with(events: Vec<Event>) -> Capsule {
    let mut capsule = Capsule::new("queried");
    capsule.modules.push(RecordedModule {
        id: ModuleId(0),
        ptx: None,
        binaries: vec![],
        globals: vec![],
        hardened: vec![],
    });
    capsule.events = [vec![Event::Load { module: ModuleId(0) }], events].concat();
    capsule.validate().unwrap();
    capsule
}

fn default_copies(events: Vec<Event>) -> Vec<u32> {
    with(events).default_outputs().into_iter().map(|output| output.copy).collect()
}

#[test]
fn default_outputs_are_the_copies_after_the_last_launch() {
    let run = || Event::Launch(launch());
    assert_eq!(default_copies(vec![out(1), run(), out(2), run(), out(3), out(4)]), [2, 3]);
}

#[test]
fn without_copies_after_the_last_launch_every_copy_is_an_output() {
    let run = || Event::Launch(launch());
    assert_eq!(default_copies(vec![out(1), run(), out(2), run()]), [0, 1]);
    assert_eq!(default_copies(vec![out(1), out(2)]), [0, 1]);
    assert_eq!(default_copies(vec![run()]), [0; 0]);
}

#[test]
fn declared_outputs_take_precedence() {
    let mut capsule = small();
    assert_eq!(capsule.effective_outputs(), capsule.outputs);
    capsule.outputs.clear();
    assert_eq!(capsule.effective_outputs()[0].name, "copy0");
}

#[test]
fn launches_and_copies_have_indexes() {
    let capsule = with(vec![out(1), Event::Launch(launch()), out(2), Event::Launch(launch())]);
    let launches: Vec<_> = capsule.launches().map(|(index, _)| index).collect();
    assert_eq!(launches, [LaunchIndex(0), LaunchIndex(1)]);
    let copies: Vec<_> = capsule.copies_out().map(|(index, copy)| (index, copy.event, copy.from.address)).collect();
    assert_eq!(copies, [(0, 1, 1), (1, 3, 2)]);
    assert!(capsule.launch(LaunchIndex(1)).is_some() && capsule.launch(LaunchIndex(2)).is_none());
    assert_eq!(capsule.launch_count(), 2);
}

#[test]
fn a_summary_counts_everything() {
    expect![[r#"
        CapsuleSummary {
            events: 9,
            launches: 1,
            threads: 256,
            kernels: [
                KernelUse {
                    module: ModuleId(
                        0,
                    ),
                    kernel: "scale",
                    launches: 1,
                    threads: 256,
                },
            ],
            allocations: 1,
            peak_bytes: 512,
            copies_in: 1,
            bytes_in: 96,
            copies_out: 1,
            bytes_out: 96,
            bytes_within: 96,
            bytes_filled: 96,
            blob_bytes: 196,
        }
    "#]]
    .assert_debug_eq(&small().summary());
}

#[test]
fn peak_memory_is_what_was_live_at_one_time() {
    let alloc = |address, bytes| Event::Alloc { address, bytes, kind: AllocKind::Device };
    let events =
        vec![alloc(0, 10), alloc(64, 5), Event::Free { address: 0 }, alloc(128, 7), Event::Free { address: 9 }];
    assert_eq!(with(events).summary().peak_bytes, 15);
}

#[test]
fn a_linear_region_is_one_row() {
    let region = Region::linear(100, 7);
    assert_eq!(region.rows().collect::<Vec<_>>(), [(100, 7)]);
    assert!(region.is_contiguous());
}

#[test]
fn the_rows_of_a_volume_go_slice_by_slice() {
    let region = Region { address: 1000, width: 3, height: 2, depth: 2, pitch: 10, slice: 100 };
    assert_eq!(region.rows().collect::<Vec<_>>(), [(1000, 3), (1010, 3), (1100, 3), (1110, 3)]);
    assert_eq!((region.bytes(), region.span(), region.is_contiguous()), (Some(12), Some(113), false));
}

#[test]
fn an_empty_region_has_no_rows_however_many_it_declares() {
    for region in [Region::linear(5, 0), Region::pitched(5, 0, u64::MAX, 8), Region::pitched(5, 8, 0, 8)] {
        assert_eq!((region.rows().count(), region.bytes(), region.span()), (0, Some(0), Some(0)));
    }
}

proptest! {
    #[test]
    fn rows_add_up_to_bytes_and_end_at_the_span(
        address in 0..1_u64 << 40, width in 0..9_u64, height in 0..5_u64, depth in 0..4_u64, gaps in (0..5_u64, 0..5_u64),
    ) {
        let pitch = width + gaps.0;
        let region = Region { address, width, height, depth, pitch, slice: pitch * height + gaps.1 };
        let rows: Vec<_> = region.rows().collect();
        prop_assert_eq!(rows.iter().map(|(_, bytes)| bytes).sum::<u64>(), region.bytes().unwrap());
        prop_assert_eq!(rows.last().map_or(0, |(row, bytes)| row + bytes - address), region.span().unwrap());
        let adjoining = rows.windows(2).all(|pair| pair[0].0 + pair[0].1 == pair[1].0);
        prop_assert_eq!(region.is_contiguous(), adjoining);
    }

    #[test]
    fn no_region_panics(numbers in any::<[u64; 6]>()) {
        let [address, width, height, depth, pitch, slice] = numbers;
        let region = Region { address, width, height, depth, pitch, slice };
        let _ = (region.bytes(), region.span(), region.is_contiguous(), region.rows().take(5).count());
    }
}
