//! Error sites and their classes: what threads with the same path have in common, and control equivalence.
//!
//! A site is one bit of one destination of one dynamic instruction. Threads whose paths are equal, over all launches of a
//! kernel, are one *path group*: everything that is known of a site from the path is found once for all of them.

use fault::Selection;
use inject::threads::{PathDestination, PathDestinations, ThreadCount, TraceStep, thread_counts, traces};
use inject::{Golden, GoldenLaunch};
use std::collections::BTreeMap;

use super::settings::{Apart, Settings};
use super::windows::Windows;

/// Threads whose paths are equal.
pub(super) struct PathGroup {
    /// Their launches, and their numbers there, ascending.
    pub(super) threads: Vec<(u32, u64)>,
    kernel: u32,
}

/// The sites of a bit position of a destination that are expected to end alike.
pub(super) struct Class {
    /// The kernel, an index into [`Sites::kernels`].
    pub(super) kernel: u32,
    /// The instruction, an index into the instructions of the program.
    pub(super) instruction: u32,
    /// The position among its destinations.
    pub(super) position: u8,
    /// How many bits the destination has.
    pub(super) bits: u32,
    /// How many dynamic instances it has: as many sites for each bit.
    pub(super) members: u64,
    /// Where they are, each once for all threads of its group.
    pub(super) places: Vec<Place>,
}

/// A dynamic instruction of the threads of a group.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The group, an index into [`Sites::groups`].
    pub(super) group: u32,
    /// The dynamic instruction, from 0.
    pub(super) dynamic: u64,
}

/// The sites of a kernel.
#[derive(Clone, Debug, Default)]
pub(super) struct KernelSites {
    /// Its name.
    pub(super) name: String,
    /// All.
    pub(super) all: u64,
    /// Those that nobody reads: masked.
    pub(super) pruned: u64,
    /// Its path groups.
    pub(super) groups: u64,
    /// Its threads, over all launches.
    pub(super) threads: u64,
}

/// All sites of a selection.
#[derive(Default)]
pub(super) struct Sites {
    /// The kernels, in the order of their first launches.
    pub(super) kernels: Vec<KernelSites>,
    /// The path groups.
    pub(super) groups: Vec<PathGroup>,
    /// The classes, in the order of their instructions and windows.
    pub(super) classes: Vec<Class>,
    /// By kernel and instruction, how many dynamic instances were executed, whether they have sites or not.
    pub(super) executed: BTreeMap<(u32, u32), u64>,
    /// By kernel, instruction and position of the destination, its bits and its instances that no instruction reads.
    pub(super) unread: BTreeMap<(u32, u32, u8), (u32, u64)>,
}

/// What threads of one group have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct GroupKey {
    kernel: u32,
    executed: u32,
    guarded_off: u32,
    trace: u64,
    apart: ApartKey,
}

/// The numbers of what is kept apart, 0 of what is not.
type ApartKey = (u32, u64, u32);

/// What the instances of one class have in common: the instruction, the position, and a hash of the decisions.
type ClassKey = (u32, u32, u8, u128, ApartKey);

