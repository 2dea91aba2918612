//! Blocks and launches: warps take turns, barriers complete, shared memory begins at zero.

use crate::checkpoint::Checkpoint;
use crate::exec::{Arrival, Surroundings, run};
use crate::hook::{Between, Hook, Interest, NoHook};
use crate::memory::GlobalMemory;
use crate::program::Program;
use crate::registers::{FULL, LANES, Registers};
use crate::special::{block_axis, param_bits, place_special};
use crate::trap::{Assertion, Halt, RunEnd, Trap, TrapKind};
use crate::warp::{State, Warp};
use ::lanes::Handlers;
use ::lanes::level::{LevelName, WithLevel, with_level};
use isa::op::Reduction;

/// A kernel with the shape it is launched in and its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// What runs.
    pub program: &'a Program,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Arguments, laid out as the kernel's parameters.
    pub params: &'a [u8],
    /// Whether blocks may wait for each other.
    pub cooperative: bool,
}

impl Launch<'_> {
    /// Blocks of the grid.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
    }

    /// Threads of a block.
    #[must_use]
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Whether its blocks must run together.
    #[must_use]
    pub fn is_together(&self) -> bool {
        self.cooperative && self.blocks() > 1
    }

    /// Bytes of a block's shared memory, with those that are reserved.
    #[must_use]
    pub fn shared(&self) -> u32 {
        match self.dynamic_shared {
            0 => self.program.shared_bytes,
            dynamic => self.program.dynamic_start() + dynamic,
        }
    }

    /// Warps of a block.
    pub(crate) fn warps(&self) -> u32 {
        self.threads().div_ceil(LANES as u32)
    }

    fn block_at(&self, block: u64) -> [u32; 3] {
        let [x, y] = [u64::from(self.grid[0]), u64::from(self.grid[1])];
        [(block % x) as u32, (block / x % y) as u32, (block / x / y) as u32]
    }
}

/// How many instructions a thread may execute before it counts as hanging.
#[derive(Clone, Copy, Debug)]
pub enum Fuel<'a> {
    /// The same for every thread.
    Each(u32),
    /// For thread `t` of the launch, `counts[t] * factor + constant`.
    Scaled {
        /// What each thread executed without a fault.
        counts: &'a [u32],
        /// Times this.
        factor: u32,
        /// Plus this.
        constant: u32,
    },
}

impl Fuel<'_> {
    fn of(self, thread: u64) -> u32 {
        match self {
            Self::Each(fuel) => fuel,
            Self::Scaled { counts, factor, constant } => {
                let count = counts.get(thread as usize).copied().unwrap_or(u32::MAX);
                count.saturating_mul(factor).saturating_add(constant)
            }
        }
    }
}

/// What runs blocks: the level it runs at, and warps that are used again and again.
#[derive(Debug)]
pub struct Executor {
    level: LevelName,
    pub(crate) warps: Vec<Warp>,
    threads: u32,
    pub(crate) shared: Vec<u8>,
    pub(crate) barriers: [BarrierState; 16],
    arrivals: Vec<Arrival>,
    printed: Vec<u8>,
    assertions: Vec<Assertion>,
    /// One for each block of a launch whose blocks run together; else none.
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

/// Who has come to a barrier of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BarrierState {
    arrived: u32,
    absent: u32,
    expected: Option<u32>,
    holds: u32,
    reduce: Option<Reduction>,
}

impl Executor {
    /// An executor for a level.
    #[must_use]
    pub fn new(level: LevelName) -> Self {
        let level = if level.is_available() { level } else { LevelName::Baseline };
        Self {
            level,
            warps: Vec::new(),
            threads: 0,
            shared: Vec::new(),
            barriers: [BarrierState::default(); 16],
            arrivals: Vec::new(),
            printed: Vec::new(),
            assertions: Vec::new(),
            grid: Vec::new(),
        }
    }

    /// Makes the warps ready for the blocks of a launch: constants, parameters and what depends on the thread's
    /// place in its block. Must come before [`run_block`](Self::run_block), once for a launch.
    pub fn prepare(&mut self, launch: &Launch<'_>) {
        self.grid.clear();
        if launch.is_together() {
            self.grid.resize_with(launch.blocks() as usize, || Self::new(self.level));
            for block in &mut self.grid {
                block.prepare_block(launch);
            }
        }
        self.prepare_block(launch);
    }

