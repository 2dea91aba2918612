//! Whether drawn faults follow what the program executes.

use campaign::config::SelectionWords;
use campaign::{Planner, RunIndex};
use inject::profile;
use inject::site::Coordinates;
use std::collections::BTreeMap;
use testkit::workload as target;

/// Draws of each workload.
const DRAWS: u64 = 100_000;

/// An honest sampler fails a test of this level once in a hundred thousand seeds; the seed is fixed.
const LEVEL: f64 = 1e-5;

/// Cells that expect less are joined, as the approximation behind the test asks.
const SMALLEST: f64 = 5.0;

/// Whether counts by cell have the shares of the weights.
fn follows<K: Ord + std::fmt::Debug>(drawn: &BTreeMap<K, u64>, weights: &BTreeMap<K, u64>) {
    assert!(drawn.keys().all(|key| weights.contains_key(key)), "something is drawn that is never executed");
    let total: u64 = weights.values().sum();
    let (mut observed, mut expected) = (vec![0], vec![0.0]);
    for (key, &weight) in weights {
        let expects = weight as f64 / total as f64 * DRAWS as f64;
        let count = drawn.get(key).copied().unwrap_or(0);
        if expects < SMALLEST {
            observed[0] += count;
            expected[0] += expects;
        } else {
            observed.push(count);
            expected.push(expects);
        }
    }
    let fit = stats::chi_square(&observed, &expected).unwrap();
    assert!(fit.dof >= 10 && fit.p > LEVEL, "{fit:?}");
}

fn check(workload: &str) {
    let target = target(workload);
    let runs: Vec<RunIndex> = (0..DRAWS).map(RunIndex).collect();
    let sites = target.plan(&runs, &SelectionWords::default(), 1).unwrap();
    let all = fault::Selection::of_words(None, None, None, &[], &[]).unwrap();
    let (mut by_instruction, mut by_launch) = (BTreeMap::new(), BTreeMap::new());
    for (number, launch) in profile(target.golden_run()).iter().enumerate() {
        let executed = launch.instructions().filter(|(_, count)| count.executed > 0);
        for (facts, count) in executed {
            if all.holds(facts) {
                let line = facts.source.as_ref().map(|source| source.line());
                *by_instruction.entry((facts.mnemonic.to_string(), line)).or_insert(0) += count.executed;
                *by_launch.entry((number, facts.group.to_string())).or_insert(0) += count.executed;
            }
        }
    }
    let (mut drawn, mut in_launch) = (BTreeMap::new(), BTreeMap::new());
    for site in sites {
        let launch = Coordinates::of(&site).unwrap().launch as usize;
        *drawn.entry((site.spot.opcode, site.spot.line)).or_insert(0) += 1;
        *in_launch.entry((launch, site.spot.group)).or_insert(0) += 1;
    }
    follows(&drawn, &by_instruction);
    follows(&in_launch, &by_launch);
}

#[test]
fn drawn_instructions_have_their_dynamic_share() {
    for workload in ["bfs", "pathfinder", "reduce"] {
        check(workload);
    }
}

#[test]
fn strata_divide_the_population_and_give_what_they_are_named_after() {
    use campaign::config::Stratify;
    for by in [Stratify::Kernel, Stratify::Group, Stratify::Threads] {
        let target = target("bfs");
        let words = SelectionWords { stratify: Some(by), ..SelectionWords::default() };
        let strata = target.strata(&words).unwrap();
        let members: u64 = strata.iter().map(|stratum| stratum.members).sum();
        assert_eq!(members, target.members(&SelectionWords::default()).unwrap(), "{by}");
        let runs: Vec<RunIndex> = (0..600).map(RunIndex).collect();
        for (run, site) in runs.iter().zip(target.plan(&runs, &words, 3).unwrap()) {
            let number = (run.0 % strata.len() as u64) as usize;
            let Coordinates { launch, cta, thread, .. } = Coordinates::of(&site).unwrap();
            let golden = target.golden_run();
            let threads = golden.capsule().launches().nth(launch as usize).unwrap().1.threads_per_block();
            let count = golden.launches()[launch as usize].counts().get(cta * threads + u64::from(thread)).unwrap();
            let name = match by {
                Stratify::Kernel => site.spot.kernel.clone(),
                Stratify::Group => site.spot.group.clone(),
                Stratify::Threads => format!("{}: threads of {count} instructions", site.spot.kernel),
            };
            assert_eq!((site.stratum, &strata[number].name), (Some(number as u32), &name), "{:?}", site.intent);
        }
    }
}
