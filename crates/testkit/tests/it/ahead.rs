//! Whether looking ahead in loops comes to what executing them comes to.

use crate::hardened_parts::{choice, is_chosen};
use campaign::Planner;
use capsule::Capsule;
use inject::site::fault_of;
use inject::{CapsuleTarget, Golden, Machine, Setup, Strategy};
use methods::hardening::{Scheme, harden};
use outcome::End;
use std::sync::Arc;
use testkit::kernels::{capsule_of, read};
use testkit::tiers::SelectionWords;

/// Instructions of a run that take long enough for somebody to look ahead, and are still executed one by one in a moment.
const LONG: std::ops::Range<u64> = 100_000..4_000_000;

fn target(capsule: &Arc<Capsule>, looks_ahead: bool) -> CapsuleTarget {
    let golden = Golden::run_on(Arc::clone(capsule), Machine { looks_ahead, ..Machine::default() }).unwrap();
    let setup = Setup { fuel: Some(LONG.end as u32 * 2), ..Setup::default() };
    CapsuleTarget::set_up(golden, &setup).unwrap()
}

/// How many faults of a capsule were compared that go on for long, and where both ways disagree.
fn compare(name: &str, capsule: &Arc<Capsule>, runs: u64) -> (usize, Vec<String>) {
    let (ahead, plain) = (target(capsule, true), target(capsule, false));
    let (mut skips, mut executes) = (ahead.runner(Strategy::Delta), plain.runner(Strategy::Delta));
    let runs: Vec<campaign::RunIndex> = (0..runs).map(campaign::RunIndex).collect();
    let (mut compared, mut failures) = (0, Vec::new());
    for site in ahead.plan(&runs, &SelectionWords::default(), crate::seed()).unwrap() {
        let fault = fault_of(&site).unwrap();
        let found = skips.run(&fault).unwrap();
        // What is known not to end, or to go on for longer than anybody waits, is compared elsewhere.
        let ends = !matches!(found.end, End::Hang { .. } | End::OutOfFuel { .. });
        if ends && LONG.contains(&found.instructions) {
            compared += 1;
            let expected = executes.run(&fault).unwrap();
            if expected != found {
                failures.push(format!("{name}, {fault}: executed {expected:?}, looked ahead {found:?}"));
            }
        }
    }
    (compared, failures)
}

#[test]
fn a_loop_that_is_looked_ahead_in_ends_as_if_it_were_executed() {
    let names = ["pathfinder", "hotspot", "bfs", "stencil", "sssp", "pagerank", "montecarlo", "sad", "gemm", "reduce"];
    let found = testkit::in_parallel(&names, |name| {
        let path = testkit::filetests("../workloads").join(format!("{name}/{name}.capsule"));
        compare(name, &Arc::new(Capsule::open(path).unwrap()), 1000)
    });
    let compared: usize = found.iter().map(|(compared, _)| compared).sum();
    let failures: Vec<String> = found.into_iter().flat_map(|(_, failures)| failures).collect();
    crate::report("faults that end otherwise where loops are looked ahead in", &failures);
    assert!(compared > 40, "{compared}");
}

/// Duplicates, copies and comparisons of a loop of which a part is protected, as a seed chooses it, with one of the schemes.
#[test]
fn a_loop_that_is_protected_in_part_is_looked_ahead_in_as_if_it_were_executed() {
    let schemes = [Scheme::FastsigDrdv, Scheme::FastsigSriv, Scheme::Drdv];
    let cases: Vec<(&str, Scheme)> =
        ["pathfinder", "lud", "hotspot"].into_iter().flat_map(|name| schemes.map(|scheme| (name, scheme))).collect();
    let found = testkit::in_parallel(&cases, |&(name, scheme)| {
        let path = testkit::filetests("../workloads").join(format!("{name}/{name}.capsule"));
        let original = Capsule::open(path).unwrap();
        let part = choice(&original, |function, pc| is_chosen(crate::seed(), 30, function, pc));
        let hardened = harden(&original, scheme, Some(&part)).unwrap().capsule;
        compare(&format!("{name}, {}", scheme.word()), &Arc::new(hardened), 1000)
    });
    let compared: usize = found.iter().map(|(compared, _)| compared).sum();
    let failures: Vec<String> = found.into_iter().flat_map(|(_, failures)| failures).collect();
    crate::report("faults that end otherwise where protected loops are looked ahead in", &failures);
    assert!(compared > 20, "{compared}");
}

#[test]
fn sums_of_floating_point_numbers_are_looked_ahead_in_as_if_they_were_executed() {
    let path = testkit::filetests("kernels/inject_sums.ptx");
    let script = read(&path, &std::fs::read_to_string(&path).unwrap()).unwrap();
    let (compared, failures) = compare("inject_sums", &capsule_of(&script).unwrap(), 10_000);
    crate::report("faults in sums that end otherwise where loops are looked ahead in", &failures);
    assert!(compared > 100, "{compared}");
}
