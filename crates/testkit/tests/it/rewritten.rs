//! A fault written into the kernel does what the same fault does that is injected: same ends, same copies to the host,
//! same value hit. With the golden run of every workload this is the proof of the rewriting.

use crate::{report, workloads};
use campaign::config::SelectionWords;
use inject::{CapsuleTarget, Golden};
use std::sync::Arc;
use testkit::rewritten::{RewritingComparison, compare, rounded_apart};
use testkit::{random_capsules, tiers, workload};

fn words(target: &str, model: &str) -> SelectionWords {
    let word = |word: &str| Some(word.to_owned());
    SelectionWords { target: word(target), model: word(model), ..SelectionWords::default() }
}

/// Faults of every target that can be written, each with another model.
const SELECTIONS: [(&str, &str); 8] = [
    ("dst", "flip"),
    ("pred", "flip"),
    ("addr", "flip"),
    ("store", "random"),
    ("src", "flip"),
    ("dst", "double-any"),
    ("src", "stuck1:0x81"),
    ("addr", "zero"),
];

fn compare_all(target: &CapsuleTarget, runs: u64) -> RewritingComparison {
    let target = &rounded_apart(target).unwrap();
    let mut all = RewritingComparison::default();
    for (kind, model) in SELECTIONS {
        let runs = if (kind, model) == SELECTIONS[0] { 4 * runs } else { runs };
        let one = compare(target, &words(kind, model), runs, 1).unwrap();
        all.faults += one.faults;
        all.ended += one.ended;
        all.disagreements.extend(one.disagreements);
        one.refused.into_iter().for_each(|(reason, count)| *all.refused.entry(reason).or_default() += count);
    }
    all
}

#[test]
fn a_written_fault_does_what_the_injected_one_does_in_every_workload() {
    // One in six, by the seed: each of them on one of six days.
    let all = testkit::in_parallel(&crate::sixth(workloads()), |name| compare_all(&workload(name), 12));
    let disagreements: Vec<String> = all.iter().flat_map(|one| one.disagreements.clone()).collect();
    report("faults do something else where they are written", &disagreements);
    let (faults, ended) = all.iter().fold((0, 0), |(faults, ended), one| (faults + one.faults, ended + one.ended));
    assert!(faults > 1000 && ended > 50, "{faults} faults, of which {ended} ended otherwise");
    let refused: Vec<&String> = all.iter().flat_map(|one| one.refused.keys()).collect();
    assert!(refused.is_empty(), "{refused:?}");
}

#[test]
fn a_written_fault_does_what_the_injected_one_does_in_random_kernels() {
    let numbers: Vec<u64> = (0..300).collect();
    // What a kernel with data races computes depends on how many instructions its threads execute.
    let all = testkit::in_parallel(&numbers, |&number| {
        let capsule = random_capsules::random_capsule(7, number).unwrap();
        let races = !Golden::run(Arc::new(capsule.clone())).unwrap().races().is_empty();
        (!races).then(|| compare_all(&tiers::target(capsule).unwrap(), 6))
    });
    let all: Vec<RewritingComparison> = all.into_iter().flatten().collect();
    assert!(all.len() >= 10, "{} of 300 random capsules have no data races", all.len());
    let disagreements: Vec<String> = all.iter().flat_map(|one| one.disagreements.clone()).collect();
    report("faults do something else where they are written", &disagreements);
    let faults: u64 = all.iter().map(|one| one.faults).sum();
    assert!(faults > 1000, "{faults}");
    let refused = all.iter().flat_map(|one| one.refused.keys());
    assert!(refused.clone().all(|reason| reason.contains("reads %clock")), "{:?}", refused.collect::<Vec<_>>());
}
