//! Whether the classes of Approxilyzer hold every error site once, and what their pilots say against exhaustive truth.

use campaign::{
    CampaignEnd, Choices, Engines, LabelColumn, Planner, RunIndex, SelectionWords, Site, Sweep, TargetSystem,
    run_in_memory,
};
use facts::Role;
use inject::{CapsuleTarget, Golden, Setup, Strategy, profile};
use methods::Applied;
use methods::approxilyzer::{Approxilyzer, SiteCounts};
use outcome::{Class, Outcome};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use testkit::kernels::{capsule_of, read};
use testkit::workload;

fn words(settings: &str) -> SelectionWords {
    SelectionWords { method: Some(format!("approxilyzer:{settings}").parse().unwrap()), ..SelectionWords::default() }
}

pub(super) fn method(capsule: &Arc<CapsuleTarget>, settings: &str) -> Approxilyzer {
    Approxilyzer::new(capsule, &words(settings)).unwrap()
}

pub(super) fn all_sites(method: &Approxilyzer, seed: u64) -> Vec<Site> {
    let runs: Vec<RunIndex> = (0..method.runs()).map(RunIndex).collect();
    method.plan(&runs, &SelectionWords::default(), seed).unwrap()
}

/// The bits of the destinations of all dynamic instructions, counted instruction by instruction.
fn sites_by_profile(capsule: &CapsuleTarget) -> u64 {
    let golden = capsule.golden_run();
    let bits = |facts: &facts::Facts| facts.of_role(Role::Destination).map(|it| u64::from(it.bits)).sum::<u64>();
    let profiles = profile(golden);
    let launches = golden.launches().iter().zip(&profiles);
    let of_launch = |(launch, profile): (&inject::GoldenLaunch, &inject::LaunchProfile)| {
        let counted = (0..).zip(&profile.instructions);
        counted.map(|(at, it)| it.executed * launch.program.facts(at).map_or(0, bits)).sum::<u64>()
    };
    launches.map(of_launch).sum()
}

#[test]
fn every_error_site_is_pruned_represented_run_or_not_covered() {
    for (name, coverage) in [("pathfinder", 0.99), ("hotspot", 0.9), ("bfs", 0.5), ("gemm", 0.99), ("lud", 0.7)] {
        let capsule = workload(name);
        let method = method(&capsule, &format!("coverage={coverage}"));
        let SiteCounts { all, pruned, represented, run, not_covered } = method.counts();
        assert_eq!(all, sites_by_profile(&capsule), "{name}");
        assert_eq!(pruned + represented + run + not_covered, all, "{name}");
        let covered: u64 = all_sites(&method, 1).iter().map(|site| site.weight).sum();
        assert_eq!((covered, method.runs()), (represented + run, run), "{name}");
        assert!((pruned + covered) as f64 >= coverage * all as f64, "{name}");
        assert!(run > 0 && represented > 0, "{name}");
    }
}

/// The outcome of every fault of a capsule, by its id.
pub(super) fn truth(capsule: &CapsuleTarget) -> HashMap<String, Outcome> {
    let words = SelectionWords::default();
    let sweep: Sweep = capsule.sweep(&words).unwrap();
    let mut sweeper = capsule.sweeper(&Strategy::Auto.into(), &words, &capsule.criteria()).unwrap();
    let mut truth = HashMap::new();
    for unit in 0..sweep.units() {
        let outcomes = sweeper.unit(unit, &|| false).unwrap().unwrap().outcomes;
        for (fault, code) in capsule.faults_of(&words, unit).unwrap().iter().zip(outcomes) {
            truth.insert(fault.to_string(), Outcome::from_code(code).unwrap());
        }
    }
    truth
}

