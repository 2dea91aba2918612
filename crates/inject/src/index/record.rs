//! Making the index: every launch runs once more, with its accesses noted and the states of its long blocks kept.

use super::checkpoints::Checkpoints;
use super::launch::LaunchIndex;
use crate::device::runnable;
use crate::golden::{Golden, GoldenLaunch};
use crate::run::fuel;
use simt::memory::{GlobalMemory, Run, Trace, Version};
use simt::{Between, Executor, Hook, Interest, Liveness};

/// A checkpoint is kept after as many instructions of a block, at the earliest.
const SPACING: u64 = 64 << 10;

/// Bytes that the checkpoints of a launch may take.
const BYTES: u64 = 64 << 20;

/// Runs a launch and notes what its blocks do.
pub(super) fn record(
    golden: &Golden,
    launch: &GoldenLaunch,
    liveness: Option<&Liveness>,
    memory: &mut GlobalMemory,
    executor: &mut Executor,
) -> LaunchIndex {
    let version = Version::before(launch.event as u32);
    memory.reset(&golden.history, version);
    memory.set_trace(Some(Trace::default()));
    let runnable = runnable(golden.recorded(launch), &launch.program);
    executor.prepare(&runnable);
    let mut index = LaunchIndex::new(launch.event as u32);
    let mut purse = Purse::new(launch);
    for block in 0..runnable.blocks() {
        let before = memory.strayed();
        let liveness = liveness.filter(|liveness| !liveness.is_recursive());
        let mut noting = Noting {
            liveness,
            before,
            purse: &mut purse,
            last: 0,
            kept: Checkpoints::default(),
            reads: Vec::new(),
            writes: Vec::new(),
        };
        // With the fuel of faulty runs, which turns end where it is looked at.
        executor.run_block(&runnable, memory, block, fuel(launch), &mut noting);
        let executed = executor.counts().map(u64::from).sum::<u64>();
        let (reads, writes, kept) = noting.finish(memory);
        purse.executed += executed;
        let strayed = memory.strayed() - before;
        let value = |run: Run, values: &mut Vec<u8>| {
            if let Some(page) = memory.numbered(run.page) {
                values.extend_from_slice(&page[run.range()]);
            }
        };
        index.push(&reads, &writes, value, strayed);
        index.keep(block as u32, kept);
    }
    index.finish(|page| golden.history.page(page, version));
    index
}

/// What checkpoints may take: as much of it as of the launch has been executed.
struct Purse {
    spent: u64,
    executed: u64,
    total: u64,
}

impl Purse {
    fn new(launch: &GoldenLaunch) -> Self {
        Self { spent: 0, executed: 0, total: launch.counts.iter().map(|&count| u64::from(count)).sum() }
    }

    fn pays(&mut self, bytes: usize, executed: u64) -> bool {
        let allowed = u128::from(BYTES) * u128::from(self.executed + executed) / u128::from(self.total.max(1));
        let enough = u128::from(self.spent) + bytes as u128 <= allowed;
        self.spent += if enough { bytes as u64 } else { 0 };
        enough
    }
}

/// Keeps states of a block as it runs.
struct Noting<'a> {
    liveness: Option<&'a Liveness>,
    /// Accesses of the blocks before outside every allocation.
    before: u64,
    purse: &'a mut Purse,
    /// Instructions executed at the last checkpoint.
    last: u64,
    kept: Checkpoints,
    /// What was read and written up to it.
    reads: Vec<Run>,
    writes: Vec<Run>,
}

impl Noting<'_> {
    /// What the block has read and written, and its checkpoints.
    fn finish(mut self, memory: &mut GlobalMemory) -> (Vec<Run>, Vec<Run>, Checkpoints) {
        let (reads, writes) = memory.trace().map(Trace::take).unwrap_or_default();
        if self.kept.is_empty() {
            return (reads, writes, self.kept);
        }
        self.reads.extend(reads);
        self.writes.extend(writes);
        (joined(self.reads), joined(self.writes), self.kept)
    }
}

impl Hook for Noting<'_> {
    fn wants(&self, _: u32) -> bool {
        false
    }

    fn between(&mut self, moment: Between<'_>) -> Interest {
        let Some(liveness) = self.liveness else { return Interest::Stay };
        let Between { program, executor, memory, round } = moment;
        let executed = executor.counts().map(u64::from).sum::<u64>();
        if executed < self.last + SPACING {
            return Interest::Stay;
        }
        let state = executor.checkpoint(program, liveness, round);
        if let Some(state) = state.filter(|state| self.purse.pays(state.bytes(), executed)) {
            let (reads, writes) = memory.trace().map(Trace::take).unwrap_or_default();
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
fn joined(mut runs: Vec<Run>) -> Vec<Run> {
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
