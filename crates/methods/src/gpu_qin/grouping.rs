//! Threads in groups: those of a kernel, over all its launches, that come to as many instructions as each other.
//!
//! The paper counts conditionally executed instructions whether or not their condition is true (§III-A); so does a
//! group's [`instructions`](ThreadGroup::instructions). What a thread executes by our own definition, its guard true,
//! stands beside it.

use inject::Golden;
use inject::threads::{ThreadCount, thread_counts};
use serde::Serialize;
use stats::Draws;
use std::collections::{BTreeMap, BTreeSet};

use super::settings::Coverage;
use crate::kit::ThreadId;

/// The kinds of kernels that the paper tells apart by how many groups their threads fall into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Category {
    /// One group.
    I,
    /// Two to ten.
    II,
    /// More.
    III,
}

impl Category {
    fn of(groups: usize) -> Self {
        match groups {
            0..=1 => Self::I,
            2..=10 => Self::II,
            _ => Self::III,
        }
    }

    /// The paper's numeral.
    #[must_use]
    pub fn numeral(self) -> &'static str {
        match self {
            Self::I => "I",
            Self::II => "II",
            Self::III => "III",
        }
    }
}

/// Threads of a kernel that come to as many instructions as each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThreadGroup {
    /// Instructions that each comes to, guarded-off ones too: what the group is one by.
    pub instructions: u32,
    /// The least and the most that one of them executes, its guard true.
    pub executed: (u32, u32),
    /// What all of them execute, added up.
    pub thread_instructions: u64,
    /// How many threads.
    pub threads: u64,
    /// Their share of the kernel's threads.
    pub popularity: f64,
    /// How many different ways they go: 1 if all their traces are the same.
    pub traces: u64,
    /// Whether one of them is profiled.
    pub profiled: bool,
}

impl ThreadGroup {
    /// The size of the stratum in the paper's equations: threads times instructions of a thread.
    #[must_use]
    pub fn size(&self) -> f64 {
        self.threads as f64 * f64::from(self.instructions)
    }
}

/// A kernel with its threads in groups.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelGroups {
    /// The kernel.
    pub kernel: String,
    /// Its launches, by their numbers in the capsule.
    pub launches: Vec<u32>,
    /// Its threads, over all launches.
    pub threads: u64,
    /// The paper's category.
    pub category: Category,
    /// The share of its threads in groups of which one is profiled.
    pub coverage: f64,
    /// Its groups, the most popular first.
    pub groups: Vec<ThreadGroup>,
    /// The group of each thread, by launch and thread, as an index into the groups.
    #[serde(skip)]
    pub members: Vec<Vec<u32>>,
}

impl KernelGroups {
    /// The groups of which one thread is profiled.
    pub fn profiled(&self) -> impl Iterator<Item = &ThreadGroup> {
        self.groups.iter().filter(|group| group.profiled)
    }

    /// The group of a thread, linear in its launch, as an index into the groups.
    #[must_use]
    pub fn group_of(&self, launch: u32, thread: u64) -> Option<usize> {
        let at = self.launches.iter().position(|&own| own == launch)?;
        self.members.get(at)?.get(thread as usize).map(|&group| group as usize)
    }

    /// The launch and the number there of the n-th thread of a group, from 0.
    fn nth(&self, group: usize, nth: u64) -> Option<(u32, u64)> {
        let threads = self.launches.iter().zip(&self.members).flat_map(|(&launch, members)| {
            let own = (0u64..).zip(members).filter(move |&(_, &member)| member as usize == group);
            own.map(move |(thread, _)| (launch, thread))
        });
        threads.into_iter().nth(usize::try_from(nth).ok()?)
    }

    /// The popularity of its groups, summed from the most popular one on.
    #[must_use]
    pub fn cumulative(&self) -> Vec<f64> {
        let sum = |sum: &mut f64, group: &ThreadGroup| {
            *sum += group.popularity;
            Some(*sum)
        };
        self.groups.iter().scan(0.0, sum).collect()
    }

    /// Marks the groups that are profiled for a coverage.
    fn cover(&mut self, coverage: Coverage) {
        let reached = |share: f64, cumulative: &[f64]| {
            cumulative.iter().position(|&sum| sum >= share - 1e-9).map_or(cumulative.len(), |at| at + 1)
        };
        let cumulative = self.cumulative();
        let count = match (coverage, self.category) {
            (Coverage::Share(share), _) => reached(share, &cumulative).max(1),
            (Coverage::Published, Category::I) => 1,
            (Coverage::Published, Category::II) => reached(0.95, &cumulative).min(4),
            (Coverage::Published, Category::III) => 2,
        };
        for (number, group) in self.groups.iter_mut().enumerate() {
            group.profiled = number < count;
        }
        self.coverage = cumulative.get(count.min(cumulative.len()).saturating_sub(1)).copied().unwrap_or(0.0);
    }
}

