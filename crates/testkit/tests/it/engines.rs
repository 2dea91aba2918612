//! Whether the faster tiers observe what full re-execution does, and leave the same in memory.

use campaign::config::SelectionWords;
use campaign::{Engines, Planner, RunIndex};
use capsule::Capsule;
use inject::site::fault_of;
use inject::{CapsuleTarget, Resources, Strategy, TierCheck};
use testkit::kernels::{capsule_of, read};
use testkit::random_capsules::random_capsule;
use testkit::tiers::{compare, compare_swept, target, target_of_all, target_with};

fn check(capsule: Capsule, runs: u64, seed: u64) -> Vec<String> {
    disagreements(&target(capsule).unwrap(), runs, seed)
}

fn disagreements(target: &CapsuleTarget, runs: u64, seed: u64) -> Vec<String> {
    compare(target, &SelectionWords::default(), runs, seed).unwrap().disagreements
}

fn workload(name: &str) -> Capsule {
    Capsule::open(testkit::filetests("../workloads").join(format!("{name}/{name}.capsule"))).unwrap()
}

#[test]
fn executing_only_what_a_fault_changes_is_executing_everything() {
    let failures = testkit::in_parallel(&crate::workloads(), |name| check(workload(name), 160, crate::seed()));
    crate::report("faults on which the tiers disagree", &failures.concat());
}

#[test]
fn the_tiers_agree_on_random_capsules() {
    let seed = crate::seed();
    let numbers: Vec<u64> = (0..30).collect();
    let failures = testkit::in_parallel(&numbers, |&number| check(random_capsule(seed, number).unwrap(), 40, number));
    crate::report("faults on which the tiers disagree", &failures.concat());
}

/// Lanes that meet at different instructions; blocks that wait for later ones, without a fault and only after one.
#[test]
fn lanes_and_blocks_that_wait_for_each_other_do_so_in_every_tier() {
    let names = ["meet_elsewhere", "waiting_blocks", "waiting_after_fault"];
    let failures = testkit::in_parallel(&names, |name| {
        let path = testkit::filetests("kernels").join(format!("{name}.ptx"));
        let script = read(&path, &std::fs::read_to_string(&path).unwrap()).unwrap();
        let capsule = capsule_of(&script).unwrap();
        let near = target_with(Capsule::clone(&capsule), CLOSE).unwrap();
        [check(Capsule::clone(&capsule), 60, 7), disagreements(&near, 60, 9)].concat()
    });
    crate::report("faults on which the tiers disagree", &failures.concat());
}

/// Faults whose difference makes one block of the next launch run again, one after the other.
#[test]
fn faults_in_neighbouring_bits_know_nothing_of_each_other() {
    let threads =
        [("hotspot", "launch=2,cta=5,thread=86", 160..180), ("pathfinder", "launch=7,cta=11,thread=29", 150..170)];
    let failures = testkit::in_parallel(&threads, |(name, thread, path)| {
        let target = target(workload(name)).unwrap();
        let mut tier_check = TierCheck::new(&target);
        let mut failures = Vec::new();
        for dynamic in path.clone() {
            for bit in 0..32 {
                let id = format!("{thread},dyn={dynamic},target=dst0,model=flip,bits={bit}");
                let said = tier_check.disagreement(&id.parse().unwrap()).unwrap();
                failures.extend(said.map(|said| format!("{name}, {id}: {said}")));
            }
        }
        failures
    });
    crate::report("faults on which the tiers disagree", &failures.concat());
}

#[test]
fn sweeping_all_faults_is_running_each() {
    let seed = crate::seed() + 1;
    let numbers: Vec<u64> = (0..15).collect();
    let failures = testkit::in_parallel(&numbers, |&number| {
        let target = target_of_all(random_capsule(seed, number).unwrap(), Resources::default()).unwrap();
        compare_swept(&target, 1, 100, number).unwrap().disagreements
    });
    crate::report("faults that are swept otherwise", &failures.concat());
}

