//! Kernels with protection written into them do what they did before, and notice faults.

use campaign::config::SelectionWords;
use campaign::{Planner, RunIndex};
use capsule::{Capsule, InstructionOrigin, RecordedModule};
use facts::Pc;
use inject::site::fault_of;
use inject::{CapsuleTarget, Golden, Machine, Strategy};
use isa::FunctionId;
use methods::hardening::{HardenedCapsule, RacingKernels, Scheme, harden, harden_with_loads};
use outcome::classify;
use std::collections::BTreeMap;
use std::sync::Arc;
use testkit::hardened::{HardenedKernel, OriginalKernel};
use testkit::random_kernels::{Forms, Kernel};
use testkit::tiers::{compare, target};

fn hardened(name: &str, scheme: Scheme) -> Result<HardenedCapsule, String> {
    let path = testkit::filetests("../workloads").join(format!("{name}/{name}.capsule"));
    harden(&Capsule::open(path).unwrap(), scheme, None).map_err(|error| format!("{name}: failed to {error}"))
}

/// The same with loads that are executed twice, where no threads share memory by the code or by the golden run.
fn hardened_with_loads(name: &str, scheme: Scheme) -> Result<HardenedCapsule, String> {
    let path = testkit::filetests("../workloads").join(format!("{name}/{name}.capsule"));
    let capsule = Capsule::open(path).unwrap();
    let golden = Golden::run_on(Arc::new(capsule.clone()), Machine::default()).map_err(|error| error.to_string())?;
    let made = harden_with_loads(&capsule, scheme, &RacingKernels::of(&golden), None);
    made.map_err(|error| format!("{name}, loads: failed to {error}"))
}

/// A golden run fails if a copy to the host differs from the recording's. Each workload is hardened by one scheme, which the
/// seed chooses, or by one with load duplication: as many seeds in a row as there are of both cover all.
#[test]
fn every_workload_gives_the_same_bits() {
    let numbered: Vec<(usize, String)> = crate::workloads().into_iter().enumerate().collect();
    let failures = testkit::in_parallel(&numbered, |(number, name)| {
        let loads = Scheme::INSTRUCTIONS.map(|scheme| (scheme, true));
        let schemes: Vec<(Scheme, bool)> = Scheme::in_threads().map(|scheme| (scheme, false)).chain(loads).collect();
        let (scheme, loads) = schemes[(number + crate::seed() as usize) % schemes.len()];
        let word = scheme.word();
        let made = if loads { hardened_with_loads(name, scheme)? } else { hardened(name, scheme)? };
        let coverage = &made.coverage;
        let mut left = coverage.refused.iter().chain(&coverage.refused_functions);
        if let Some(left) = left.next() {
            return Err(format!("{name}, {word}: {} is left as it is: {}", left.name, left.reason));
        }
        target(made.capsule).map(|_| ()).map_err(|error| format!("{name}, {word}: {error}"))
    });
    let failures: Vec<String> = failures.into_iter().filter_map(Result::err).collect();
    crate::report("workloads do something else where they are hardened", &failures);
}

/// What came of so many faults, by where the instruction that they hit comes from.
fn outcomes(target: &CapsuleTarget, words: &SelectionWords, runs: u64) -> BTreeMap<(&'static str, String), u64> {
    let runs: Vec<RunIndex> = (0..runs).map(RunIndex).collect();
    let mut counts = BTreeMap::new();
    let mut runner = target.runner(Strategy::Auto);
    let golden = target.golden_run();
    for site in target.plan(&runs, words, 1).unwrap() {
        let fault = fault_of(&site).unwrap();
        let observation = runner.run(&fault).unwrap();
        let launch = &golden.launches()[fault.launch as usize];
        let module = &golden.capsule().modules[golden.recorded(launch).module.0 as usize];
        let instruction = &launch.program.instructions[site.spot.pc as usize];
        let origin = match module.origin(instruction.function.0, instruction.pc.0) {
            Some(InstructionOrigin::Original(pc)) if !is_doubled(module, instruction.function.0, pc) => "uncovered",
            Some(InstructionOrigin::Original(_)) => "original",
            Some(InstructionOrigin::Duplicate(_)) => "duplicate",
            Some(InstructionOrigin::Copy(_)) => "copy",
            Some(InstructionOrigin::Check(_)) => "check",
            Some(InstructionOrigin::Notify) => "notify",
            Some(InstructionOrigin::Entry) => "entry",
            None => "unprotected",
        };
        let last = instruction.facts.as_ref().unwrap().protection.names().last();
        let set = if origin == "original" { "covered" } else { origin };
        assert_eq!(last.and_then(|name| name.strip_prefix("protection:")), Some(set));
        let outcome = classify(&observation, &target.criteria());
        *counts.entry((origin, format!("{outcome:?}"))).or_insert(0) += 1;
    }
    counts
}

