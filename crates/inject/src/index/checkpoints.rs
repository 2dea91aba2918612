//! Checkpoints of the golden run within long blocks: the state of the block, and the global memory it has written.
//!
//! A faulty run of the block starts from the last checkpoint before its fault. At every later one it is compared with
//! the golden run: where nothing differs, nothing will.

use simt::memory::window::DEVICE_BASE;
use simt::memory::{GlobalMemory, PAGE, Page, Run};
use simt::{BlockState, Checkpoint};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The checkpoints of a block, by round.
#[derive(Debug, Default)]
pub(crate) struct Checkpoints(Vec<Kept>);

/// A checkpoint, and what the block wrote since the one before.
#[derive(Debug)]
struct Kept {
    state: Checkpoint,
    writes: Vec<(Run, usize)>,
    values: Vec<u8>,
    /// Accesses of the block outside every allocation.
    strayed: u64,
}

impl Checkpoints {
    /// Adds the next; `memory` is as it is there.
    pub(super) fn push(&mut self, state: Checkpoint, written: &[Run], memory: &mut GlobalMemory, strayed: u64) {
        let (mut writes, mut values) = (Vec::with_capacity(written.len()), Vec::new());
        for &run in written {
            if let Some(page) = memory.numbered(run.page) {
                writes.push((run, values.len()));
                values.extend_from_slice(&page[run.range()]);
            }
        }
        self.0.push(Kept { state, writes, values, strayed });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(Kept::bytes).sum()
    }

    /// The last before a thread has executed more instructions than these.
    pub(crate) fn before(&self, thread: u32, executed: u64) -> Option<usize> {
        self.0.partition_point(|kept| kept.state.executed(thread) <= executed).checked_sub(1)
    }

    /// The one after so many rounds, if there is one.
    pub(crate) fn at_round(&self, round: u32) -> Option<usize> {
        self.0.binary_search_by_key(&round, |kept| kept.state.round()).ok()
    }

    /// The state of the block.
    pub(crate) fn state(&self, at: usize) -> &Checkpoint {
        &self.0[at].state
    }

    /// Accesses of the block outside every allocation.
    pub(crate) fn strayed(&self, at: usize) -> u64 {
        self.0[at].strayed
    }

    /// Brings memory from before the block to a checkpoint.
    pub(crate) fn restore(&self, at: usize, memory: &mut GlobalMemory) {
        for kept in &self.0[..=at] {
            for (run, values) in kept.runs() {
                // What the golden run wrote is mapped.
                let _ = memory.copy_in(DEVICE_BASE + u64::from(run.page) * PAGE as u64 + u64::from(run.from), values);
            }
        }
    }

    /// Whether a run that is in the same round is as the golden run was, in memory too; `before` gives the pages before
    /// the block.
    pub(crate) fn agrees(
        &self,
        at: usize,
        block: &BlockState,
        memory: &mut GlobalMemory,
        before: impl Fn(u32) -> Option<Arc<Page>>,
    ) -> bool {
        if !block.agrees(&self.0[at].state) {
            return false;
        }
        let mut pages: BTreeSet<u32> = memory.written().map(|(page, _)| page).collect();
        pages.extend(self.0[..=at].iter().flat_map(|kept| &kept.writes).map(|(run, _)| run.page));
        pages.into_iter().all(|number| {
            let mut page = before(number).map_or([0; PAGE], |page| *page);
            for (run, values) in self.0[..=at].iter().flat_map(|kept| kept.of_page(number)) {
                page[run.range()].copy_from_slice(values);
            }
            memory.numbered(number).is_none_or(|found| *found == page)
        })
    }
}

impl Kept {
    fn runs(&self) -> impl Iterator<Item = (Run, &[u8])> {
        self.writes.iter().map(|&(run, at)| (run, &self.values[at..at + run.range().len()]))
    }

    fn of_page(&self, page: u32) -> impl Iterator<Item = (Run, &[u8])> {
        let from = self.writes.partition_point(|(run, _)| run.page < page);
        self.writes[from..]
            .iter()
            .take_while(move |(run, _)| run.page == page)
            .map(|&(run, at)| (run, &self.values[at..at + run.range().len()]))
    }

    fn bytes(&self) -> usize {
        self.state.bytes() + size_of_val(&self.writes[..]) + self.values.len()
    }
}
