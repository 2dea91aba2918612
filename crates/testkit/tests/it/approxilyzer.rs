//! Whether the classes of Approxilyzer hold every error site once, and what their pilots say against exhaustive truth.

use campaign::{
    CampaignEnd, Choices, Engines, LabelColumn, Planner, RunIndex, SelectionWords, Site, Sweep, TargetSystem,
    run_in_memory,
};
use facts::Role;
use inject::threads::thread_counts;
use inject::{CapsuleTarget, Golden, Setup, Strategy, profile};
use methods::Applied;
use methods::approxilyzer::{Approxilyzer, SiteCounts};
use outcome::{Class, Outcome};
use std::collections::{BTreeMap, HashMap};
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

/// The registers that an instruction reads, each once, with the bits that it reads.
pub(super) fn read_registers(facts: &facts::Facts) -> BTreeMap<u32, u32> {
    let mut all: BTreeMap<u32, u32> = facts.guard.iter().map(|guard| (guard.pred.0, 1)).collect();
    let is_store = facts.access.is_some_and(|access| access.effect == facts::Effect::Write);
    for it in facts.operands.iter().filter(|it| it.role != Role::Destination) {
        // A stored value is listed as a source, too, of the whole register.
        let narrow = is_store && it.role == Role::Source && {
            let mut others = facts.operands.iter().filter(|other| other.register == it.register);
            others.any(|other| other.role == Role::Stored)
        };
        if !narrow {
            let bits = all.entry(it.register.0).or_default();
            *bits = it.bits.max(*bits);
        }
    }
    all
}

/// The bits of the operands of all dynamic instructions, counted instruction by instruction: those of destinations, and of
/// registers that are read.
fn sites_by_profile(capsule: &CapsuleTarget) -> [u64; 2] {
    let golden = capsule.golden_run();
    let written = |facts: &facts::Facts| facts.of_role(Role::Destination).map(|it| u64::from(it.bits)).sum::<u64>();
    let read = |facts: &facts::Facts| read_registers(facts).values().map(|&bits| u64::from(bits)).sum::<u64>();
    let profiles = profile(golden);
    let of = |bits: &dyn Fn(&facts::Facts) -> u64| {
        let of_launch = |(launch, profile): (&inject::GoldenLaunch, &inject::LaunchProfile)| {
            let counted = (0..).zip(&profile.instructions);
            counted.map(|(at, it)| it.executed * launch.program.facts(at).map_or(0, bits)).sum::<u64>()
        };
        golden.launches().iter().zip(&profiles).map(of_launch).sum()
    };
    [of(&written), of(&read)]
}