/// Whether what an instruction computes is computed twice. Of other values nothing knows whether they are right.
fn is_doubled(module: &RecordedModule, function: u32, pc: u32) -> bool {
    let functions = module.hardened.iter().filter(|hardened| hardened.function == function);
    functions.flat_map(|hardened| &hardened.origins).any(|origin| *origin == InstructionOrigin::Duplicate(pc))
}

#[test]
fn faults_in_what_was_added_corrupt_nothing_and_faults_in_what_was_there_are_noticed() {
    for (scheme, name) in
        Scheme::INSTRUCTIONS.into_iter().flat_map(|scheme| [(scheme, "pathfinder"), (scheme, "matmul")])
    {
        let target = target(hardened(name, scheme).unwrap().capsule).unwrap();
        let counts = outcomes(&target, &SelectionWords::default(), 500);
        let corrupted = |origin: &str| {
            let these = counts.iter().filter(|((from, outcome), _)| *from == origin && outcome.contains("Sdc"));
            these.map(|(_, count)| count).sum::<u64>()
        };
        for origin in ["original", "duplicate", "copy", "check", "entry", "notify"] {
            assert_eq!(corrupted(origin), 0, "{name}, {}, {origin}: {counts:#?}", scheme.word());
        }
        let detected =
            |((origin, outcome), _): (&(&str, String), &u64)| *origin == "original" && outcome.contains("Detected");
        assert!(counts.iter().any(detected), "{name}, {}: {counts:#?}", scheme.word());
    }
}

/// A value that is wrong and compared twice is no difference to a signature that gathers by exclusive or.
#[test]
fn a_signature_that_gathers_by_exclusive_or_misses_what_one_that_gathers_by_or_notices() {
    for [or, xor] in [[Scheme::FastsigDrdv, Scheme::XorsigDrdv], [Scheme::FastsigSriv, Scheme::XorsigSriv]] {
        let [or, xor] = [or, xor].map(|scheme| {
            let target = target(hardened("pathfinder", scheme).unwrap().capsule).unwrap();
            let counts = outcomes(&target, &SelectionWords::default(), 500);
            let count = |end: &str| {
                let these = counts.iter().filter(|((from, outcome), _)| *from == "original" && outcome.contains(end));
                these.map(|(_, count)| count).sum::<u64>()
            };
            [count("Detected"), count("Sdc")]
        });
        assert!(
            or[0] > xor[0] && or[1] == 0 && xor[1] > 0,
            "detected and corrupted: {or:?} by or, {xor:?} by exclusive or"
        );
    }
}

#[test]
fn faults_in_loads_that_are_executed_twice_corrupt_nothing() {
    for scheme in Scheme::INSTRUCTIONS {
        let made = hardened_with_loads("matmul", scheme).unwrap();
        let loads = made.coverage.loads.clone().unwrap();
        assert!(loads.twice > 0 && loads.once == 0 && loads.single.is_empty(), "{loads:?}");
        let target = target(made.capsule).unwrap();
        let words =
            SelectionWords { group: ["load_global", "load_shared"].map(str::to_owned).into(), ..Default::default() };
        let counts = outcomes(&target, &words, 200);
        assert!(
            counts.keys().all(|(origin, outcome)| *origin != "uncovered" && !outcome.contains("Sdc")),
            "{counts:#?}"
        );
        assert!(counts.keys().any(|(_, outcome)| outcome.contains("Detected")), "{counts:#?}");
    }
}

#[test]
fn threads_that_share_memory_keep_their_loads_single() {
    let made = hardened_with_loads("reduce", Scheme::Drdv).unwrap();
    let loads = made.coverage.loads.unwrap();
    assert!(loads.twice > 0 && loads.once > 0 && loads.single.len() == 2, "{loads:?}");
    assert!(
        loads.single.iter().all(|it| it.reason.contains("share memory") && it.reason.contains("atom.")),
        "{loads:?}"
    );
}