    fn prepare_block(&mut self, launch: &Launch<'_>) {
        let program = launch.program;
        self.threads = launch.threads();
        self.printed.clear();
        self.assertions.clear();
        self.warps.clear();
        for index in 0..launch.warps() {
            let mut registers = Registers::new(program.sizes);
            for (slot, bits) in &program.constants {
                registers.broadcast(*slot, *bits);
            }
            for param in &program.params {
                registers.broadcast(param.slot, param_bits(launch.params, param));
            }
            for (special, slot) in &program.specials {
                place_special(&mut registers, launch, index, *special, *slot);
            }
            self.warps.push(Warp { index, registers, ..Warp::default() });
        }
        self.shared.clear();
        self.shared.resize(launch.shared() as usize, 0);
    }

    /// Runs one block. Warps that the hook does not want run through a loop that is compiled without it.
    pub fn run_block(
        &mut self,
        launch: &Launch<'_>,
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
        launch: &Launch<'_>,
        memory: &mut GlobalMemory,
        block: u64,
        fuel: Fuel<'_>,
        from: Option<&Checkpoint>,
        hook: &mut dyn Hook,
    ) -> RunEnd {
        self.stand_at(launch, block, fuel);
        let mut number = from.map_or(0, |checkpoint| self.restore(checkpoint));
        loop {
            match self.round(launch, memory, block, hook) {
                Err(halt) => return halt.into(),
                Ok(Round::Done) => return RunEnd::Completed,
                Ok(Round::Moved) => {}
                Ok(Round::Stuck) => return RunEnd::Trapped(self.deadlock(launch.program, block)),
            }
            number += 1;
            if hook.between(Between { program: launch.program, executor: self, memory, round: number })
                == Interest::Stop
            {
                return RunEnd::Stopped;
            }
        }
    }

    /// Gives every warp of a block its turn.
    pub(crate) fn round(
        &mut self,
        launch: &Launch<'_>,
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
    pub fn stand_at(&mut self, launch: &Launch<'_>, block: u64, fuel: Fuel<'_>) {
        let program = launch.program;
        let at = launch.block_at(block);
        let first = block * u64::from(self.threads);
        for warp in &mut self.warps {
            let from = warp.index * LANES as u32;
            let count = (self.threads - from).min(LANES as u32);
            let mask = if count == LANES as u32 { FULL } else { (1 << count) - 1 };
            for lane in 0..LANES as u32 {
                let thread = first + u64::from(from + lane.min(count - 1));
                warp.fuel[lane as usize] = fuel.of(thread);
            }
            for (special, slot) in &program.specials {
                if let Some(axis) = block_axis(*special) {
                    warp.registers.broadcast(*slot, u128::from(at[axis]));
                }
            }
            for slot in program.functions.iter().flat_map(|code| &code.zeroed) {
                warp.registers.broadcast(*slot, 0);
            }
            for word in &mut warp.local {
                *word = [0; LANES];
            }
            warp.start(program.functions[0].entry, mask);
        }
        self.shared.fill(0);
        self.barriers = [BarrierState::default(); 16];
        self.arrivals.clear();
    }

    /// The blocks that ran last: one, or all of a grid that ran together.
    fn blocks(&self) -> &[Self] {
        if self.grid.is_empty() { std::slice::from_ref(self) } else { &self.grid }
    }

    /// Instructions that each thread of the blocks that ran last has executed, in thread order.
    pub fn counts(&self) -> impl Iterator<Item = u32> + '_ {
        let of = |block: &Self| block.threads as usize;
        self.blocks().iter().flat_map(move |block| block.warps.iter().flat_map(|warp| warp.counts).take(of(block)))
    }

    /// What the blocks that ran since [`prepare`](Self::prepare), or since this was last asked, have printed, in the
    /// order in which they did.
    pub fn take_printed(&mut self) -> Vec<u8> {
        let mut printed = std::mem::take(&mut self.printed);
        printed.extend(self.grid.iter_mut().flat_map(|block| std::mem::take(&mut block.printed)));
        printed
    }

