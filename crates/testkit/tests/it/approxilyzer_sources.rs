//! Whether error sites in registers that instructions read are what brute force over all of them finds.

use super::approxilyzer::{estimated, kernel, read_registers, truth};
use fault::{Fault, Model, Scope, Target};
use inject::threads::{PathDestinations, PathUse, TraceStep, traces};
use inject::{CapsuleTarget, GoldenLaunch, Runner, Strategy};
use outcome::{Class, Outcome, classify};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Kernels with reads of all kinds: guards, later uses, calls, shuffles, narrower stores, matrices, wide registers.
pub(super) const KERNELS: [&str; 9] = [
    "inject_destinations",
    "inject_loops",
    "divergence",
    "guards",
    "calls",
    "predicates",
    "indirect",
    "store_widths",
    "meet_in_calls",
];

/// Runs faults by full re-execution, each once.
pub(super) struct BruteForce<'a> {
    capsule: &'a CapsuleTarget,
    runner: Runner<'a>,
    known: BTreeMap<String, Outcome>,
}

impl<'a> BruteForce<'a> {
    pub(super) fn of(capsule: &'a CapsuleTarget) -> Self {
        Self { capsule, runner: capsule.runner(Strategy::Full), known: BTreeMap::new() }
    }

    pub(super) fn outcome(&mut self, at: &ThreadPath<'_>, dynamic: u64, target: Target, bit: u32) -> Outcome {
        let size = self.capsule.golden_run().threads_per_block(at.launch) as u64;
        let fault = Fault {
            isa: at.launch.isa,
            launch: at.number,
            cta: at.thread / size,
            thread: (at.thread % size) as u32,
            dynamic,
            target,
            model: Model::single(bit),
            scope: Scope::Thread,
        };
        let (runner, criteria) = (&mut self.runner, self.capsule.criteria());
        let run = || classify(&runner.run(&fault).unwrap(), &criteria);
        *self.known.entry(fault.to_string()).or_insert_with(run)
    }
}

/// The path of a thread.
pub(super) struct ThreadPath<'a> {
    pub(super) launch: &'a GoldenLaunch,
    pub(super) number: u32,
    pub(super) thread: u64,
    pub(super) path: &'a [TraceStep],
}

/// Calls `each` with the path of every thread of a capsule.
pub(super) fn paths(capsule: &CapsuleTarget, mut each: impl FnMut(&ThreadPath<'_>)) {
    let golden = capsule.golden_run();
    for (number, launch) in (0..).zip(golden.launches()) {
        let threads: Vec<u64> = (0..launch.counts().threads()).collect();
        traces(golden, launch, &threads, |thread, path| each(&ThreadPath { launch, number, thread, path }));
    }
}

/// Bits of an operand that tests look at: the lowest, the highest, and some between.
fn some(from: u32, to: u32) -> impl Iterator<Item = u32> {
    (from..to).filter(move |bit| (bit - from).is_multiple_of(5) || bit + 1 == to)
}

#[test]
fn a_definition_ends_as_its_first_use_and_bits_that_are_not_read_are_masked() {
    let (mut equal, mut narrow) = (0, 0);
    for name in KERNELS {
        let capsule = kernel(name);
        let mut brute = BruteForce::of(&capsule);
        paths(&capsule, |at| {
            let found = PathDestinations::of(at.launch).sites(at.launch, at.path);
            for it in &found.uses {
                let Some(writer) = it.written_by.filter(|_| it.is_named) else { continue };
                let from = found.destinations[writer as usize];
                for bit in some(it.fresh_from, it.fresh_to) {
                    let used = brute.outcome(at, it.dynamic, Target::Register(it.register), bit);
                    let written = brute.outcome(at, from.dynamic, Target::Destination(from.position), bit);
                    assert_eq!(
                        (used, used.class()),
                        (written, written.class()),
                        "{name}: bit {bit} of {it:?}, {from:?}"
                    );
                    equal += 1;
                }
            }
            for it in &found.destinations {
                for bit in some(it.read_bits, it.bits) {
                    let outcome = brute.outcome(at, it.dynamic, Target::Destination(it.position), bit);
                    assert_eq!(outcome.class(), Class::Masked, "{name}: bit {bit} of {it:?}");
                    narrow += u64::from(it.read_bits > 0);
                }
            }
        });
    }
    assert!(equal > 1_000 && narrow > 10, "{equal} {narrow}");
}

#[test]
fn with_every_site_in_a_class_of_its_own_the_rates_are_those_of_all_destinations_and_sources() {
    for name in ["inject_destinations", "inject_loops", "guards"] {
        let capsule: Arc<CapsuleTarget> = kernel(name);
        let mut counts: BTreeMap<Class, u64> = BTreeMap::new();
        truth(&capsule).values().for_each(|outcome| *counts.entry(outcome.class()).or_default() += 1);
        let mut brute = BruteForce::of(&capsule);
        let mut unnamed = 0;
        paths(&capsule, |at| {
            // Guards are read before their instructions begin: what is flipped there is named elsewhere.
            let found = PathDestinations::of(at.launch).sites(at.launch, at.path);
            let mut guards: BTreeMap<u32, &PathUse> = found.uses.iter().rev().map(|it| (it.step, it)).collect();
            guards.retain(|_, it| {
                let guard = at.launch.program.facts(it.instruction).unwrap().guard;
                guard.is_some_and(|guard| guard.pred.0 == it.register)
            });
            let mut dynamic = 0;
            for (number, step) in (0..).zip(at.path) {
                let Some(facts) = at.launch.program.facts(step.instruction) else { continue };
                if !step.executed {
                    unnamed += 1;
                    continue;
                }
                for (register, bits) in read_registers(facts) {
                    if let Some(guard) = guards.get(&number).filter(|it| it.register == register) {
                        let from = guard.written_by.map(|writer| found.destinations[writer as usize]);
                        let named = guard.is_named.then_some((guard.dynamic, Target::Register(register)));
                        let from = from.map(|from| (from.dynamic, Target::Destination(from.position)));
                        match from.or(named) {
                            Some((dynamic, target)) => {
                                *counts.entry(brute.outcome(at, dynamic, target, 0).class()).or_default() += 1;
                            }
                            None => unnamed += 1,
                        }
                        continue;
                    }
                    for bit in 0..bits {
                        let outcome = brute.outcome(at, dynamic, Target::Register(register), bit);
                        *counts.entry(outcome.class()).or_default() += 1;
                    }
                }
                dynamic += 1;
            }
        });
        let json = estimated(&capsule, "coverage=1,decisions=all,apart=threads+blocks+launches");
        for class in [Class::Masked, Class::Sdc, Class::Due] {
            let expected = counts.get(&class).copied().unwrap_or_default();
            assert_eq!(json["outcomes"][class.word()]["count"], expected, "{name}: {class:?}");
        }
        assert_eq!(json["sites"]["all"], counts.values().sum::<u64>(), "{name}");
        assert_eq!(json["sites"]["heuristics"]["not_named"], unnamed, "{name}");
        let count = |key: &str| json["sites"][key].as_u64().unwrap();
        assert_eq!(count("pruned") + count("represented") + count("run") + count("not_covered"), count("all"));
    }
}
