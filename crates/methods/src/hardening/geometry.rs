//! Blocks with two lanes for each thread, as thread-level duplication needs them.

use capsule::{Capsule, Event, Launch};
use std::collections::{BTreeMap, BTreeSet};

/// The most threads that a block may have, on every GPU of NVIDIA since 2010.
const MOST_THREADS: u64 = 1024;

/// The kernels of a module some launch of which cannot have blocks of twice as many threads, each with the reason.
pub(super) fn unpaired(capsule: &Capsule, module: usize) -> BTreeMap<String, String> {
    let launches = launches(&capsule.events).filter(|launch| launch.module.0 as usize == module);
    launches.filter_map(|launch| Some((launch.kernel.clone(), obstacle(launch)?))).collect()
}

/// Doubles the blocks of all launches of these kernels, by module and name.
pub(super) fn double(capsule: &mut Capsule, kernels: &BTreeSet<(usize, String)>) {
    for event in &mut capsule.events {
        if let Event::Launch(launch) = event
            && kernels.contains(&(launch.module.0 as usize, launch.kernel.clone()))
        {
            launch.block[0] = launch.block[0].saturating_mul(2);
        }
    }
}

fn obstacle(launch: &Launch) -> Option<String> {
    let threads = launch.threads_per_block();
    if threads.saturating_mul(2) > MOST_THREADS {
        return Some(format!(
            "protect the kernel: a launch has blocks of {threads} threads, and twice as many are more than {MOST_THREADS}"
        ));
    }
    let resident = "protect the kernel: a launch needs all of its blocks resident at once, and they would be larger";
    launch.cooperative.then(|| resident.to_owned())
}

fn launches(events: &[Event]) -> impl Iterator<Item = &Launch> {
    events.iter().filter_map(|event| match event {
        Event::Launch(launch) => Some(launch),
        _ => None,
    })
}
