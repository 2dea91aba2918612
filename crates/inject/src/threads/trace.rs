//! All that one thread came to.

use crate::golden::{Golden, GoldenLaunch};
use crate::rerun::When;
use simt::memory::GlobalMemory;
use simt::registers::{LANES, has};
use simt::{Executor, Hook, InstructionContext, Interest};

/// One instruction that a thread came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// The instruction, an index into the instructions of the program.
    pub instruction: u32,
    /// Whether it executed it: its guard was true.
    pub executed: bool,
}

struct Tracing {
    warp: u32,
    lane: usize,
    steps: Vec<TraceStep>,
}

impl Hook for Tracing {
    fn wants(&self, warp: u32) -> bool {
        warp == self.warp
    }

    fn before(&mut self, context: InstructionContext<'_>) -> Interest {
        if context.warp == self.warp && has(context.active, self.lane) {
            self.steps
                .push(TraceStep { instruction: context.instruction, executed: has(context.executing, self.lane) });
        }
        Interest::Stay
    }
}

/// What a thread of a launch, linear in the launch, came to, in order; nothing if there is no such thread.
#[must_use]
pub fn trace(golden: &Golden, launch: &GoldenLaunch, thread: u64) -> Vec<TraceStep> {
    let threads = golden.threads_per_block(launch) as u64;
    let (wanted, within) = (thread / threads, (thread % threads) as usize);
    let mut tracing = Tracing { warp: (within / LANES) as u32, lane: within % LANES, steps: Vec::new() };
    let (mut memory, mut executor) = (GlobalMemory::new(), Executor::new(golden.level));
    golden.rerun(launch, &mut memory, &mut executor, &mut tracing, |_, block, when| {
        when == When::Before && block == wanted
    });
    tracing.steps
}
