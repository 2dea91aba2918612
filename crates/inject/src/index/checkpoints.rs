//! Checkpoints of the golden run within long blocks: the state of the block, and the global memory it has written.
//!
//! A faulty run of the block starts from the last checkpoint before its fault. At every later one it is compared with
//! the golden run: where nothing differs, nothing will.

use super::writes::{Track, Writes};
use simt::memory::{ByteRun, GlobalMemory, Page, address_of};
use simt::{BlockState, Checkpoint};
use std::sync::Arc;

/// The checkpoints of a block, by round.
#[derive(Debug, Default)]
pub(crate) struct Checkpoints {
    kept: Vec<SavedState>,
    /// What the block wrote before each, and after the one before.
    writes: Vec<Writes>,
}

/// A checkpoint with the counts of its block.
#[derive(Debug)]
struct SavedState {
    state: Checkpoint,
    /// Accesses of the block outside every allocation.
    strayed: u64,
}

impl Checkpoints {
    /// Adds the next; `memory` is as it is there.
    pub(super) fn push(&mut self, state: Checkpoint, written: &[ByteRun], memory: &mut GlobalMemory, strayed: u64) {
        self.writes.push(Writes::of(written, memory));
        self.kept.push(SavedState { state, strayed });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        let states: usize = self.kept.iter().map(|kept| kept.state.bytes()).sum();
        states + self.writes.iter().map(Writes::bytes).sum::<usize>()
    }

    /// The last before a thread has executed more instructions than these.
    pub(crate) fn before(&self, thread: u32, executed: u64) -> Option<usize> {
        self.kept.partition_point(|kept| kept.state.executed(thread) <= executed).checked_sub(1)
    }

    /// The one after so many rounds, if there is one.
    pub(crate) fn at_round(&self, round: u32) -> Option<usize> {
        self.kept.binary_search_by_key(&round, |kept| kept.state.round()).ok()
    }

    /// The state of the block.
    pub(crate) fn state(&self, at: usize) -> &Checkpoint {
        &self.kept[at].state
    }

    /// Accesses of the block outside every allocation.
    pub(crate) fn strayed(&self, at: usize) -> u64 {
        self.kept[at].strayed
    }

    /// Brings memory from before the block to a checkpoint.
    pub(crate) fn restore(&self, at: usize, memory: &mut GlobalMemory) {
        for (run, values) in self.writes[..=at].iter().flat_map(Writes::iter) {
            // What the golden run wrote is mapped.
            let _ = memory.copy_in(address_of(run.page) + u64::from(run.from), values);
        }
    }

    /// Whether a run that is in the same round is as the golden run was, in memory too, which `track` follows; `before`
    /// gives the pages before the block.
    pub(crate) fn agrees(
        &self,
        at: usize,
        block: &BlockState,
        memory: &mut GlobalMemory,
        track: &mut Track,
        before: impl Fn(u32) -> Option<Arc<Page>>,
    ) -> bool {
        block.agrees(&self.kept[at].state) && track.agrees(&self.writes[..=at], memory, before)
    }
}
