//! Whether the faster tiers observe what full re-execution does.

use campaign::config::{Engine, Selection};
use campaign::{RunIndex, Target};
use capsule::Capsule;
use inject::{CapsuleTarget, Golden};
use std::sync::Arc;

/// Faults of each workload.
const RUNS: u64 = 400;

fn check(workload: &str) -> Vec<String> {
    let path = testkit::filetests("../workloads").join(format!("{workload}/{workload}.capsule"));
    let target = CapsuleTarget::new(Golden::run(Arc::new(Capsule::open(path).unwrap())).unwrap());
    let runs: Vec<RunIndex> = (0..RUNS).map(RunIndex).collect();
    let sites = target.plan(&runs, &Selection::default(), 7).unwrap();
    let mut full = target.worker(Engine::Full).unwrap();
    let mut delta = target.worker(Engine::Delta).unwrap();
    let differs = sites.iter().filter_map(|site| {
        let (full, delta) = (full.run(site).unwrap(), delta.run(site).unwrap());
        (full.clone().seen() != delta.clone().seen())
            .then(|| format!("{workload} {}: full {full:?}, delta {delta:?}", site.id))
    });
    differs.collect()
}

#[test]
fn executing_only_what_a_fault_changes_observes_the_same() {
    let workloads = ["bfs", "blackscholes", "gemm", "hotspot", "pathfinder", "reduce"];
    let failures = testkit::in_parallel(&workloads, |workload| check(workload));
    crate::report("faults observed otherwise", &failures.concat());
}
