//! Keeping states of a long block as it runs for the index.

use super::checkpoints::Checkpoints;
use crate::golden::GoldenLaunch;
use simt::memory::{AccessTrace, ByteRun, GlobalMemory};
use simt::{Hook, Interest, Liveness, RoundContext};

/// Checkpoints of a block, at most.
const MOST: u64 = 64;

/// What checkpoints may take: as much of it as of the launch has been executed.
pub(super) struct CheckpointBudget {
    limit: u64,
    spent: u64,
    executed: u64,
    total: u64,
}

impl CheckpointBudget {
    pub(super) fn new(launch: &GoldenLaunch, limit: u64) -> Self {
        Self { limit, spent: 0, executed: 0, total: launch.thread_instructions() }
    }

    /// Another block has come to its end.
    pub(super) fn has_executed(&mut self, instructions: u64) {
        self.executed += instructions;
    }

    fn pays(&mut self, bytes: usize, executed: u64) -> bool {
        let allowed = u128::from(self.limit) * u128::from(self.executed + executed) / u128::from(self.total.max(1));
        let enough = u128::from(self.spent) + bytes as u128 <= allowed;
        self.spent += if enough { bytes as u64 } else { 0 };
        enough
    }
}

/// Keeps states of a block as it runs.
pub(super) struct CheckpointRecorder<'a> {
    liveness: Option<&'a Liveness>,
    /// Accesses of the blocks before outside every allocation.
    before: u64,
    budget: &'a mut CheckpointBudget,
    /// Instructions of the whole block.
    whole: u64,
    spacing: u64,
    /// Instructions executed at the last checkpoint.
    last: u64,
    kept: Checkpoints,
    /// What was read and written up to it.
    reads: Vec<ByteRun>,
    writes: Vec<ByteRun>,
}

impl<'a> CheckpointRecorder<'a> {
    /// For a block of so many instructions, before which there were so many accesses outside every allocation.
    pub(super) fn new(
        liveness: Option<&'a Liveness>,
        before: u64,
        (whole, spacing): (u64, u64),
        budget: &'a mut CheckpointBudget,
    ) -> Self {
        let spacing = if spacing == 0 { 0 } else { spacing.max(whole / MOST) };
        let (kept, reads, writes) = (Checkpoints::default(), Vec::new(), Vec::new());
        Self { liveness, before, budget, whole, spacing, last: 0, kept, reads, writes }
    }

    /// Whether the block is long enough for checkpoints.
    pub(super) fn keeps(&self) -> bool {
        self.spacing <= self.whole / 2
    }

    /// What the block has read and written, and its checkpoints.
    pub(super) fn finish(mut self, memory: &mut GlobalMemory) -> (Vec<ByteRun>, Vec<ByteRun>, Checkpoints) {
        let (reads, writes) = memory.trace().map(AccessTrace::take).unwrap_or_default();
        if self.kept.is_empty() {
            return (reads, writes, self.kept);
        }
        self.reads.extend(reads);
        self.writes.extend(writes);
        (joined(self.reads), joined(self.writes), self.kept)
    }
}

impl Hook for CheckpointRecorder<'_> {
    fn wants(&self, _: u32) -> bool {
        false
    }

    fn between(&mut self, context: RoundContext<'_>) -> Interest {
        let Some(liveness) = self.liveness else { return Interest::Stay };
        let RoundContext { program, block, memory, round } = context;
        // Counting takes time, which short blocks are spared.
        if !self.keeps() {
            return Interest::Stay;
        }
        let executed = block.counts().map(u64::from).sum::<u64>();
        if executed < self.last + self.spacing || self.whole < executed + self.spacing {
            return Interest::Stay;
        }
        let state = block.checkpoint(program, liveness, round);
        if self.spacing > 0 {
            // A byte takes longer to restore and to compare than an instruction to execute.
            self.spacing = self.spacing.max(state.as_ref().map_or(0, |state| state.bytes() as u64));
        }
        if let Some(state) = state.filter(|state| self.budget.pays(state.bytes(), executed)) {
            let (reads, writes) = memory.trace().map(AccessTrace::take).unwrap_or_default();
            let strayed = memory.strayed() - self.before;
            self.kept.push(state, &writes, memory, strayed);
            self.reads.extend(reads);
            self.writes.extend(writes);
            self.last = executed;
        }
        Interest::Stay
    }
}

/// Runs of bytes in order, those that touch or overlap as one.
fn joined(mut runs: Vec<ByteRun>) -> Vec<ByteRun> {
    runs.sort_unstable();
    runs.dedup_by(|next, last| {
        let touches = next.page == last.page && next.from <= last.to;
        if touches {
            last.to = last.to.max(next.to);
        }
        touches
    });
    runs
}
