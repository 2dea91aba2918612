//! The executor: the warps of a block take turns until all have exited.

use crate::ahead::Ahead;
use crate::checkpoint::Checkpoint;
use crate::exec::{Hooked, Notes, Running, run};
use crate::hook::{Hook, Interest, NoHook, RoundContext};
use crate::launch::{Fuel, Interleaving, KernelLaunch};
use crate::liveness::Liveness;
use crate::memory::GlobalMemory;
use crate::state::BlockState;
use crate::trap::{Assertion, Halt, RunEnd};
use crate::waiting::Vigil;
use crate::warp::Warp;
use ::lanes::Handlers;
use ::lanes::level::{LevelName, WithLevel, with_level};
use ::lanes::registers::LANES;

/// What runs blocks: the level it runs at, and the state of the block that runs.
#[derive(Debug)]
pub struct Executor {
    pub(crate) level: LevelName,
    pub(crate) state: BlockState,
    notes: Notes,
    /// One for each block of a launch whose blocks run together, or from the first on that waited for another; else none.
    pub(crate) grid: Vec<Self>,
}

/// What came of a round in which every warp of a block had its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    /// Every thread has exited.
    Done,
    /// There is more to do.
    Moved,
    /// Nothing can go on.
    Stuck,
}

impl Executor {
    /// An executor for a level.
    #[must_use]
    pub fn new(level: LevelName) -> Self {
        let level = if level.is_available() { level } else { LevelName::Baseline };
        Self { level, state: BlockState::default(), notes: Notes::default(), grid: Vec::new() }
    }

    /// Makes the warps ready for the blocks of a launch: constants, parameters and what depends on the thread's
    /// place in its block. Must come before [`run_block`](Self::run_block), once for a launch.
    pub fn prepare(&mut self, launch: &KernelLaunch<'_>) {
        self.grid.clear();
        if launch.is_together() {
            self.grid.resize_with(launch.blocks() as usize, || Self::new(self.level));
            self.grid.iter_mut().for_each(|block| block.state.prepare(launch));
        }
        self.state.prepare(launch);
        self.notes = Notes::default();
    }

    /// Lets registers hold nothing of the blocks that ran before. Nobody reads a register that its thread has not written,
    /// but a [`Checkpoint`] is compared in whole rows: whether a block agrees with it must follow from the block alone.
    pub fn forget(&mut self, liveness: &Liveness) {
        let warps = self.state.warps.iter_mut();
        warps.for_each(|warp| liveness.computed.iter().for_each(|slot| warp.registers.broadcast(*slot, 0)));
    }

    /// Runs one block. Warps that the hook does not want run through a loop that is compiled without it.
    pub fn run_block(
        &mut self,
        launch: &KernelLaunch<'_>,
        memory: &mut GlobalMemory,
        block: u64,
        fuel: Fuel<'_>,
        hook: &mut dyn Hook,
    ) -> RunEnd {
        self.run_block_from(launch, memory, block, fuel, None, hook)
    }

    /// As [`run_block`](Self::run_block), from a checkpoint of the block on if one is given. The memory must be as it
    /// was there.
    pub fn run_block_from(
        &mut self,
        launch: &KernelLaunch<'_>,
        memory: &mut GlobalMemory,
        block: u64,
        fuel: Fuel<'_>,
        from: Option<&Checkpoint>,
        hook: &mut dyn Hook,
    ) -> RunEnd {
        self.begin_block(launch, block, fuel);
        let mut number = from.map_or(0, |checkpoint| self.state.restore(checkpoint));
        let mut vigil = (launch.blocks() > 1).then(|| Vigil::from(launch, number));
        loop {
            match self.round(launch, memory, block, hook) {
                Err(halt) => return halt.into(),
                Ok(Round::Done) => return RunEnd::Completed,
                Ok(Round::Moved) => {}
                Ok(Round::Stuck) => return RunEnd::Trapped(self.state.deadlock(launch.program, block)),
            }
            if let Err(halt) = self.look_ahead(launch, memory, block, hook) {
                return halt.into();
            }
            number += 1;
            let between = RoundContext { program: launch.program, block: &self.state, memory, round: number };
            if hook.between(between) == Interest::Stop {
                return RunEnd::Stopped;
            }
            if let Some(vigil) = &mut vigil
                && vigil.is_over(launch, (memory, self.notes.printed.len()), number, std::iter::once(&self.state))
            {
                return RunEnd::Waits;
            }
        }
    }

    /// Skips what is known of a loop that a warp is in, if it is time to look for one and nobody looks at the warp.
    fn look_ahead(
        &mut self,
        launch: &KernelLaunch<'_>,
        memory: &mut GlobalMemory,
        block: u64,
        hook: &dyn Hook,
    ) -> Result<(), Halt> {
        if launch.waits {
            return Ok(());
        }
        let state = &mut self.state;
        let is_due = |warp: &Warp| !warp.control.is_done() && state.lookout.is_due(warp.control.issued);
        let is_watched = || !hook.may_miss() && state.warps.iter().any(|warp| hook.wants(warp.index));
        if !state.warps.iter().any(is_due) || memory.trace().is_some() || is_watched() {
            return Ok(());
        }
        Ahead { level: self.level, state, notes: &mut self.notes, launch, memory, block }.look()
    }

