//! Threads that behave alike: phase I of GPU-Qin (section III-A), by the number of instructions that each executed in the
//! golden run on the simulator.

use crate::devices::Debugger;
use crate::error::DebuggerError;
use crate::profile::{Code, ThreadProfile, Trace, follow};
use crate::thread::Thread;
use fault::{Isa, Selection};
use inject::Golden;
use inject::threads::by_count;
use live::GoldenApplication;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;

/// The share of the threads that the groups which are profiled must hold, unless there are more than [`MOST`] of them.
const COVERED: f64 = 0.95;
/// The most groups that are profiled.
const MOST: usize = 6;

/// Threads of one kernel that executed as many instructions each.
#[derive(Debug)]
pub(crate) struct ThreadGroup {
    pub(crate) kernel: String,
    /// By launch, and linear in it.
    pub(crate) members: Vec<(u32, u64)>,
    pub(crate) trace: Trace,
}

/// The groups that were profiled, and the code of each kernel.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    pub(crate) profiled: Vec<ThreadGroup>,
    pub(crate) code: BTreeMap<String, Code>,
    /// Threads of all launches, and of the groups that were profiled.
    pub(crate) threads: u64,
    pub(crate) covered: u64,
    /// Groups that there are.
    pub(crate) found: usize,
    /// The instruction set of the code.
    pub(crate) isa: Isa,
}

/// A thread by its number in a launch.
pub(crate) fn thread_of(golden: &Golden, launch: u32, number: u64) -> Option<Thread> {
    let known = golden.launches().get(launch as usize)?;
    let recorded = golden.recorded(known);
    let threads = recorded.threads_per_block();
    let (cta, thread) = (number / threads, (number % threads) as u32);
    Some(Thread::new(launch, &known.program.name, cta, thread, recorded.grid, recorded.block))
}

/// All groups, the most popular first.
fn grouped(golden: &Golden) -> Vec<(String, Vec<(u32, u64)>)> {
    let groups = by_count(golden).into_iter();
    let mut groups: Vec<_> = groups.map(|((kernel, _), members)| (kernel.to_owned(), members)).collect();
    groups.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
    groups
}

impl Groups {
    /// Finds the groups and follows a thread of each of the most popular ones, `jobs` at a time.
    pub(crate) fn profile(
        debugger: &Debugger,
        application: &GoldenApplication,
        golden: &Golden,
        jobs: usize,
    ) -> Result<Self, DebuggerError> {
        let all = grouped(golden);
        let threads: u64 = all.iter().map(|(_, members)| members.len() as u64).sum();
        let found = all.len();
        let mut covered = 0;
        let popular = all.into_iter().take(MOST).take_while(|(_, members)| {
            let more = (covered as f64) < COVERED * threads as f64;
            covered += if more { members.len() as u64 } else { 0 };
            more
        });
        let popular: Vec<(String, Vec<(u32, u64)>)> = popular.collect();
        let traces = follow_all(debugger, application, golden, &popular, jobs)?;
        let mut groups = Self { threads, covered, found, ..Self::default() };
        for ((kernel, members), ThreadProfile { isa, code, trace }) in popular.into_iter().zip(traces) {
            groups.isa = isa;
            groups.code.entry(kernel.clone()).or_insert(code);
            groups.profiled.push(ThreadGroup { kernel, members, trace });
        }
        Ok(groups)
    }

    /// The group of a thread, if it was profiled.
    pub(crate) fn of(&self, launch: u32, number: u64) -> Option<&ThreadGroup> {
        self.profiled.iter().find(|group| group.members.binary_search(&(launch, number)).is_ok())
    }

    /// Whether a selection draws from a member.
    pub(crate) fn holds(selection: &Selection, golden: &Golden, launch: u32, number: u64) -> bool {
        golden.launches().get(launch as usize).is_some_and(|known| {
            let threads = golden.recorded(known).threads_per_block();
            selection.holds_launch(&known.program.name, known.number)
                && selection.blocks.holds(number / threads)
                && selection.threads.holds(number % threads)
        })
    }
}

/// Follows the middle thread of each group.
fn follow_all(
    debugger: &Debugger,
    application: &GoldenApplication,
    golden: &Golden,
    groups: &[(String, Vec<(u32, u64)>)],
    jobs: usize,
) -> Result<Vec<ThreadProfile>, DebuggerError> {
    let next = Mutex::new(0);
    let found: Mutex<BTreeMap<usize, Result<ThreadProfile, DebuggerError>>> = Mutex::default();
    let work = || {
        loop {
            let at = {
                let mut next = next.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                *next += 1;
                *next - 1
            };
            let Some((_, members)) = groups.get(at) else { return };
            let (launch, number) = members[members.len() / 2];
            let Some(thread) = thread_of(golden, launch, number) else { return };
            // Once more where the debugger failed.
            let followed = follow(debugger, application, &thread).or_else(|_| follow(debugger, application, &thread));
            found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(at, followed);
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, groups.len().max(1)) {
            scope.spawn(work);
        }
    });
    found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).into_values().collect()
}
