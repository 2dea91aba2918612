//! What differs of arrays after the launches of full re-execution.

use super::array::{Array, Change, Keep};
use crate::full::Witness;
use crate::golden::Golden;
use simt::memory::{ByteRun, ByteSet, GlobalMemory, PAGE, Page, Version};
use std::ops::Range;

/// Compares arrays with the golden run's after every launch.
pub(super) struct ArrayWitness<'a> {
    golden: &'a Golden,
    arrays: &'a [Array],
    keep: Keep,
    pub(super) changes: Vec<Change>,
}

impl<'a> ArrayWitness<'a> {
    pub(super) fn new(golden: &'a Golden, arrays: &'a [Array], keep: Keep) -> Self {
        Self { golden, arrays, keep, changes: Vec::new() }
    }
}

impl Witness for ArrayWitness<'_> {
    fn launched(&mut self, number: usize, memory: &mut GlobalMemory) {
        let after = Version::before(self.golden.launches()[number].event as u32 + 1);
        let seen = self.arrays.iter().enumerate().filter(|(_, it)| it.is_seen_after(number as u32));
        for (array, it) in seen {
            let mut runs: Vec<(u64, Vec<u8>)> = Vec::new();
            let mut offset = 0;
            for part in ByteRun::of(it.address, it.bytes()) {
                let range = part.range();
                let golden = self.golden.history.page(part.page, after);
                let found = memory.numbered(part.page).unwrap_or(&[0; PAGE]);
                runs.extend(differing(it, offset, range.clone(), golden.as_deref().unwrap_or(&[0; PAGE]), found));
                offset += range.len();
            }
            if !runs.is_empty() {
                if !self.keep.bytes(it.last_launch(self.golden.launches().len()) == number as u32, array, &self.changes)
                {
                    runs.clear();
                }
                self.changes.push(Change { launch: number as u32, array, runs });
            }
        }
    }

    fn copied(&mut self, _: usize, _: usize, _: &[u8]) {}
}

/// The bytes of an array in part of a page that differ: their offsets in the array, and what they are. The part begins at an
/// offset.
pub(super) fn differing(
    array: &Array,
    offset: usize,
    part: Range<usize>,
    golden: &Page,
    found: &Page,
) -> Vec<(u64, Vec<u8>)> {
    let mut all = Vec::new();
    for run in ByteSet::differing(golden, found).runs() {
        let (from, to) = (run.start.max(part.start), run.end.min(part.end));
        if from < to {
            let parts = array.parts((offset + from - part.start) as u64, &found[from..to]);
            all.extend(parts.map(|(at, bytes)| (at, bytes.to_vec())));
        }
    }
    all
}