/// Kernels that are tests of the machine: loops, divergence, guards, calls.
pub(super) fn small() -> Vec<Arc<CapsuleTarget>> {
    let of = |name: &str| {
        let path = testkit::filetests("kernels").join(format!("{name}.ptx"));
        let script = read(&path, &std::fs::read_to_string(&path).unwrap()).unwrap();
        // Loops that a fault makes endless need not run long.
        let setup = Setup { fuel: Some(2_000), ..Setup::default() };
        Arc::new(CapsuleTarget::set_up(Golden::run(capsule_of(&script).unwrap()).unwrap(), &setup).unwrap())
    };
    ["inject_destinations", "inject_loops", "divergence", "guards", "calls"].map(of).into()
}

#[test]
fn with_every_site_in_a_class_of_its_own_the_rates_are_those_of_the_exhaustive_truth() {
    for capsule in small() {
        let truth = truth(&capsule);
        let settings = "coverage=1,decisions=all,apart=threads+blocks+launches";
        let method = method(&capsule, settings);
        let SiteCounts { all, pruned, represented, run, not_covered } = method.counts();
        assert_eq!((represented, not_covered, pruned + run), (0, 0, all));
        let choices = Choices {
            capsule: Some(capsule.opened_as().to_owned()),
            runs: Some(run),
            selection: words(settings),
            ..Choices::default()
        };
        let system = TargetSystem::from(&*capsule).planned_by(&method);
        let stop = AtomicBool::new(false);
        let (ended, results) = run_in_memory(system, &choices.settle().unwrap(), &stop, &mut |_| {}).unwrap();
        assert!(matches!(ended, CampaignEnd::Finished(_)));
        let json = method.estimates(&results).unwrap().json;
        for class in [Class::Masked, Class::Sdc, Class::Due] {
            let expected = truth.values().filter(|outcome| outcome.class() == class).count() as u64;
            assert_eq!(json["outcomes"][class.word()]["count"], expected, "{class:?}");
        }
        assert_eq!(json["sites"]["all"], truth.len() as u64);
    }
}

#[test]
fn the_mean_of_pilots_over_seeds_is_the_rate_of_all_sites() {
    const SEEDS: u64 = 300;
    for capsule in small() {
        let truth = truth(&capsule);
        let method = method(&capsule, "coverage=1,decisions=1");
        assert!(method.runs() < method.counts().all / 2);
        let corrupt = |id: &str| truth[id].class() == Class::Sdc;
        let share = |sites: u64| sites as f64 / method.counts().all as f64;
        let estimate = |seed| {
            let sites = all_sites(&method, seed);
            share(sites.iter().filter(|site| corrupt(site.fault().unwrap())).map(|site| site.weight).sum())
        };
        let estimates: Vec<f64> = (0..SEEDS).map(estimate).collect();
        let mean = estimates.iter().sum::<f64>() / SEEDS as f64;
        let variance = estimates.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (SEEDS - 1) as f64;
        let expected = share(truth.values().filter(|outcome| outcome.class() == Class::Sdc).count() as u64);
        let error = (variance / SEEDS as f64).sqrt();
        assert!((mean - expected).abs() <= 4.5 * error + 1e-12, "{mean} for {expected}, ± {error}");
    }
}

#[test]
fn pruned_sites_are_masked_and_pilots_are_the_same_for_a_seed() {
    for capsule in small() {
        let truth = truth(&capsule);
        let method = method(&capsule, "coverage=1,decisions=all,apart=threads+blocks+launches");
        let run: Vec<Site> = all_sites(&method, 3);
        let known: std::collections::HashSet<&str> = run.iter().filter_map(Site::fault).collect();
        let pruned: Vec<&String> = truth.keys().filter(|id| !known.contains(id.as_str())).collect();
        assert_eq!(pruned.len() as u64, method.counts().pruned);
        assert!(pruned.iter().all(|id| truth[*id].class() == Class::Masked));
        assert_eq!(all_sites(&method, 3), run);
        let labels: Vec<&str> = method.labels().iter().map(|LabelColumn { name, .. }| name.as_ref()).collect();
        assert_eq!(labels[0], "launch");
    }
}