/// A checkpoint after every round.
const CLOSE: Resources = Resources { memory: 1 << 30, jobs: 2, spacing: 0 };

#[test]
fn runs_that_start_from_checkpoints_and_end_at_them_are_executed_as_a_whole() {
    let seed = crate::seed() + 1;
    let numbers: Vec<u64> = (0..30).collect();
    let random = testkit::in_parallel(&numbers, |&number| {
        disagreements(&target_with(random_capsule(seed, number).unwrap(), CLOSE).unwrap(), 40, number)
    });
    let workloads = testkit::in_parallel(&["gemm", "hotspot", "pathfinder", "reduce"], |name| {
        let target = target_with(workload(name), CLOSE).unwrap();
        let found = disagreements(&target, 200, 3);
        assert!(target.memory().unwrap().checkpoints > 0, "{name}");
        found
    });
    crate::report("faults on which the tiers disagree", &[random, workloads].concat().concat());
}

/// What is left out of the index of a capsule where it may take every share of what all of it takes.
fn at_all_degrees(capsule: &Capsule, runs: u64, seed: u64) -> (Vec<String>, Vec<String>) {
    let whole = target_with(capsule.clone(), CLOSE).unwrap();
    let mut failures = disagreements(&whole, runs, seed);
    // Blocks that race run together, and nothing is indexed.
    let Some(taken) = whole.memory() else { return (failures, Vec::new()) };
    let all = taken.index + taken.checkpoints;
    let mut degrees = Vec::new();
    for share in (0..=20).rev() {
        let resources = Resources { memory: taken.golden + all * share / 20, ..CLOSE };
        let target = target_with(capsule.clone(), resources).unwrap();
        failures.extend(disagreements(&target, runs, seed + share));
        let found = target.memory().unwrap();
        assert!(share == 0 || found.golden + found.index + found.checkpoints <= found.limit, "{found:?}");
        degrees.extend(found.coarsened);
    }
    (failures, degrees)
}

#[test]
fn with_too_little_memory_the_tiers_agree_all_the_same() {
    let mut capsules: Vec<(Capsule, u64)> = ["bfs", "hotspot"].map(|name| (workload(name), 15)).into();
    capsules.extend((0..30).map(|number| (random_capsule(3, number).unwrap(), 15)));
    let found = testkit::in_parallel(&capsules, |(capsule, runs)| at_all_degrees(capsule, *runs, 5));
    let (failures, degrees): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    let degrees = degrees.concat();
    for degree in ["no checkpoints", "reads joined", "reads by page", "executed whole"] {
        assert!(degrees.iter().any(|said| said.contains(degree)), "nothing came to `{degree}`");
    }
    crate::report("faults on which the tiers disagree", &failures.concat());
}

/// A worker runs one fault after the other, and campaigns give each worker others.
#[test]
fn what_a_run_executes_does_not_depend_on_the_runs_before_it() {
    let target = target(workload("comd")).unwrap();
    let runs: Vec<RunIndex> = (0..60).map(RunIndex).collect();
    let sites = target.plan(&runs, &SelectionWords::default(), 0).unwrap();
    let observed = |order: &mut dyn Iterator<Item = usize>| {
        let mut runner = target.runner(Strategy::Delta);
        let mut found: Vec<_> =
            order.map(|at| (at, runner.run(&fault_of(&sites[at]).unwrap()).unwrap().instructions)).collect();
        found.sort_unstable();
        found
    };
    let forward = observed(&mut (0..sites.len()));
    assert_eq!(forward, observed(&mut (0..sites.len()).rev()));
    let every_third = (0..3).flat_map(|first| observed(&mut (first..sites.len()).step_by(3)));
    let mut alone: Vec<_> = every_third.collect();
    alone.sort_unstable();
    assert_eq!(forward, alone);
}
