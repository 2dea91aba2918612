//! Runs with faults, on all cores, each with what it did to the arrays.

use campaign::{Site, TargetError};
use fault::Fault;
use inject::site::fault_of;
use inject::{Array, CapsuleTarget, Corruption, Keep, Strategy, Tracker};
use outcome::{Class, End, Outcome, classify};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::kit::StudyError;

/// A run that was followed.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackedRun {
    /// Its number.
    pub run: usize,
    /// The launch with the fault.
    pub launch: u32,
    /// What came of it.
    pub outcome: Outcome,
    /// Whether it came to its end; what is known of others ends where they did.
    pub completed: bool,
    /// By launch, the arrays that differ after it.
    pub after: BTreeMap<u32, BTreeSet<usize>>,
    /// By array: how bad it was when it was corrupted first, with the launch, and after the last launch that it is looked at after.
    pub ends: BTreeMap<usize, ArrayCorruption>,
}

/// How an array was corrupted.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayCorruption {
    /// The launch that left it so first.
    pub launch: u32,
    /// How bad it was then.
    pub first: Corruption,
    /// How bad it is after the last launch that it is looked at after, if it still is.
    pub last: Option<Corruption>,
}

impl TrackedRun {
    /// What class its end is of.
    #[must_use]
    pub fn class(&self) -> Class {
        self.outcome.class()
    }
}

/// Follows the faults of sites, and shows each run to `see`; the order is any, the runs are the same.
///
/// # Errors
/// If a fault names no place, or the work is stopped.
pub fn follow(
    capsule: &CapsuleTarget,
    arrays: &[Array],
    sites: &[Site],
    jobs: usize,
    stop: &AtomicBool,
    see: &mut (dyn FnMut(TrackedRun) + Send),
) -> Result<(), StudyError> {
    let see = Mutex::new(see);
    let criteria = capsule.criteria();
    let launches = capsule.golden_run().launches().len();
    for_each(
        sites,
        jobs,
        stop,
        || capsule.tracker(Strategy::Auto, arrays),
        |tracker, run, site| {
            let fault = fault_of(site).map_err(|error| StudyError::Words(error.to_string()))?;
            let it = one(tracker, launches, run, &fault, &|seen| classify(seen, &criteria))?;
            see.lock().unwrap_or_else(PoisonError::into_inner)(it);
            Ok(())
        },
    )
}

/// Does work for each of these, with its number, on all cores and in any order; each worker has something of its own.
///
/// # Errors
/// The first of the work, or if it is stopped.
pub(super) fn for_each<T: Sync, W>(
    all: &[T],
    jobs: usize,
    stop: &AtomicBool,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, usize, &T) -> Result<(), StudyError> + Sync,
) -> Result<(), StudyError> {
    let next = AtomicUsize::new(0);
    let run = || -> Result<(), StudyError> {
        let mut worker = worker();
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(StudyError::Interrupted);
            }
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(it) = all.get(number) else { return Ok(()) };
            work(&mut worker, number, it)?;
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.clamp(1, all.len().max(1))).map(|_| scope.spawn(run)).collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}

/// Follows one fault.
fn one(
    tracker: &mut Tracker<'_>,
    launches: usize,
    run: usize,
    fault: &Fault,
    classify: &dyn Fn(&outcome::Observation) -> Outcome,
) -> Result<TrackedRun, StudyError> {
    let tracked = tracker.run(fault, Keep::Ends).map_err(|error| TargetError::from_error(&error))?;
    let mut after: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
    let mut ends: BTreeMap<usize, ArrayCorruption> = BTreeMap::new();
    for change in &tracked.changes {
        after.entry(change.launch).or_default().insert(change.array);
        if change.runs.is_empty() {
            continue;
        }
        let found = tracker.corruption(change);
        let last = (change.launch == tracker.arrays()[change.array].last_launch(launches)).then(|| found.clone());
        let of = ends.entry(change.array);
        of.or_insert(ArrayCorruption { launch: change.launch, first: found, last: None }).last = last;
    }
    let (outcome, completed) = (classify(&tracked.observation), tracked.observation.end == End::Completed);
    Ok(TrackedRun { run, launch: fault.launch, outcome, completed, after, ends })
}
