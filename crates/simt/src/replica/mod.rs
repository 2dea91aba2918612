//! A replica: one thread of a block in every lane of a warp.
//!
//! Each lane may carry another fault. It reads global memory as the thread would, sees what it wrote itself, and
//! writes nowhere else. A lane that comes to something in which other threads have a part *escapes*: what it would do
//! is for others to find out. In blocks whose threads depend on no other (the program [`is_solitary`], and no byte of
//! global memory is written by one thread and accessed by another), lanes may go their own ways; elsewhere they go by
//! what the thread did in the golden run ([`guide`]).

mod alone;
pub mod guide;
mod guided;
mod log;
mod policy;
mod view;

use crate::block::Executor;
use crate::exec::{Notes, Running, run};
use crate::launch::KernelLaunch;
use crate::memory::{GlobalMemory, Owners};
use crate::program::Program;
use crate::trap::Halt;
use crate::warp::Warp;
use ::lanes::Handlers;
use ::lanes::level::{LevelName, WithLevel, with_level};
use ::lanes::registers::{FULL, LANES, Slot};
use alone::Alone;
use guide::{Guide, needs_others};
pub use log::{Write, WriteMatch};
pub use view::LaneEnd;
use view::View;

/// What a replica runs in.
#[derive(Debug)]
pub struct ReplicaContext<'a> {
    /// Global memory as it was before the block; it stays so.
    pub memory: &'a mut GlobalMemory,
    /// What the threads of the block access.
    pub owners: &'a Owners,
    /// What to go by in a block whose threads depend on each other.
    pub guide: Option<Guide<'a>>,
}

/// One thread in every lane.
#[derive(Debug)]
pub struct Replica {
    level: LevelName,
    warp: Warp,
    view: View,
}

impl Replica {
    /// A replica of nothing yet.
    #[must_use]
    pub fn new(level: LevelName) -> Self {
        Self { level, warp: Warp::default(), view: View::default() }
    }

    /// Stands at the start of a thread of a block. The executor must be [`prepare`](Executor::prepare)d for the launch
    /// and at the block ([`begin_block`](Executor::begin_block)).
    pub fn start(&mut self, executor: &Executor, launch: &KernelLaunch<'_>, thread: u32) {
        let (warp, lane) = (&executor.state.warps[thread as usize / LANES], thread as usize % LANES);
        self.warp.registers.copy_from(&warp.registers);
        self.warp.registers.spread(lane);
        self.warp.control.fuel = [executor.state.lookout.patience(); LANES];
        self.warp.start(launch.program.functions[0].entry, FULL);
        self.view.start(thread);
    }

    /// Becomes a copy of another.
    pub fn copy_from(&mut self, other: &Self) {
        self.warp.copy_from(&other.warp);
        self.view.copy_from(&other.view);
    }

    /// Runs until every lane has ended.
    pub fn run(&mut self, launch: &KernelLaunch<'_>, block: u64, context: ReplicaContext<'_>) {
        self.go(launch, block, context, u64::MAX);
    }

    /// Runs the thread, without a fault yet, until it has executed this many instructions more; whether it came so far.
    pub fn step(
        &mut self,
        launch: &KernelLaunch<'_>,
        block: u64,
        context: ReplicaContext<'_>,
        instructions: u64,
    ) -> bool {
        let reached = self.go(launch, block, context, instructions);
        self.view.fold();
        reached
    }

    /// Runs for so many instructions; whether it came so far.
    fn go(&mut self, launch: &KernelLaunch<'_>, block: u64, context: ReplicaContext<'_>, steps: u64) -> bool {
        let run = Run { replica: self, launch, block, context, steps };
        // The level was found available when the executor was made.
        with_level(run.replica.level, run).unwrap_or(false)
    }

    /// Ends the threads in all lanes but these.
    pub fn keep(&mut self, lanes: u32) {
        let control = &mut self.warp.control;
        let frame = control.groups.first().map_or(0, |group| group.frame);
        control.exit(frame, !lanes);
        control.groups.iter_mut().for_each(|group| group.mask &= lanes);
    }

    /// The instructions that the thread came to in [`step`](Self::step)s since its start, and whether it executed them:
    /// its guard was true.
    #[must_use]
    pub fn path(&self) -> &[(u32, bool)] {
        &self.view.path
    }

    /// The bits of one lane of a register.
    #[must_use]
    pub fn get(&self, slot: Slot, lane: usize) -> u128 {
        self.warp.registers.get(slot, lane)
    }

    /// Sets one lane of a register.
    pub fn set(&mut self, slot: Slot, lane: usize, bits: u128) {
        self.warp.registers.set(slot, lane, bits);
    }

    /// How a lane ended.
    #[must_use]
    pub fn end(&self, lane: usize) -> LaneEnd {
        self.view.ends[lane].unwrap_or(LaneEnd::Exited)
    }

    /// Instructions that a lane executed.
    #[must_use]
    pub fn count(&self, lane: usize) -> u32 {
        self.warp.control.counts[lane]
    }

    /// Accesses of a lane outside every allocation.
    #[must_use]
    pub fn strayed(&self, lane: usize) -> u64 {
        self.view.strayed[lane]
    }

    /// What a lane wrote to global memory, in order.
    pub fn writes(&self, lane: usize) -> impl Iterator<Item = Write> + '_ {
        self.view.log.of_lane(lane)
    }

    /// Compares what each lane wrote with what the thread should have written.
    #[must_use]
    pub fn compare(&self, golden: &[Write]) -> WriteMatch {
        self.view.log.compare(golden)
    }
}

/// Whether no thread of this program can have a part in what another does but through global memory.
#[must_use]
pub fn is_solitary(program: &Program) -> bool {
    !program.micros.iter().any(|micro| needs_others(micro.kind, program))
}

struct Run<'a, 'l> {
    replica: &'a mut Replica,
    launch: &'a KernelLaunch<'l>,
    block: u64,
    context: ReplicaContext<'a>,
    steps: u64,
}

impl WithLevel for Run<'_, '_> {
    type Output = bool;

    fn with<L: Handlers>(self, level: L) -> bool {
        let Self { replica, launch, block, context: ReplicaContext { memory, owners, guide }, steps } = self;
        let mut notes = Notes::default();
        let running = Running::new(launch, block, &mut replica.warp, memory, &mut [], &mut notes);
        let mut alone = Alone { view: &mut replica.view, owners, guide, steps };
        run(level, &mut alone, &mut running.without_end()) == Err(Halt::Stop)
    }
}
