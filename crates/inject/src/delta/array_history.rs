//! The arrays that a difference has changed, after each launch.

use super::difference::Difference;
use crate::tracking::{Array, Change, Keep};
use std::sync::Arc;

/// The changes of arrays in a run so far.
#[derive(Debug)]
pub(super) struct ArrayHistory {
    arrays: Arc<[Array]>,
    keep: Keep,
    pub(super) changes: Vec<Change>,
}

impl ArrayHistory {
    pub(super) fn new(arrays: &Arc<[Array]>, keep: Keep) -> Self {
        Self { arrays: Arc::clone(arrays), keep, changes: Vec::new() }
    }

    /// A launch has ended, `number` of `count`, and memory differs so.
    pub(super) fn after(&mut self, (number, count): (usize, usize), difference: &Difference) {
        if difference.is_empty() {
            return;
        }
        let seen = self.arrays.iter().enumerate().filter(|(_, it)| it.is_seen_after(number as u32));
        for (array, it) in seen {
            let within = difference.within(it.address, it.bytes());
            let mut differs = within.flat_map(|(at, bytes)| it.parts(at as u64, bytes)).peekable();
            if differs.peek().is_none() {
                continue;
            }
            let keeps = self.keep.bytes(it.last_launch(count) == number as u32, array, &self.changes);
            let runs = if keeps { differs.map(|(at, bytes)| (at, bytes.to_vec())).collect() } else { Vec::new() };
            self.changes.push(Change { launch: number as u32, array, runs });
        }
    }
}