/// The kernels of a golden run with their threads in groups, in the order of their first launches.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Grouping {
    /// The kernels.
    pub kernels: Vec<KernelGroups>,
}

/// The draws of representatives begin here, behind those of all runs.
const REPRESENTATIVES: u64 = 1 << 63;

/// By what threads are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupBy {
    /// The number of instructions that they come to, as published.
    #[default]
    Instructions,
    /// All of what they do: threads of a group have the same trace.
    Trace,
}

impl Grouping {
    /// Groups the threads of the launches for which `selected` holds, given the kernel's name and its launch's number
    /// among its own.
    #[must_use]
    pub fn of(golden: &Golden, coverage: Coverage, by: GroupBy, selected: &dyn Fn(&str, u32) -> bool) -> Self {
        let mut names: Vec<&str> = Vec::new();
        let mut launches: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (number, launch) in (0..).zip(golden.launches()) {
            let name = launch.program.name.as_str();
            if selected(name, launch.number) {
                if !names.contains(&name) {
                    names.push(name);
                }
                launches.entry(name).or_default().push(number);
            }
        }
        let kernel = |name: &&str| kernel(golden, name, &launches[name], coverage, by);
        Self { kernels: names.iter().map(kernel).collect() }
    }

    /// The thread that stands for a group in a campaign with this seed: any of its threads, each with the same chance. None
    /// where there is no such group.
    #[must_use]
    pub fn representative(&self, golden: &Golden, seed: u64, kernel: usize, group: usize) -> Option<ThreadId> {
        let own = self.kernels.get(kernel)?;
        let stream = REPRESENTATIVES | (kernel as u64) << 32 | group as u64;
        let nth = Draws::new(seed, stream).below(own.groups.get(group)?.threads)?;
        let (launch, thread) = own.nth(group, nth)?;
        let threads = golden.threads_per_block(&golden.launches()[launch as usize]) as u64;
        Some(ThreadId { launch, cta: thread / threads, thread: (thread % threads) as u32 })
    }
}

/// What is known of a group while its threads are counted.
#[derive(Default)]
struct Gathered {
    threads: u64,
    executed: Option<(u32, u32)>,
    thread_instructions: u64,
    traces: BTreeSet<u64>,
}

impl Gathered {
    fn add(&mut self, count: ThreadCount) {
        let (least, most) = self.executed.unwrap_or((count.executed, count.executed));
        self.executed = Some((least.min(count.executed), most.max(count.executed)));
        self.thread_instructions += u64::from(count.executed);
        self.threads += 1;
        self.traces.insert(count.trace);
    }
}

/// What a thread is grouped by: how many instructions, and the trace if that counts too.
type Key = (u32, u64);

fn kernel(golden: &Golden, name: &str, launches: &[u32], coverage: Coverage, by: GroupBy) -> KernelGroups {
    let counts: Vec<Vec<ThreadCount>> =
        launches.iter().map(|&launch| thread_counts(golden, &golden.launches()[launch as usize])).collect();
    let key = |count: &ThreadCount| -> Key {
        (count.executed + count.guarded_off, if by == GroupBy::Trace { count.trace } else { 0 })
    };
    let mut gathered: BTreeMap<Key, Gathered> = BTreeMap::new();
    for count in counts.iter().flatten() {
        gathered.entry(key(count)).or_default().add(*count);
    }
    let threads: u64 = gathered.values().map(|group| group.threads).sum();
    let mut order: Vec<(Key, Gathered)> = gathered.into_iter().collect();
    order.sort_by_key(|(key, group)| (std::cmp::Reverse(group.threads), *key));
    let index: BTreeMap<Key, u32> = order.iter().map(|(key, _)| *key).zip(0..).collect();
    let members: Vec<Vec<u32>> =
        counts.iter().map(|launch| launch.iter().map(|count| index[&key(count)]).collect()).collect();
    let group = |((instructions, _), group): (Key, Gathered)| ThreadGroup {
        instructions,
        executed: group.executed.unwrap_or_default(),
        thread_instructions: group.thread_instructions,
        threads: group.threads,
        popularity: group.threads as f64 / threads as f64,
        traces: group.traces.len() as u64,
        profiled: false,
    };
    let category = Category::of(order.len());
    let groups = order.into_iter().map(group).collect();
    let launches = launches.to_vec();
    let mut kernel =
        KernelGroups { kernel: name.to_owned(), launches, threads, category, coverage: 0.0, groups, members };
    kernel.cover(coverage);
    kernel
}