impl Sites {
    /// Those of the launches that a selection holds.
    pub(super) fn of(golden: &Golden, selection: &Selection, settings: &Settings) -> Self {
        let mut sites = Self::default();
        let selected = |launch: &&(u32, &GoldenLaunch)| selection.holds_launch(&launch.1.program.name, launch.1.number);
        let launches: Vec<(u32, &GoldenLaunch)> = (0..).zip(golden.launches()).collect();
        let launches: Vec<(u32, &GoldenLaunch)> = launches.iter().filter(selected).copied().collect();
        let groups = sites.find_groups(golden, &launches, settings.apart);
        let mut classes: BTreeMap<ClassKey, Class> = BTreeMap::new();
        // Each group is traced where its first thread is.
        let mut representatives: BTreeMap<u32, BTreeMap<u64, (u32, ApartKey)>> = BTreeMap::new();
        for (number, (key, group)) in (0..).zip(groups) {
            if let Some(&(launch, thread)) = group.threads.first() {
                representatives.entry(launch).or_default().insert(thread, (number, key.apart));
            }
            sites.groups.push(group);
        }
        for (number, launch) in launches {
            let Some(wanted) = representatives.get(&number) else { continue };
            let destinations = PathDestinations::of(launch);
            let threads: Vec<u64> = wanted.keys().copied().collect();
            traces(golden, launch, &threads, |thread, path| {
                if let Some(&(group, apart)) = wanted.get(&thread) {
                    let found = destinations.on(launch, path);
                    sites.count(group, path);
                    let windows = Windows::of(launch, path, settings);
                    sites.join(&mut classes, (group, apart), &found, &windows);
                }
            });
        }
        sites.classes = classes.into_values().collect();
        sites
    }

    fn find_groups(
        &mut self,
        golden: &Golden,
        launches: &[(u32, &GoldenLaunch)],
        apart: Apart,
    ) -> BTreeMap<GroupKey, PathGroup> {
        let mut groups: BTreeMap<GroupKey, PathGroup> = BTreeMap::new();
        for &(number, launch) in launches {
            let kernel = self.kernel(&launch.program.name);
            let size = golden.threads_per_block(launch) as u64;
            for (thread, count) in (0..).zip(thread_counts(golden, launch)) {
                let kept = (
                    if apart.launches { number + 1 } else { 0 },
                    if apart.blocks { thread / size + 1 } else { 0 },
                    if apart.threads { (thread % size) as u32 + 1 } else { 0 },
                );
                let ThreadCount { executed, guarded_off, trace } = count;
                let key = GroupKey { kernel, executed, guarded_off, trace, apart: kept };
                let fresh = || PathGroup { threads: Vec::new(), kernel };
                groups.entry(key).or_insert_with(fresh).threads.push((number, thread));
                self.kernels[kernel as usize].threads += 1;
            }
        }
        groups.values().for_each(|group| self.kernels[group.kernel as usize].groups += 1);
        groups
    }

    fn kernel(&mut self, name: &str) -> u32 {
        let known = self.kernels.iter().position(|kernel| kernel.name == name);
        let new = known.unwrap_or(self.kernels.len());
        if known.is_none() {
            self.kernels.push(KernelSites { name: name.to_owned(), ..KernelSites::default() });
        }
        new as u32
    }

    /// Counts the instructions that the threads of a group executed.
    fn count(&mut self, group: u32, path: &[TraceStep]) {
        let PathGroup { threads, kernel } = &self.groups[group as usize];
        for step in path.iter().filter(|step| step.executed) {
            *self.executed.entry((*kernel, step.instruction)).or_default() += threads.len() as u64;
        }
    }

    /// Adds the sites of a group to their classes.
    fn join(
        &mut self,
        classes: &mut BTreeMap<ClassKey, Class>,
        (group, apart): (u32, ApartKey),
        found: &[PathDestination],
        windows: &Windows,
    ) {
        let PathGroup { threads, kernel } = &self.groups[group as usize];
        let (threads, kernel) = (threads.len() as u64, *kernel);
        for &PathDestination { step, dynamic, instruction, position, bits, unread } in found {
            let count = &mut self.kernels[kernel as usize];
            let sites = threads * u64::from(bits);
            count.all += sites;
            if unread.is_some() {
                count.pruned += sites;
                self.unread.entry((kernel, instruction, position)).or_insert((bits, 0)).1 += threads;
                continue;
            }
            let key = (kernel, instruction, position, windows.from(step), apart);
            let fresh = || Class { kernel, instruction, position, bits, members: 0, places: Vec::new() };
            let class = classes.entry(key).or_insert_with(fresh);
            class.members += threads;
            class.places.push(Place { group, dynamic });
        }
    }
}
