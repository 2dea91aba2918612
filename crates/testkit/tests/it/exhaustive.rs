//! Whether exhaustive campaigns give the rates that sampled ones estimate.

use campaign::config::SelectionWords;
use campaign::{Engines, Planner, RunIndex};
use capsule::Capsule;
use inject::{CapsuleTarget, Strategy};
use outcome::{Class, Outcome, classify};
use stats::{Confidence, IntervalKind, Proportion};
use testkit::tiers::target;

const CLASSES: [Class; 3] = [Class::Masked, Class::Sdc, Class::Due];
const CAMPAIGNS: u64 = 40;
const RUNS: u64 = 400;

fn selection(kernel: &str, block: &str, threads: &str) -> SelectionWords {
    let list = |text: &str| vec![text.to_owned()];
    SelectionWords { kernel: list(kernel), blocks: list(block), threads: list(threads), ..SelectionWords::default() }
}

/// The rates of all faults, each with the weight that it has in a sampled campaign.
fn exhaustive(target: &CapsuleTarget, words: &SelectionWords) -> [f64; 3] {
    let sweep = target.sweep(words).unwrap();
    let mut sweeper = target.sweeper(&Strategy::Auto.into(), words, &target.criteria()).unwrap();
    let mut weights = [0.0; 3];
    for unit in 0..sweep.units() {
        for count in sweeper.unit(unit, &|| false).unwrap().unwrap().counts {
            let operand = &sweep.operands[count.operand as usize];
            let weight = count.count as f64 / f64::from(operand.elements * operand.bits);
            let class = CLASSES.iter().position(|class| *class == count.outcome.class());
            weights[class.unwrap()] += weight;
        }
    }
    let all: f64 = weights.iter().sum();
    assert!((all - sweep.members as f64).abs() < 1e-6 * all, "{all} of {}", sweep.members);
    weights.map(|weight| weight / all)
}

/// How many faults of a sampled campaign come to each class.
fn sampled(target: &CapsuleTarget, words: &SelectionWords, seed: u64) -> [u64; 3] {
    let runs: Vec<RunIndex> = (0..RUNS).map(RunIndex).collect();
    let mut runner = target.runner(Strategy::Auto);
    let mut counts = [0; 3];
    for site in target.plan(&runs, words, seed).unwrap() {
        let observation = runner.run(&site.fault().unwrap().parse().unwrap()).unwrap();
        let outcome: Outcome = classify(&observation, &target.criteria());
        counts[CLASSES.iter().position(|class| *class == outcome.class()).unwrap()] += 1;
    }
    counts
}

#[test]
fn the_rates_of_all_faults_lie_in_the_intervals_of_samples() {
    let cases = [
        ("blackscholes", selection("price", "0", "0-31")),
        ("bfs", selection("expand#3", "20", "0-31")),
        ("gemm", selection("gemm", "7", "32-39")),
    ];
    let failures = testkit::in_parallel(&cases, |(name, words)| {
        let path = testkit::filetests("../workloads").join(format!("{name}/{name}.capsule"));
        let target = target(Capsule::open(path).unwrap()).unwrap();
        let rates = exhaustive(&target, words);
        let mut inside = 0;
        for seed in 0..CAMPAIGNS {
            for (count, rate) in sampled(&target, words, seed).into_iter().zip(rates) {
                let proportion = Proportion::from_counts(count, RUNS - count);
                let interval = proportion.interval(IntervalKind::Wilson, Confidence::PERCENT_95);
                inside += u64::from((interval.low..=interval.high).contains(&rate));
            }
        }
        // 95 % of them should; the three of one campaign depend on each other.
        let said = format!("{name}: {inside} of {} intervals hold the rate, {rates:?}", 3 * CAMPAIGNS);
        (inside < 3 * CAMPAIGNS * 9 / 10).then_some(said)
    });
    crate::report("workloads", &failures.into_iter().flatten().collect::<Vec<_>>());
}