    /// The assertions that failed since [`prepare`](Self::prepare), or since this was last asked.
    pub fn take_assertions(&mut self) -> Vec<Assertion> {
        let mut assertions = std::mem::take(&mut self.assertions);
        assertions.extend(self.grid.iter_mut().flat_map(|block| std::mem::take(&mut block.assertions)));
        assertions
    }

    /// Counts arrivals and completes the barriers that can be; whether any was.
    fn complete_barriers(&mut self) -> bool {
        for arrival in self.arrivals.drain(..) {
            let state = &mut self.barriers[arrival.barrier as usize];
            state.arrived += arrival.threads;
            state.absent += arrival.absent;
            state.holds += arrival.holds;
            state.expected = state.expected.or(arrival.count);
            if arrival.wait {
                state.reduce = state.reduce.or(arrival.reduce);
            }
        }
        let live: u32 = self.warps.iter().map(|warp| warp.live.count_ones()).sum();
        let mut any = false;
        for number in 0..self.barriers.len() {
            let state = self.barriers[number];
            let complete = match state.expected {
                Some(count) => state.arrived + state.absent >= count,
                None => state.arrived >= live,
            };
            if state.arrived > 0 && complete {
                self.release(number as u32, state);
                self.barriers[number] = BarrierState::default();
                any = true;
            }
        }
        any
    }

    fn release(&mut self, number: u32, state: BarrierState) {
        let result = match state.reduce {
            Some(Reduction::Popc) => state.holds,
            Some(Reduction::And) => u32::from(state.holds == state.arrived),
            Some(_) => u32::from(state.holds > 0),
            None => 0,
        };
        for warp in &mut self.warps {
            for group in warp.groups.iter_mut().filter(|group| group.state == State::WaitBlock(number)) {
                group.state = State::Released(result);
            }
        }
    }

    pub(crate) fn deadlock(&self, program: &Program, block: u64) -> Trap {
        let waiting = self.warps.iter().flat_map(|warp| warp.groups.iter().map(move |group| (warp.index, group)));
        let first = waiting.min_by_key(|(warp, group)| (*warp, group.mask.trailing_zeros()));
        let (site, thread) = first.map_or((0, 0), |(warp, group)| {
            let site = program.micros[group.pc as usize].site;
            (site, warp * LANES as u32 + group.mask.trailing_zeros())
        });
        Trap { kind: TrapKind::BarrierDeadlock, site, block, thread, address: None }
    }
}

struct BlockRound<'a, 'l> {
    executor: &'a mut Executor,
    launch: &'a Launch<'l>,
    memory: &'a mut GlobalMemory,
    block: u64,
    hook: &'a mut dyn Hook,
}

impl WithLevel for BlockRound<'_, '_> {
    type Output = Result<Round, Halt>;

    fn with<L: Handlers>(self, level: L) -> Result<Round, Halt> {
        let Self { executor, launch, memory, block, hook } = self;
        for index in 0..executor.warps.len() {
            turn(level, executor, launch, memory, block, index, hook)?;
        }
        Ok(if executor.warps.iter().all(Warp::is_done) {
            Round::Done
        } else if executor.complete_barriers() || executor.warps.iter().any(Warp::can_go) {
            Round::Moved
        } else {
            Round::Stuck
        })
    }
}

/// Lets one warp run for its turn.
fn turn<L: Handlers>(
    level: L,
    executor: &mut Executor,
    launch: &Launch<'_>,
    memory: &mut GlobalMemory,
    block: u64,
    index: usize,
    hook: &mut dyn Hook,
) -> Result<(), Halt> {
    let warp = &mut executor.warps[index];
    if warp.is_done() {
        return Ok(());
    }
    let program = launch.program;
    if let Some(trace) = memory.trace() {
        trace.set_first(warp.index * LANES as u32);
    }
    let mut around = Surroundings {
        program,
        global: memory,
        shared: &mut executor.shared,
        params: launch.params,
        local_limit: program.functions[0].frame + program.stack,
        printed: &mut executor.printed,
        assertions: &mut executor.assertions,
        arrivals: &mut executor.arrivals,
        block,
    };
    if hook.wants(warp.index) {
        run::<L, dyn Hook>(level, warp, &mut around, hook)
    } else {
        run::<L, NoHook>(level, warp, &mut around, &mut NoHook)
    }
}