#[test]
fn every_error_site_is_pruned_represented_run_or_not_covered() {
    for (name, coverage) in [("pathfinder", 0.99), ("hotspot", 0.9), ("bfs", 0.5), ("gemm", 0.99), ("lud", 0.7)] {
        let capsule = workload(name);
        let method = method(&capsule, &format!("coverage={coverage}"));
        let SiteCounts { all, pruned, represented, run, not_covered } = method.counts();
        let [written, read] = sites_by_profile(&capsule);
        let counts = |launch| thread_counts(capsule.golden_run(), launch);
        let threads = capsule.golden_run().launches().iter().flat_map(counts);
        let guards_off: u64 = threads.map(|it| u64::from(it.guarded_off)).sum();
        let not_named = method.heuristics()["not_named"].as_u64().unwrap();
        assert_eq!(all + not_named, written + read + guards_off, "{name}");
        assert!(not_named >= guards_off, "{name}");
        let destinations = self::method(&capsule, &format!("coverage={coverage},operands=destinations"));
        assert_eq!(destinations.counts().all, written, "{name}");
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

/// A kernel that is a test of the machine.
pub(super) fn kernel(name: &str) -> Arc<CapsuleTarget> {
    let path = testkit::filetests("kernels").join(format!("{name}.ptx"));
    let script = read(&path, &std::fs::read_to_string(&path).unwrap()).unwrap();
    // Loops that a fault makes endless need not run long.
    let setup = Setup { fuel: Some(2_000), ..Setup::default() };
    Arc::new(CapsuleTarget::set_up(Golden::run(capsule_of(&script).unwrap()).unwrap(), &setup).unwrap())
}

/// Kernels that are tests of the machine: loops, divergence, guards, calls.
pub(super) fn small() -> Vec<Arc<CapsuleTarget>> {
    ["inject_destinations", "inject_loops", "divergence", "guards", "calls"].map(kernel).into()
}

/// What a campaign of all pilots makes of a capsule.
pub(super) fn estimated(capsule: &Arc<CapsuleTarget>, settings: &str) -> serde_json::Value {
    let method = method(capsule, settings);
    let choices = Choices {
        capsule: Some(capsule.opened_as().to_owned()),
        runs: Some(method.runs()),
        selection: words(settings),
        ..Choices::default()
    };
    let system = TargetSystem::from(&**capsule).planned_by(&method);
    let stop = AtomicBool::new(false);
    let (ended, results) = run_in_memory(system, &choices.settle().unwrap(), &stop, &mut |_| {}).unwrap();
    assert!(matches!(ended, CampaignEnd::Finished(_)));
    method.estimates(&results).unwrap().json
}

#[test]
fn with_every_site_in_a_class_of_its_own_the_rates_are_those_of_the_exhaustive_truth() {
    let all_apart = "coverage=1,decisions=all,apart=threads+blocks+launches,operands=destinations";
    let by_nothing = "coverage=1,control=false,stores=false,operands=destinations";
    let each: Vec<_> = small().into_iter().flat_map(|it| [(Arc::clone(&it), all_apart), (it, by_nothing)]).collect();
    for (capsule, settings) in crate::sixth(each) {
        let truth = truth(&capsule);
        let method = method(&capsule, settings);
        let SiteCounts { all, pruned, represented, run, not_covered } = method.counts();
        assert_eq!((represented, not_covered, pruned + run), (0, 0, all));
        let json = estimated(&capsule, settings);
        for class in [Class::Masked, Class::Sdc, Class::Due] {
            let expected = truth.values().filter(|outcome| outcome.class() == class).count() as u64;
            assert_eq!(json["outcomes"][class.word()]["count"], expected, "{class:?}");
        }
        assert_eq!(json["sites"]["all"], truth.len() as u64);
    }
}

#[test]
fn exact_heuristics_save_runs_and_change_no_rate() {
    for capsule in crate::sixth(small()) {
        let pruned = "coverage=1,control=false,stores=false";
        let every = "coverage=1,control=false,stores=false,unread=false,def-use=false,addresses=false";
        let [few, all] = [pruned, every].map(|settings| method(&capsule, settings));
        assert_eq!(few.counts().all, all.counts().all);
        assert!(all.counts().pruned == 0 && few.counts().pruned > 0 && all.runs() > few.runs());
        let guards = all.heuristics()["def_use"].as_u64().unwrap();
        assert_eq!((all.counts().represented, all.counts().not_covered), (guards, 0));
        let [few, all] = [pruned, every].map(|settings| estimated(&capsule, settings));
        for class in [Class::Masked, Class::Sdc, Class::Due] {
            assert_eq!(few["outcomes"][class.word()], all["outcomes"][class.word()], "{class:?}");
        }
        let kinds = few["kinds"].as_object().unwrap().values().flat_map(|of| of.as_object().unwrap().values());
        assert_eq!(kinds.map(|sites| sites.as_u64().unwrap()).sum::<u64>(), few["sites"]["all"].as_u64().unwrap());
    }
}

#[test]
fn the_mean_of_pilots_over_seeds_is_the_rate_of_all_sites() {
    const SEEDS: u64 = 300;
    for capsule in small() {
        let truth = truth(&capsule);
        let method = method(&capsule, "coverage=1,decisions=1,operands=destinations");
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
        let method = method(
            &capsule,
            "coverage=1,decisions=all,apart=threads+blocks+launches,operands=destinations,addresses=false",
        );
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