    /// Gives every warp of a block its turn.
    pub(crate) fn round(
        &mut self,
        launch: &KernelLaunch<'_>,
        memory: &mut GlobalMemory,
        block: u64,
        hook: &mut dyn Hook,
    ) -> Result<Round, Halt> {
        let level = self.level;
        let work = BlockRound { executor: self, launch, memory, block, hook };
        // The level was found available when the executor was made.
        with_level(level, work).unwrap_or(Ok(Round::Done))
    }

    /// Stands at the start of a block of the launch that it is prepared for.
    pub fn begin_block(&mut self, launch: &KernelLaunch<'_>, block: u64, fuel: Fuel<'_>) {
        self.state.begin_block(launch, block, fuel);
        self.notes.arrivals.clear();
    }

    /// The blocks that ran last: one, or all of a grid that ran together.
    fn blocks(&self) -> &[Self] {
        if self.grid.is_empty() { std::slice::from_ref(self) } else { &self.grid }
    }

    /// Instructions that each thread of the blocks that ran last has executed, in thread order.
    pub fn counts(&self) -> impl Iterator<Item = u32> + '_ {
        self.blocks().iter().flat_map(|block| block.state.counts())
    }

    /// As [`counts`](Self::counts), with the iterations of loops that were skipped because they are known.
    pub fn executed(&self) -> impl Iterator<Item = u64> + '_ {
        self.blocks().iter().flat_map(|block| block.state.executed())
    }

    /// The same of all threads together.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.blocks().iter().fold(0, |sum: u64, block| sum.saturating_add(block.state.instructions()))
    }

    /// Bytes that its block has printed.
    pub(crate) fn printed(&self) -> usize {
        self.notes.printed.len()
    }

    /// What the blocks that ran since [`prepare`](Self::prepare), or since this was last asked, have printed, in the
    /// order in which they did.
    pub fn take_printed(&mut self) -> Vec<u8> {
        let mut printed = std::mem::take(&mut self.notes.printed);
        printed.extend(self.grid.iter_mut().flat_map(|block| std::mem::take(&mut block.notes.printed)));
        printed
    }

    /// The assertions that failed since [`prepare`](Self::prepare), or since this was last asked.
    pub fn take_assertions(&mut self) -> Vec<Assertion> {
        let mut assertions = std::mem::take(&mut self.notes.assertions);
        assertions.extend(self.grid.iter_mut().flat_map(|block| std::mem::take(&mut block.notes.assertions)));
        assertions
    }
}

/// A warp that has a whole turn.
type Turns<'h, H> = Hooked<'h, H, false>;
/// A warp whose turn is one instruction.
type Single<'h, H> = Hooked<'h, H, true>;

struct BlockRound<'a, 'l> {
    executor: &'a mut Executor,
    launch: &'a KernelLaunch<'l>,
    memory: &'a mut GlobalMemory,
    block: u64,
    hook: &'a mut dyn Hook,
}

impl WithLevel for BlockRound<'_, '_> {
    type Output = Result<Round, Halt>;

    fn with<L: Handlers>(self, level: L) -> Result<Round, Halt> {
        let Self { executor: Executor { state, notes, .. }, launch, memory, block, hook } = self;
        let BlockState { warps, shared, .. } = state;
        let all = warps.len();
        for at in 0..all {
            let warp = &mut warps[if launch.interleaving == Interleaving::Reversed { all - 1 - at } else { at }];
            if warp.control.is_done() {
                continue;
            }
            if let Some(trace) = memory.trace() {
                trace.set_first(warp.index * LANES as u32);
            }
            let index = warp.index;
            let mut running = Running::new(launch, block, warp, memory, shared, notes);
            match (launch.interleaving, hook.wants(index)) {
                (Interleaving::Turns | Interleaving::Reversed, true) => {
                    run(level, &mut Turns::new(&mut *hook, index), &mut running)?;
                }
                (Interleaving::Turns | Interleaving::Reversed, false) => {
                    run(level, &mut Turns::new(&mut NoHook, index), &mut running)?;
                }
                (_, true) => run(level, &mut Single::new(&mut *hook, index), &mut running)?,
                (_, false) => run(level, &mut Single::new(&mut NoHook, index), &mut running)?,
            }
        }
        Ok(if state.is_done() {
            Round::Done
        } else if state.complete_barriers(notes.arrivals.drain(..)) || state.can_go() {
            Round::Moved
        } else {
            Round::Stuck
        })
    }
}
