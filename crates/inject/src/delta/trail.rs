//! What a difference has of arrays after launches.

use super::difference::Difference;
use crate::tracking::{Array, Change};
use std::sync::Arc;

/// The changes of a run so far.
#[derive(Debug)]
pub(super) struct Trail {
    arrays: Arc<[Array]>,
    pub(super) changes: Vec<Change>,
}

impl Trail {
    pub(super) fn new(arrays: &Arc<[Array]>) -> Self {
        Self { arrays: Arc::clone(arrays), changes: Vec::new() }
    }

    /// A launch has ended, and memory differs so.
    pub(super) fn after(&mut self, launch: usize, difference: &Difference) {
        if difference.is_empty() {
            return;
        }
        for (number, array) in self.arrays.iter().enumerate() {
            let runs = difference.within(array.address, array.bytes());
            if !runs.is_empty() {
                let runs = runs.into_iter().map(|(at, bytes)| (at as u64, bytes.to_vec())).collect();
                self.changes.push(Change { launch: launch as u32, array: number, runs });
            }
        }
    }
}
