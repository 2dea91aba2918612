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
        for (array, it) in self.arrays.iter().enumerate() {
            let mut differs = difference.within(it.address, it.bytes()).peekable();
            if differs.peek().is_none() {
                continue;
            }
            let keeps = self.keep.bytes((number, count), array, &self.changes);
            let runs =
                if keeps { differs.map(|(at, bytes)| (at as u64, bytes.to_vec())).collect() } else { Vec::new() };
            self.changes.push(Change { launch: number as u32, array, runs });
        }
    }
}
