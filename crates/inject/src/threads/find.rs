//! Where in a thread something is: its n-th dynamic instruction, or an instruction when it comes to it for the n-th time.

use crate::golden::Golden;
use crate::rerun::When;
use simt::memory::GlobalMemory;
use simt::registers::{LANES, has, lanes};
use simt::{Executor, Hook, InstructionContext, Interest};
use std::collections::BTreeMap;

/// A thread of a launch, and what is looked for in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Query {
    /// The launch.
    pub launch: u32,
    /// The thread, linear in the launch.
    pub thread: u64,
    /// What is looked for.
    pub wanted: Wanted,
}

/// What is looked for in a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wanted {
    /// The dynamic instruction of this number, from 0.
    Dynamic(u32),
    /// An instruction of the program when the thread comes to it for the n-th time, from 0, its guard true or false.
    Visit {
        /// The instruction, an index into the instructions of the program.
        instruction: u32,
        /// How often it came to it before.
        nth: u32,
    },
}

/// Where it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundInstruction {
    /// Instructions that the thread executed before.
    pub dynamic: u64,
    /// The instruction, an index into the instructions of the program.
    pub instruction: u32,
    /// How often the thread executed this instruction before.
    pub occurrence: u64,
    /// Whether the thread executed it: its guard was true.
    pub executed: bool,
}

/// What is looked for in one thread, and how far it has come.
#[derive(Default)]
struct Watched {
    executed: u64,
    /// How often it executed each instruction, by its index; those behind the last that it executed have no place.
    executions: Vec<u64>,
    /// By dynamic instruction.
    dynamic: BTreeMap<u32, Option<FoundInstruction>>,
    /// By instruction, visits so far and the visits looked for.
    visits: BTreeMap<u32, (u32, BTreeMap<u32, Option<FoundInstruction>>)>,
}

impl Watched {
    fn step(&mut self, instruction: u32, executes: bool) {
        let at = instruction as usize;
        if self.executions.len() <= at {
            self.executions.resize(at + 1, 0);
        }
        let occurrence = self.executions[at];
        self.executions[at] += u64::from(executes);
        let found = Some(FoundInstruction { dynamic: self.executed, instruction, occurrence, executed: executes });
        if let Some((visits, wanted)) = self.visits.get_mut(&instruction) {
            if let Some(place) = wanted.get_mut(visits) {
                *place = found;
            }
            *visits += 1;
        }
        if executes {
            if let Some(place) = u32::try_from(self.executed).ok().and_then(|at| self.dynamic.get_mut(&at)) {
                *place = found;
            }
            self.executed += 1;
        }
    }

    fn found(&self) -> impl Iterator<Item = (Wanted, FoundInstruction)> {
        let dynamic = self.dynamic.iter().filter_map(|(&at, found)| Some((Wanted::Dynamic(at), (*found)?)));
        let visits = self.visits.iter().flat_map(|(&instruction, (_, wanted))| {
            wanted.iter().filter_map(move |(&nth, found)| Some((Wanted::Visit { instruction, nth }, (*found)?)))
        });
        dynamic.chain(visits)
    }
}

/// By warp and lane of the block that runs.
struct Finding(BTreeMap<u32, BTreeMap<usize, Watched>>);

impl Hook for Finding {
    fn wants(&self, warp: u32) -> bool {
        self.0.contains_key(&warp)
    }

    fn before(&mut self, context: InstructionContext<'_>) -> Interest {
        let Some(watched) = self.0.get_mut(&context.warp) else { return Interest::Leave };
        let mask = watched.keys().fold(0u32, |mask, lane| mask | (1 << lane));
        for lane in lanes(context.active & mask) {
            if let Some(thread) = watched.get_mut(&lane) {
                thread.step(context.instruction, has(context.executing, lane));
            }
        }
        Interest::Stay
    }
}

/// Looks for all of `queries` by running their launches again; what no thread comes to is missing from the answer.
#[must_use]
pub fn find(golden: &Golden, queries: &[Query]) -> BTreeMap<Query, FoundInstruction> {
    let mut by_launch: BTreeMap<u32, BTreeMap<u64, Vec<Query>>> = BTreeMap::new();
    for &query in queries {
        let Some(launch) = golden.launches.get(query.launch as usize) else { continue };
        let block = query.thread / golden.threads_per_block(launch) as u64;
        by_launch.entry(query.launch).or_default().entry(block).or_default().push(query);
    }
    let mut found = BTreeMap::new();
    let (mut memory, mut executor) = (GlobalMemory::new(), Executor::new(golden.level));
    for (number, blocks) in by_launch {
        let launch = &golden.launches[number as usize];
        let threads = golden.threads_per_block(launch) as u64;
        let mut finding = Finding(BTreeMap::new());
        golden.rerun(launch, &mut memory, &mut executor, &mut finding, |finding, block, when| {
            let Some(queries) = blocks.get(&block) else { return false };
            match when {
                When::Before => finding.0 = watch(queries, threads),
                When::After => collect(&finding.0, number, block * threads, &mut found),
            }
            true
        });
    }
    found
}

fn watch(queries: &[Query], threads: u64) -> BTreeMap<u32, BTreeMap<usize, Watched>> {
    let mut all: BTreeMap<u32, BTreeMap<usize, Watched>> = BTreeMap::new();
    for query in queries {
        let thread = (query.thread % threads) as usize;
        let watched = all.entry((thread / LANES) as u32).or_default().entry(thread % LANES).or_default();
        match query.wanted {
            Wanted::Dynamic(at) => {
                watched.dynamic.insert(at, None);
            }
            Wanted::Visit { instruction, nth } => {
                watched.visits.entry(instruction).or_default().1.insert(nth, None);
            }
        }
    }
    all
}

fn collect(
    all: &BTreeMap<u32, BTreeMap<usize, Watched>>,
    launch: u32,
    first: u64,
    found: &mut BTreeMap<Query, FoundInstruction>,
) {
    for (&warp, lanes) in all {
        for (&lane, watched) in lanes {
            let thread = first + u64::from(warp) * LANES as u64 + lane as u64;
            found.extend(watched.found().map(|(wanted, at)| (Query { launch, thread, wanted }, at)));
        }
    }
}
