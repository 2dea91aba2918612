//! The state of a block that runs.

use crate::ahead::LoopDetector;
use crate::barrier::{Arrival, Barriers};
use crate::control::State;
use crate::launch::{Fuel, KernelLaunch};
use crate::occupancy::SHARED_UNIT;
use crate::program::Program;
use crate::special::{block_axis, param_bits, place_special};
use crate::trap::{Trap, TrapKind};
use crate::warp::Warp;
use ::lanes::registers::{FULL, LANES, Registers};

/// What the warps of a block hold, where they are, and what they share. Warps are used again and again.
#[derive(Debug, Default)]
pub struct BlockState {
    pub(crate) warps: Vec<Warp>,
    pub(crate) shared: Vec<u8>,
    pub(crate) barriers: Barriers,
    pub(crate) lookout: LoopDetector,
    threads: u32,
}

impl BlockState {
    /// Makes the warps ready for the blocks of a launch: constants, parameters and what depends on the thread's
    /// place in its block.
    pub(crate) fn prepare(&mut self, launch: &KernelLaunch<'_>) {
        let program = launch.program;
        self.threads = launch.threads();
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
        self.shared.resize(launch.shared().next_multiple_of(SHARED_UNIT) as usize, 0);
    }

    /// Stands at the start of a block of the launch that it is prepared for.
    pub(crate) fn begin_block(&mut self, launch: &KernelLaunch<'_>, block: u64, fuel: Fuel<'_>) {
        let program = launch.program;
        let at = launch.block_at(block);
        let first = block * u64::from(self.threads);
        for warp in &mut self.warps {
            let from = warp.index * LANES as u32;
            let count = (self.threads - from).min(LANES as u32);
            let mask = if count == LANES as u32 { FULL } else { (1 << count) - 1 };
            for lane in 0..LANES as u32 {
                let thread = first + u64::from(from + lane.min(count - 1));
                warp.control.fuel[lane as usize] = fuel.of(thread);
            }
            for (special, slot) in &program.specials {
                if let Some(axis) = block_axis(*special) {
                    warp.registers.broadcast(*slot, u128::from(at[axis]));
                }
            }
            for slot in program.functions.iter().flat_map(|code| &code.zeroed) {
                warp.registers.broadcast(*slot, 0);
            }
            warp.start(program.functions[0].entry, mask);
        }
        self.shared.fill(0);
        self.barriers = Barriers::default();
        let threads = first..first + u64::from(self.threads);
        self.lookout = LoopDetector::after(fuel.patience(threads), fuel.loops());
    }

    /// Gives up what nobody asks for of a block that has ended.
    pub(crate) fn shed(&mut self) {
        for warp in &mut self.warps {
            (warp.registers, warp.local) = (Registers::default(), Vec::new());
        }
        self.shared = Vec::new();
    }

    /// Counts arrivals and completes the barriers that can be; whether any was.
    pub(crate) fn complete_barriers(&mut self, arrivals: impl Iterator<Item = Arrival>) -> bool {
        arrivals.for_each(|arrival| self.barriers.count(&arrival));
        let live = self.warps.iter().map(|warp| warp.control.live.count_ones()).sum();
        let mut any = false;
        for (number, result) in self.barriers.complete(live) {
            any = true;
            let groups = self.warps.iter_mut().flat_map(|warp| &mut warp.control.groups);
            let waiting = groups.filter(|group| group.state == State::WaitBlock(number));
            waiting.for_each(|group| group.state = State::Released(result));
        }
        any
    }

    /// Whether every thread has exited.
    pub(crate) fn is_done(&self) -> bool {
        self.warps.iter().all(|warp| warp.control.is_done())
    }

    /// Whether some warp can run without the others.
    pub(crate) fn can_go(&self) -> bool {
        self.warps.iter().any(|warp| warp.control.can_go())
    }

    /// What is wrong with a block in which nothing can go on.
    pub(crate) fn deadlock(&self, program: &Program, block: u64) -> Trap {
        self.hang(program, block, TrapKind::BarrierDeadlock)
    }

    /// What is wrong with a block that does not end: where its first thread is.
    pub(crate) fn hang(&self, program: &Program, block: u64, kind: TrapKind) -> Trap {
        let waiting =
            self.warps.iter().flat_map(|warp| warp.control.groups.iter().map(move |group| (warp.index, group)));
        let first = waiting.min_by_key(|(warp, group)| (*warp, group.mask.trailing_zeros()));
        let (instruction, thread) = first.map_or((0, 0), |(warp, group)| {
            let instruction = program.micros[group.pc as usize].instruction;
            (instruction, warp * LANES as u32 + group.mask.trailing_zeros())
        });
        Trap { kind, instruction, block, thread, address: None }
    }

    /// Instructions that each thread has executed one by one, in thread order.
    pub fn counts(&self) -> impl Iterator<Item = u32> + '_ {
        self.warps.iter().flat_map(|warp| warp.control.counts).take(self.threads as usize)
    }

    /// Instructions of each thread in thread order, with those of iterations that were skipped.
    pub fn executed(&self) -> impl Iterator<Item = u64> + '_ {
        let of_lanes = |warp: &'_ Warp| -> [u64; LANES] { std::array::from_fn(|lane| warp.control.instructions(lane)) };
        self.warps.iter().flat_map(of_lanes).take(self.threads as usize)
    }

    /// The same of all threads together.
    pub(crate) fn instructions(&self) -> u64 {
        self.warps.iter().fold(0, |sum: u64, warp| sum.saturating_add(warp.control.all_instructions()))
    }
}
