//! Whether the faster tiers observe what full re-execution does, and leave the same in memory.

use campaign::config::Selection;
use capsule::Capsule;
use testkit::random_capsules::random_capsule;
use testkit::tiers::{compare, compare_swept, target};

fn check(capsule: Capsule, runs: u64, seed: u64) -> Vec<String> {
    compare(&target(capsule).unwrap(), &Selection::default(), runs, seed).unwrap().disagreements
}

#[test]
fn executing_only_what_a_fault_changes_is_executing_everything() {
    let workloads = ["bfs", "blackscholes", "gemm", "hotspot", "pathfinder", "reduce"];
    let failures = testkit::in_parallel(&workloads, |workload| {
        let path = testkit::filetests("../workloads").join(format!("{workload}/{workload}.capsule"));
        check(Capsule::open(path).unwrap(), 400, 7)
    });
    crate::report("faults on which the tiers disagree", &failures.concat());
}

#[test]
fn the_tiers_agree_on_random_capsules() {
    let numbers: Vec<u64> = (0..60).collect();
    let failures = testkit::in_parallel(&numbers, |&number| check(random_capsule(1, number).unwrap(), 40, number));
    crate::report("faults on which the tiers disagree", &failures.concat());
}

#[test]
fn sweeping_all_faults_is_running_each() {
    let numbers: Vec<u64> = (0..60).collect();
    let failures = testkit::in_parallel(&numbers, |&number| {
        compare_swept(&target(random_capsule(2, number).unwrap()).unwrap(), 1, 100, number).unwrap().disagreements
    });
    crate::report("faults that are swept otherwise", &failures.concat());
}
