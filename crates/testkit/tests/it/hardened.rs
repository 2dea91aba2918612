//! Kernels with protection written into them do what they did before, and notice faults.

use campaign::config::SelectionWords;
use campaign::{Planner, RunIndex};
use capsule::{Capsule, InstructionOrigin, RecordedModule};
use facts::Pc;
use inject::site::fault_of;
use inject::{CapsuleTarget, Strategy};
use isa::FunctionId;
use methods::hardening::{HardenedCapsule, Scheme, harden};
use outcome::classify;
use std::collections::BTreeMap;
use testkit::hardened::{HardenedKernel, OriginalKernel};
use testkit::random_kernels::{Forms, Kernel};
use testkit::tiers::{compare, target};

fn hardened(name: &str, scheme: Scheme) -> Result<HardenedCapsule, String> {
    let path = testkit::filetests("../workloads").join(format!("{name}/{name}.capsule"));
    harden(&Capsule::open(path).unwrap(), scheme, None).map_err(|error| format!("{name}: failed to {error}"))
}

/// A golden run fails if a copy to the host differs from the recording's. Each workload is hardened by one scheme, which the
/// seed chooses: as many seeds in a row as there are schemes cover all.
#[test]
fn every_workload_gives_the_same_bits() {
    let numbered: Vec<(usize, String)> = crate::workloads().into_iter().enumerate().collect();
    let failures = testkit::in_parallel(&numbered, |(number, name)| {
        let schemes: Vec<Scheme> = Scheme::in_threads().collect();
        let scheme = schemes[(number + crate::seed() as usize) % schemes.len()];
        let word = scheme.word();
        let made = hardened(name, scheme)?;
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
        found.map(|what| format!("kernel {number}, {}: {what}", scheme.word())).collect::<Vec<_>>()
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
