//! What the simulator says of faults, on as many threads as there is work for.

use crate::row::{Simulated, SimulatedEnd};
use crate::worker::joined;
use fault::Fault;
use inject::{CapsuleTarget, CopyWatch, InjectError, Strategy};
use outcome::{Class, End, Observation};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Runs every fault by the fastest engine, and those that corrupt an output once more as a whole, for the bytes of all
/// copies; by text id. `done` is told after each. When the flag is raised, the rest is left out.
///
/// # Errors
/// If a fault cannot be run.
pub fn simulate(
    target: &CapsuleTarget,
    faults: &[&Fault],
    jobs: usize,
    stop: &AtomicBool,
    done: &(dyn Fn() + Sync),
) -> Result<BTreeMap<String, Simulated>, InjectError> {
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut runner, mut watch) = (target.runner(Strategy::Auto), CopyWatch::new(target.golden_run()));
        let mut all = Vec::new();
        while let Some(fault) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let observation = runner.run(fault)?;
            let simulated = end(target, &mut watch, fault, &observation)?;
            all.push((fault.to_string(), (observation, simulated)));
            done();
        }
        Ok(all)
    };
    let parts: Vec<Result<Vec<_>, InjectError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let mut simulated = BTreeMap::new();
    for part in parts {
        simulated.extend(part?);
    }
    Ok(simulated)
}

/// What an observation comes to. Copies that no fault has changed are the golden ones.
fn end(
    target: &CapsuleTarget,
    watch: &mut CopyWatch<'_>,
    fault: &Fault,
    observation: &Observation,
) -> Result<SimulatedEnd, InjectError> {
    let golden = target.golden_run();
    let criteria = target.criteria();
    let simulated = SimulatedEnd::of(observation, &criteria, None);
    let copies = match observation.end {
        // Copies that are no outputs may differ where the outputs do not.
        End::Completed if simulated.class == Class::Sdc || golden.copies().len() > golden.outputs().len() => {
            Some(joined(watch.run(fault)?.1.into_iter()))
        }
        End::Completed => Some(joined(golden.copies().iter().map(|copy| capsule::Digest::of(&copy.bytes)))),
        _ => None,
    };
    Ok(SimulatedEnd { copies, ..simulated })
}
