//! One fault as a story ([`campaign::story`]): the faulty run beside the golden one.
//!
//! The block with the fault is executed twice with everything that its threads compute put down, once without the fault
//! and once with it; from there the program runs to its end, and memory is compared after every launch.

mod lines;
pub(crate) mod log;
mod spread;
mod steps;

use crate::delta::Delta;
use crate::full::Injector;
use crate::golden::Golden;
use crate::run::{InjectError, locate};
use crate::site::LABELS;
use crate::target::CapsuleTarget;
use campaign::story::{LaunchCorruption, STORY_FORMAT, Share, Story, ThreadPath};
use device::coordinates;
use fault::Fault;
use lines::Lines;
use log::Log;
use outcome::{Criteria, End, classify};
use simt::Executor;
use simt::memory::GlobalMemory;
use spread::CorruptionRecorder;
use steps::ComparedSteps;

impl CapsuleTarget {
    /// The story of a fault: what was hit, how it spread, what came of it.
    ///
    /// # Errors
    /// If the fault names a place that does not exist, or the capsule cannot be replayed.
    pub fn story(&self, fault: &Fault, criteria: &Criteria) -> Result<Story, InjectError> {
        tell(self, fault, criteria)
    }
}

fn tell(target: &CapsuleTarget, fault: &Fault, criteria: &Criteria) -> Result<Story, InjectError> {
    let golden = target.golden_run();
    let launch = locate(golden, fault)?;
    let site = target.site_of(fault)?.named(&LABELS);
    let recorded = golden.recorded(launch);
    let threads = recorded.threads_per_block() as usize;
    let new_log = || Log::new(&launch.program, fault.thread, fault.dynamic, threads);
    let (mut expected, mut found) = (new_log(), new_log());
    let (mut memory, mut executor) = (GlobalMemory::new(), Executor::new(golden.level));
    golden.rerun(launch, &mut memory, &mut executor, &mut expected, |_, block, _| block == fault.cta);
    let mut corruption = CorruptionRecorder::new(golden);
    let observation = Injector::new(golden).tell(fault, &mut found, &mut corruption)?;
    let outcome = classify(&observation, criteria);
    let lines = Lines::of_capsule(&golden.capsule);
    let mut told = ComparedSteps { steps: Vec::new(), left_out: 0, path: ThreadPath::default() };
    if observation.landed.is_some() {
        let ended = observation.end != End::Completed;
        told = steps::compare(golden, launch, &lines, fault, (&expected, &found), ended);
    }
    let first = expected.entries.first();
    let linear = fault.cta * threads as u64 + u64::from(fault.thread);
    told.path.golden = launch.counts().get(linear).map_or(0, u64::from);
    told.path.found = found.executed;
    told.path.shared_bytes = differing(&expected.shared, &found.shared);
    Ok(Story {
        format: STORY_FORMAT.to_owned(),
        instruction: first.map(|entry| lines.of(golden, launch, entry.instruction)),
        site,
        block: coordinates(fault.cta, recorded.grid),
        thread: coordinates(fault.thread.into(), recorded.block),
        outcome: outcome.class().to_string(),
        kind: outcome.kind().map(std::borrow::Cow::into_owned),
        steps: told.steps,
        steps_left_out: told.left_out,
        path: told.path,
        threads: (observation.end == End::Completed || !corruption.launches.is_empty())
            .then(|| other_threads(&expected, &found, threads)),
        launches: with_blocks(target, fault, observation.end == End::Completed, corruption.launches),
        copies: corruption.copies,
        observation,
    })
}

/// How many bytes of two memories of a block differ.
fn differing(golden: &[u8], found: &[u8]) -> u64 {
    golden.iter().zip(found).filter(|(golden, found)| golden != found).count() as u64
}

/// The threads of the block that computed something else.
fn other_threads(golden: &Log, found: &Log, threads: usize) -> Share {
    let digests = golden.digests.iter().zip(&found.digests).take(threads);
    Share { count: digests.filter(|(golden, found)| golden != found).count() as u64, of: threads as u64 }
}

/// Adds how many blocks of each launch the corruption came into. A launch in which blocks read differing bytes, at whose
/// end nothing differs any more, is added, too, if the program came to its end.
fn with_blocks(
    target: &CapsuleTarget,
    fault: &Fault,
    completed: bool,
    mut launches: Vec<LaunchCorruption>,
) -> Vec<LaunchCorruption> {
    let golden: &Golden = target.golden_run();
    if golden.runs_whole() {
        return launches;
    }
    let mut delta = Delta::new(golden, target.index());
    if delta.run(fault).is_err() {
        return launches;
    }
    for (&number, &count) in delta.executed() {
        let launch = &golden.launches[number];
        let blocks = Some(Share { count, of: golden.recorded(launch).blocks() });
        match launches.iter_mut().find(|corruption| corruption.launch as usize == number) {
            Some(corruption) => corruption.blocks = blocks,
            None if !completed => {}
            None => launches.push(LaunchCorruption {
                launch: number as u32,
                kernel: launch.program.name.clone(),
                blocks,
                bytes: 0,
                allocations: Vec::new(),
                outside: None,
            }),
        }
    }
    launches.sort_by_key(|corruption| corruption.launch);
    launches
}
