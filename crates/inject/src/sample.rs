//! The population that is sampled, counted by thread.

use crate::golden::{Golden, GoldenLaunch};
use crate::reach::has_target;
use crate::rerun::When;
use counts::{Counts, CountsWriter};
use facts::Facts;
use fault::{Census, Ranges, Selection};
use simt::memory::GlobalMemory;
use simt::registers::{LANES, has, lanes};
use simt::{Executor, Hook, InstructionContext, Interest, Program};

/// Whether each instruction of a program is in the population.
pub(crate) fn members(selection: &Selection, program: &Program) -> Vec<bool> {
    least(selection, program).iter().map(|&least| least != NEVER).collect()
}

/// How many lanes must execute each instruction of a program together for it to be in the population.
pub(crate) fn least(selection: &Selection, program: &Program) -> Vec<u32> {
    let least = |facts: &Facts| selection.least(facts);
    program.instructions.iter().map(|it| it.facts.as_ref().and_then(least).unwrap_or(NEVER)).collect()
}

/// More lanes than there are: an instruction that is not in the population.
pub(crate) const NEVER: u32 = u32::MAX;

/// What each instruction of a program counts for.
pub(crate) struct Weights(pub(crate) Vec<u32>);

/// How often each thread of a block has executed each instruction, kept where a selection takes some of these times only.
pub(crate) struct Iterations<'s> {
    selected: &'s Ranges,
    instructions: usize,
    /// By warp, instruction and lane.
    times: Vec<[u32; LANES]>,
}

impl<'s> Iterations<'s> {
    pub(crate) fn of(selection: &'s Selection, program: &Program, warps: usize) -> Self {
        let instructions = program.instructions.len();
        let kept = if selection.iterations.is_all() { 0 } else { warps * instructions };
        Self { selected: &selection.iterations, instructions, times: vec![[0; LANES]; kept] }
    }

    /// Another block begins.
    pub(crate) fn begin(&mut self) {
        self.times.fill([0; LANES]);
    }

    /// Lanes execute an instruction: for which of them this time is one of those selected.
    pub(crate) fn pass(&mut self, warp: u32, instruction: u32, executing: u32) -> u32 {
        if self.times.is_empty() {
            return executing;
        }
        let times = &mut self.times[warp as usize * self.instructions + instruction as usize];
        lanes(executing).fold(0, |selected, lane| {
            let time = times[lane];
            times[lane] = time.saturating_add(1);
            if self.selected.holds(u64::from(time)) { selected | (1 << lane) } else { selected }
        })
    }
}

/// Counts by thread.
struct Counting<'s> {
    /// Lanes that must execute each instruction together.
    least: Vec<u32>,
    weights: Vec<u32>,
    counts: Vec<[u64; LANES]>,
    iterations: Iterations<'s>,
}

impl Hook for Counting<'_> {
    fn wants(&self, _: u32) -> bool {
        true
    }

    fn before(&mut self, context: InstructionContext<'_>) -> Interest {
        let weight = u64::from(self.weights[context.instruction as usize]);
        if weight > 0 && context.executing.count_ones() >= self.least[context.instruction as usize] {
            let selected = self.iterations.pass(context.warp, context.instruction, context.executing);
            let counts = &mut self.counts[context.warp as usize];
            for (lane, count) in counts.iter_mut().enumerate() {
                *count += if has(selected, lane) { weight } else { 0 };
            }
        }
        Interest::Stay
    }
}

/// The population of a selection, counted by thread.
pub(crate) fn census(golden: &Golden, selection: &Selection) -> Census {
    let mut census = Census::default();
    for launch in &golden.launches {
        let selected =
            selection.holds_launch(&launch.program.name, launch.number) && has_target(golden, launch, selection);
        let members = if selected { members(selection, &launch.program) } else { Vec::new() };
        if members.contains(&true) {
            let counts = count(golden, launch, selection, Weights(members.into_iter().map(u32::from).collect()));
            census.push(counts.map(|count| u32::try_from(count).unwrap_or(u32::MAX)));
        } else {
            census.push(Counts::default());
        }
    }
    census
}

/// The weights of all instructions that each selected thread of a launch executes, added up.
pub(crate) fn count(golden: &Golden, launch: &GoldenLaunch, selection: &Selection, weights: Weights) -> Counts<u64> {
    let threads = golden.recorded(launch).threads_per_block() as usize;
    let warps = threads.div_ceil(LANES);
    let mut counting = Counting {
        least: least(selection, &launch.program),
        weights: weights.0,
        counts: vec![[0; LANES]; warps],
        iterations: Iterations::of(selection, &launch.program, warps),
    };
    let (mut all, threads_of_all) = (CountsWriter::default(), launch.counts().threads());
    let (mut memory, mut executor) = (GlobalMemory::new(), Executor::new(golden.level));
    golden.rerun(launch, &mut memory, &mut executor, &mut counting, |counting, block, when| {
        if !selection.blocks.holds(block) {
            return false;
        }
        if when == When::After {
            all.fill(0, block * threads as u64);
            let selected = |thread: usize| selection.threads.holds(thread as u64);
            let counted = counting.counts.iter().flatten().take(threads).enumerate();
            all.extend(counted.map(|(thread, &count)| if selected(thread) { count } else { 0 }));
            counting.counts.fill([0; LANES]);
            counting.iterations.begin();
        }
        true
    });
    all.fill(0, threads_of_all);
    all.finish()
}
