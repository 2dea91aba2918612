//! All that some threads came to.

use crate::golden::{Golden, GoldenLaunch};
use crate::rerun::When;
use simt::memory::GlobalMemory;
use simt::registers::{LANES, has, lanes};
use simt::{Executor, Hook, InstructionContext, Interest};
use std::collections::BTreeMap;

/// One instruction that a thread came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// The instruction, an index into the instructions of the program.
    pub instruction: u32,
    /// Whether it executed it: its guard was true.
    pub executed: bool,
}

/// Traces of several threads of the block that runs.
#[derive(Default)]
struct BlockTracing {
    /// By warp, the lanes that are traced.
    lanes: Vec<u32>,
    /// By thread of the block, what it came to.
    steps: BTreeMap<usize, Vec<TraceStep>>,
}

impl Hook for BlockTracing {
    fn wants(&self, warp: u32) -> bool {
        self.lanes.get(warp as usize).is_some_and(|&lanes| lanes != 0)
    }

    fn before(&mut self, context: InstructionContext<'_>) -> Interest {
        let wanted = self.lanes.get(context.warp as usize).copied().unwrap_or_default();
        for lane in lanes(context.active & wanted) {
            let step = TraceStep { instruction: context.instruction, executed: has(context.executing, lane) };
            self.steps.entry(context.warp as usize * LANES + lane).or_default().push(step);
        }
        Interest::Stay
    }
}

/// What some threads of a launch, linear in the launch and ascending, came to, in one pass: `each` is called for every
/// thread, in their order, once its block has run.
pub fn traces(golden: &Golden, launch: &GoldenLaunch, threads: &[u64], mut each: impl FnMut(u64, &[TraceStep])) {
    let size = golden.threads_per_block(launch);
    let mut blocks: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for thread in threads {
        blocks.entry(thread / size as u64).or_default().push((thread % size as u64) as usize);
    }
    let (mut memory, mut executor) = (GlobalMemory::new(), Executor::new(golden.level));
    golden.rerun(launch, &mut memory, &mut executor, &mut BlockTracing::default(), |tracing, block, when| {
        let Some(within) = blocks.get(&block) else { return false };
        match when {
            When::Before => {
                tracing.lanes = vec![0; size.div_ceil(LANES)];
                within.iter().for_each(|thread| tracing.lanes[thread / LANES] |= 1 << (thread % LANES));
            }
            When::After => {
                let steps = std::mem::take(&mut tracing.steps);
                for thread in within {
                    each(block * size as u64 + *thread as u64, steps.get(thread).map_or(&[], Vec::as_slice));
                }
            }
        }
        true
    });
}

/// What a thread of a launch, linear in the launch, came to, in order; nothing if there is no such thread.
#[must_use]
pub fn trace(golden: &Golden, launch: &GoldenLaunch, thread: u64) -> Vec<TraceStep> {
    let mut steps = Vec::new();
    traces(golden, launch, &[thread], |_, found| steps = found.to_vec());
    steps
}
