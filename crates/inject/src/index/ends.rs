//! Ranges of memory, and whether lists of accesses meet them.

use simt::memory::ByteRun;

/// The first and the last byte of a range of memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteRange {
    first: ByteRun,
    last: ByteRun,
}

impl ByteRange {
    /// Those of so many bytes from an address on; none if there are none.
    pub(crate) fn of(address: u64, bytes: u64) -> Option<Self> {
        let last = bytes.checked_sub(1)?;
        Some(Self { first: byte(address)?, last: byte(address.wrapping_add(last))? })
    }

    /// Whether one of the items, whose pages ascend, has bytes in the range.
    pub(crate) fn meet<T>(self, items: &[T], run: impl Fn(&T) -> ByteRun) -> bool {
        let Self { first, last } = self;
        let start = items.partition_point(|item| run(item).page < first.page);
        items[start..]
            .iter()
            .map(run)
            .take_while(|run| run.page <= last.page)
            .any(|run| (run.page > first.page || run.to > first.from) && (run.page < last.page || run.from < last.to))
    }
}

fn byte(address: u64) -> Option<ByteRun> {
    ByteRun::of(address, 1).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use simt::memory::{PAGE, address_of};

    #[test]
    fn a_range_is_met_by_what_has_some_of_its_bytes() {
        let base = address_of(0);
        let ends = ByteRange::of(base + PAGE as u64 + 16, 2 * PAGE as u64).unwrap();
        let run = |page: u32, from: u16, to: u16| ByteRun { page, from, to };
        let meets = |runs: &[ByteRun]| ends.meet(runs, |&run| run);
        assert!(!meets(&[run(0, 0, 8), run(1, 0, 16), run(3, 16, 20), run(4, 0, 4)]));
        assert!(meets(&[run(1, 12, 17)]) && meets(&[run(2, 0, 1)]) && meets(&[run(3, 15, 16)]));
        assert!(ByteRange::of(base, 0).is_none());
    }
}