/// Warps add to the same words without an atomic: a second load may find what another one has written after the first.
#[test]
fn kernels_that_race_keep_their_loads_single() {
    let path = testkit::filetests("kernels/races.ptx");
    let script = testkit::kernels::read(&path, &std::fs::read_to_string(&path).unwrap()).unwrap();
    let capsule = testkit::kernels::capsule_of(&script).unwrap();
    let racing = RacingKernels::of(&Golden::run(Arc::clone(&capsule)).unwrap());
    let loads = |racing: &RacingKernels| {
        let made = harden_with_loads(&capsule, Scheme::Drdv, racing, None).unwrap();
        made.coverage.loads.unwrap()
    };
    let (found, otherwise) = (loads(&racing), loads(&RacingKernels::default()));
    assert_eq!([(found.twice, found.once), (otherwise.twice, otherwise.once)], [(0, 3), (3, 0)]);
    assert!(found.single[0].reason.contains("data race of `race`: "), "{found:?}");
}

#[test]
fn every_engine_sees_that_a_fault_is_noticed() {
    for scheme in Scheme::INSTRUCTIONS {
        let target = target(hardened("pathfinder", scheme).unwrap().capsule).unwrap();
        let compared = compare(&target, &SelectionWords::default(), 200, 3).unwrap();
        crate::report("faults on which the tiers disagree", &compared.disagreements);
    }
}

/// Each kernel is hardened by one scheme; the seed chooses the kernels and shifts the schemes.
#[test]
fn random_kernels_give_the_same_bits() {
    let (forms, seed) = (Forms::all().unwrap(), crate::seed());
    let failures = testkit::in_parallel(&(0..300).collect::<Vec<u64>>(), |&number| {
        let schemes: Vec<Scheme> = Scheme::in_threads().collect();
        let scheme = schemes[(number.wrapping_add(seed)) as usize % schemes.len()];
        let kernels = [Kernel::new(&forms, seed, number), Kernel::of_sums(seed, number)];
        let found = kernels.iter().filter_map(|kernel| difference(kernel, scheme, &|_, _| true));
        let with_loads = Scheme::INSTRUCTIONS[(number.wrapping_add(seed)) as usize % Scheme::INSTRUCTIONS.len()];
        let loads = kernels.iter().filter_map(|kernel| {
            let found = OriginalKernel::new(kernel).unwrap().compare_with_loads(with_loads, &|_, _| true)?;
            (found != HardenedKernel::Same).then(|| format!("with loads, {}: {found:?}", with_loads.word()))
        });
        found.chain(loads).map(|what| format!("kernel {number}, {}: {what}", scheme.word())).collect::<Vec<_>>()
    });
    crate::report("random kernels do something else where they are hardened", &failures.concat());
}

/// Kernels of sums alone are paired; the others communicate within a warp, and are refused or do the same.
#[test]
fn random_kernels_give_the_same_bits_in_pairs_of_lanes_or_are_refused() {
    let (forms, seed) = (Forms::all().unwrap(), crate::seed());
    let found = testkit::in_parallel(&(0..100).collect::<Vec<u64>>(), |&number| {
        let scheme = Scheme::LANES[(number.wrapping_add(seed)) as usize % Scheme::LANES.len()];
        [Kernel::of_sums(seed, number), Kernel::new(&forms, seed, number)]
            .map(|kernel| (number, scheme, OriginalKernel::new(&kernel).unwrap().compare(scheme, &|_, _| true)))
    });
    let failures = found.iter().flatten().filter_map(|(number, scheme, found)| match found {
        HardenedKernel::Differs(what) => Some(format!("kernel {number}, {}: {what}", scheme.word())),
        _ => None,
    });
    crate::report("random kernels do something else in pairs of lanes", &failures.collect::<Vec<_>>());
    let same = found.iter().flatten().filter(|(.., found)| *found == HardenedKernel::Same).count();
    assert!(same >= 90, "{same}");
}

/// The difference that hardening makes to a kernel, or the reason why it is not hardened.
pub(crate) fn difference(kernel: &Kernel, scheme: Scheme, chosen: &dyn Fn(FunctionId, Pc) -> bool) -> Option<String> {
    match OriginalKernel::new(kernel).unwrap().compare(scheme, chosen) {
        HardenedKernel::Same => None,
        HardenedKernel::Refused(reason) => Some(reason.to_string()),
        HardenedKernel::Differs(what) => Some(what),
    }
}
