//! From draws to instructions: the blocks of the threads that were drawn run again, to learn which instruction each draw
//! is.

use crate::executions::Executions;
use crate::golden::Golden;
use crate::rerun::When;
use crate::sample::least;
use fault::{Member, Selection};
use simt::memory::GlobalMemory;
use simt::registers::{LANES, has, lanes};
use simt::{Executor, Hook, InstructionContext, Interest};
use std::collections::BTreeMap;

/// A member whose instruction is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResolvedMember {
    /// The dynamic instruction of the thread.
    pub(crate) dynamic: u64,
    /// The instruction of the program.
    pub(crate) instruction: u32,
    /// The lanes of the warp that execute it together.
    pub(crate) executing: u32,
    /// Bytes of local memory that the thread has then, up to the end of the function's frame.
    pub(crate) local: u32,
}

/// One thread of the block that runs, and which of its members are wanted, ascending.
struct Watched {
    wanted: Vec<u32>,
    members: u32,
    begun: u64,
    found: Vec<ResolvedMember>,
}

struct Resolving<'s> {
    least: Vec<u32>,
    executions: Executions<'s>,
    /// By warp and lane.
    watched: BTreeMap<u32, BTreeMap<usize, Watched>>,
}

impl Hook for Resolving<'_> {
    fn wants(&self, warp: u32) -> bool {
        self.watched.contains_key(&warp)
    }

    fn before(&mut self, context: InstructionContext<'_>) -> Interest {
        let together = context.executing.count_ones() >= self.least[context.instruction as usize];
        let selected = if together { self.executions.pass(&context) } else { 0 };
        self.executions.note_writes(&context);
        let Some(watched) = self.watched.get_mut(&context.warp) else { return Interest::Leave };
        let mask = watched.keys().fold(0u32, |mask, lane| mask | (1 << lane));
        for lane in lanes(context.executing & mask) {
            let Some(thread) = watched.get_mut(&lane) else { continue };
            if has(selected, lane) {
                if thread.wanted.get(thread.found.len()) == Some(&thread.members) {
                    let (executing, local) = (context.executing, context.frame.end);
                    thread.found.push(ResolvedMember {
                        dynamic: thread.begun,
                        instruction: context.instruction,
                        executing,
                        local,
                    });
                }
                thread.members += 1;
            }
            thread.begun += 1;
        }
        Interest::Stay
    }
}

/// The instruction of every member asked for.
pub(crate) fn resolve(golden: &Golden, selection: &Selection, wanted: &[Member]) -> BTreeMap<Member, ResolvedMember> {
    let mut by_launch: BTreeMap<u32, BTreeMap<u64, Vec<Member>>> = BTreeMap::new();
    for &member in wanted {
        let launch = &golden.launches[member.launch as usize];
        let block = member.thread / golden.recorded(launch).threads_per_block();
        by_launch.entry(member.launch).or_default().entry(block).or_default().push(member);
    }
    let mut found = BTreeMap::new();
    let mut memory = GlobalMemory::new();
    let mut executor = Executor::new(golden.level);
    for (index, blocks) in by_launch {
        let launch = &golden.launches[index as usize];
        let threads = golden.recorded(launch).threads_per_block();
        let warps = (threads as usize).div_ceil(LANES);
        let executions = Executions::of(selection, &launch.program, warps);
        let mut resolving = Resolving { least: least(selection, launch), executions, watched: BTreeMap::new() };
        golden.rerun(launch, &mut memory, &mut executor, &mut resolving, |resolving, block, when| {
            let Some(wanted) = blocks.get(&block) else { return false };
            match when {
                When::Before => {
                    resolving.watched = watch(wanted, threads);
                    resolving.executions.begin();
                }
                When::After => collect(&resolving.watched, index, block * threads, &mut found),
            }
            true
        });
    }
    found
}

fn watch(members: &[Member], threads: u64) -> BTreeMap<u32, BTreeMap<usize, Watched>> {
    let mut watched: BTreeMap<u32, BTreeMap<usize, Watched>> = BTreeMap::new();
    for member in members {
        let thread = (member.thread % threads) as usize;
        let lanes = watched.entry((thread / LANES) as u32).or_default();
        let entry = lanes.entry(thread % LANES);
        let fresh = || Watched { wanted: Vec::new(), members: 0, begun: 0, found: Vec::new() };
        entry.or_insert_with(fresh).wanted.push(member.nth);
    }
    for thread in watched.values_mut().flat_map(BTreeMap::values_mut) {
        thread.wanted.sort_unstable();
        thread.wanted.dedup();
    }
    watched
}

fn collect(
    watched: &BTreeMap<u32, BTreeMap<usize, Watched>>,
    launch: u32,
    first: u64,
    found: &mut BTreeMap<Member, ResolvedMember>,
) {
    for (&warp, lanes) in watched {
        for (&lane, thread) in lanes {
            let number = first + u64::from(warp) * LANES as u64 + lane as u64;
            for (&nth, &at) in thread.wanted.iter().zip(&thread.found) {
                found.insert(Member { launch, thread: number, nth }, at);
            }
        }
    }
}
