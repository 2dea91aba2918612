//! From draws to sites: count the population by thread, find the threads that were drawn, and run their blocks again
//! to learn which instruction each draw is.

use crate::draw::has_target;
use crate::golden::{Golden, GoldenLaunch};
use crate::rerun::When;
use fault::{Census, Extent, Member, Selection};
use simt::memory::GlobalMemory;
use simt::registers::{LANES, has, lanes};
use simt::{Executor, Hook, Interest, Moment, Program};
use std::collections::BTreeMap;

/// Whether each site of a program is in the population.
pub(crate) fn members(selection: &Selection, program: &Program) -> Vec<bool> {
    program.sites.iter().map(|site| site.facts.as_ref().is_some_and(|facts| selection.holds(facts))).collect()
}

/// How many lanes must execute an instruction together for it to be in the population.
fn least(selection: &Selection) -> u32 {
    if selection.extent == Extent::Pair { 2 } else { 1 }
}

/// What each site of a program counts for.
pub(crate) struct Weights(pub(crate) Vec<u32>);

/// Counts by thread.
struct Counting {
    /// Lanes that must execute an instruction together.
    least: u32,
    weights: Vec<u32>,
    counts: Vec<[u64; LANES]>,
}

impl Hook for Counting {
    fn wants(&self, _: u32) -> bool {
        true
    }

    fn before(&mut self, moment: Moment<'_>) -> Interest {
        let weight = u64::from(self.weights[moment.site as usize]);
        if weight > 0 && moment.executing.count_ones() >= self.least {
            let counts = &mut self.counts[moment.warp as usize];
            for (lane, count) in counts.iter_mut().enumerate() {
                *count += if has(moment.executing, lane) { weight } else { 0 };
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
            census.push(counts.into_iter().map(|count| u32::try_from(count).unwrap_or(u32::MAX)).collect());
        } else {
            census.push(Vec::new());
        }
    }
    census
}

/// The weights of all instructions that each selected thread of a launch executes, added up; linear in the launch.
pub(crate) fn count(golden: &Golden, launch: &GoldenLaunch, selection: &Selection, weights: Weights) -> Vec<u64> {
    let threads = golden.recorded(launch).threads_per_block() as usize;
    let warps = threads.div_ceil(LANES);
    let mut counting = Counting { least: least(selection), weights: weights.0, counts: vec![[0; LANES]; warps] };
    let mut all = vec![0; launch.counts.len()];
    let (mut memory, mut executor) = (GlobalMemory::new(), Executor::new(golden.level));
    golden.rerun(launch, &mut memory, &mut executor, &mut counting, |counting, block, when| {
        if !selection.blocks.holds(block) {
            return false;
        }
        if when == When::After {
            let start = block as usize * threads;
            for thread in (0..threads).filter(|&thread| selection.threads.holds(thread as u64)) {
                all[start + thread] = counting.counts[thread / LANES][thread % LANES];
            }
            counting.counts.fill([0; LANES]);
        }
        true
    });
    all
}

/// A member whose instruction is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The dynamic instruction of the thread.
    pub(crate) dynamic: u64,
    /// The site in the program.
    pub(crate) site: u32,
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
    found: Vec<Found>,
}

struct Resolving {
    least: u32,
    members: Vec<bool>,
    /// By warp and lane.
    watched: BTreeMap<u32, BTreeMap<usize, Watched>>,
}

impl Hook for Resolving {
    fn wants(&self, warp: u32) -> bool {
        self.watched.contains_key(&warp)
    }

    fn before(&mut self, moment: Moment<'_>) -> Interest {
        let member = self.members[moment.site as usize] && moment.executing.count_ones() >= self.least;
        let Some(watched) = self.watched.get_mut(&moment.warp) else { return Interest::Leave };
        let mask = watched.keys().fold(0u32, |mask, lane| mask | (1 << lane));
        for lane in lanes(moment.executing & mask) {
            let Some(thread) = watched.get_mut(&lane) else { continue };
            if member {
                if thread.wanted.get(thread.found.len()) == Some(&thread.members) {
                    let (executing, local) = (moment.executing, moment.frame.end);
                    thread.found.push(Found { dynamic: thread.begun, site: moment.site, executing, local });
                }
                thread.members += 1;
            }
            thread.begun += 1;
        }
        Interest::Stay
    }
}

/// The instruction of every member asked for.
pub(crate) fn resolve(golden: &Golden, selection: &Selection, wanted: &[Member]) -> BTreeMap<Member, Found> {
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
        let members = members(selection, &launch.program);
        let mut resolving = Resolving { least: least(selection), members, watched: BTreeMap::new() };
        golden.rerun(launch, &mut memory, &mut executor, &mut resolving, |resolving, block, when| {
            let Some(wanted) = blocks.get(&block) else { return false };
            match when {
                When::Before => resolving.watched = watch(wanted, threads),
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
    found: &mut BTreeMap<Member, Found>,
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
