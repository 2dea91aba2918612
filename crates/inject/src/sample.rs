//! The population that is sampled, counted by thread.

use crate::executions::Executions;
use crate::golden::{Golden, GoldenLaunch};
use crate::reach::has_target;
use crate::rerun::When;
use counts::{Counts, CountsWriter};
use fault::{Census, Selection};
use simt::memory::GlobalMemory;
use simt::program::StaticInstruction;
use simt::registers::{LANES, has};
use simt::{Executor, Hook, InstructionContext, Interest};

/// Whether each instruction of a launch is in the population.
pub(crate) fn members(selection: &Selection, launch: &GoldenLaunch) -> Vec<bool> {
    least(selection, launch).iter().map(|&least| least != NEVER).collect()
}

/// How many lanes must execute each instruction of a launch together for it to be in the population.
pub(crate) fn least(selection: &Selection, launch: &GoldenLaunch) -> Vec<u32> {
    let chosen = selection.narrowing.of_launch(&launch.program.name, launch.number);
    let least = |(number, instruction): (u32, &StaticInstruction)| {
        let chosen = chosen.is_none_or(|chosen| chosen.contains(&number));
        instruction.facts.as_ref().filter(|_| chosen).and_then(|facts| selection.least(facts)).unwrap_or(NEVER)
    };
    (0..).zip(&launch.program.instructions).map(least).collect()
}

/// More lanes than there are: an instruction that is not in the population.
pub(crate) const NEVER: u32 = u32::MAX;

/// What each instruction of a program counts for.
pub(crate) struct Weights(pub(crate) Vec<u32>);

/// Counts by thread, and by instruction.
struct Counting<'s> {
    /// Lanes that must execute each instruction together.
    least: Vec<u32>,
    weights: Vec<u32>,
    counts: Vec<[u64; LANES]>,
    /// By instruction, over all threads that are selected.
    of_instructions: Vec<u64>,
    /// The lanes of each warp whose threads are selected.
    threads: Vec<u32>,
    executions: Executions<'s>,
}

impl Hook for Counting<'_> {
    fn wants(&self, _: u32) -> bool {
        true
    }

    fn before(&mut self, context: InstructionContext<'_>) -> Interest {
        let weight = u64::from(self.weights[context.instruction as usize]);
        if weight > 0 && context.executing.count_ones() >= self.least[context.instruction as usize] {
            let selected = self.executions.pass(&context) & self.threads[context.warp as usize];
            self.of_instructions[context.instruction as usize] += weight * u64::from(selected.count_ones());
            let counts = &mut self.counts[context.warp as usize];
            for (lane, count) in counts.iter_mut().enumerate() {
                *count += if has(selected, lane) { weight } else { 0 };
            }
        }
        self.executions.note_writes(&context);
        Interest::Stay
    }
}

/// The population of a selection, counted by thread.
pub(crate) fn census(golden: &Golden, selection: &Selection) -> Census {
    let mut census = Census::default();
    for launch in &golden.launches {
        let selected =
            selection.holds_launch(&launch.program.name, launch.number) && has_target(golden, launch, selection);
        let members = if selected { members(selection, launch) } else { Vec::new() };
        if members.contains(&true) {
            let counts = count(golden, launch, selection, Weights(members.into_iter().map(u32::from).collect()));
            census.push(counts.threads.map(|count| u32::try_from(count).unwrap_or(u32::MAX)));
        } else {
            census.push(Counts::default());
        }
    }
    census
}

/// The members of a population by launch and instruction.
pub(crate) fn by_instruction(golden: &Golden, selection: &Selection) -> Vec<Vec<u64>> {
    let of_launch = |launch: &GoldenLaunch| {
        let selected =
            selection.holds_launch(&launch.program.name, launch.number) && has_target(golden, launch, selection);
        let members = if selected { members(selection, launch) } else { Vec::new() };
        if !members.contains(&true) {
            return vec![0; launch.program.instructions.len()];
        }
        count(golden, launch, selection, Weights(members.into_iter().map(u32::from).collect())).instructions
    };
    golden.launches.iter().map(of_launch).collect()
}

/// The weights of the instructions of a launch that selected threads execute, added up.
pub(crate) struct WeightSums {
    pub(crate) threads: Counts<u64>,
    pub(crate) instructions: Vec<u64>,
}

/// The weights of all instructions that each selected thread of a launch executes, added up.
pub(crate) fn count(golden: &Golden, launch: &GoldenLaunch, selection: &Selection, weights: Weights) -> WeightSums {
    let threads = golden.recorded(launch).threads_per_block() as usize;
    let warps = threads.div_ceil(LANES);
    let selected = |warp: usize| {
        let lanes = (0..LANES).filter(|lane| selection.threads.holds((warp * LANES + lane) as u64));
        lanes.fold(0, |mask, lane| mask | (1 << lane))
    };
    let mut counting = Counting {
        least: least(selection, launch),
        of_instructions: vec![0; weights.0.len()],
        weights: weights.0,
        counts: vec![[0; LANES]; warps],
        threads: (0..warps).map(selected).collect(),
        executions: Executions::of(selection, &launch.program, warps),
    };
    let (mut all, threads_of_all) = (CountsWriter::default(), launch.counts().threads());
    let (mut memory, mut executor) = (GlobalMemory::new(), Executor::new(golden.level));
    golden.rerun(launch, &mut memory, &mut executor, &mut counting, |counting, block, when| {
        if !selection.blocks.holds(block) {
            return false;
        }
        if when == When::After {
            all.fill(0, block * threads as u64);
            all.extend(counting.counts.iter().flatten().take(threads).copied());
            counting.counts.fill([0; LANES]);
            counting.executions.begin();
        }
        true
    });
    all.fill(0, threads_of_all);
    WeightSums { threads: all.finish(), instructions: counting.of_instructions }
}
