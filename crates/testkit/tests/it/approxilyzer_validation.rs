//! Whether pilots are held against the members of their classes as the thesis does it.

use super::approxilyzer::{small, truth};
use super::approxilyzer_stores::put_and_get;
use campaign::{CampaignEnd, Choices, RunIndex, SelectionWords, Site, TargetSystem, run_in_memory};
use inject::CapsuleTarget;
use methods::Applied;
use outcome::{Class, Outcome};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn words(settings: &str) -> SelectionWords {
    SelectionWords { method: Some(format!("approxilyzer:{settings}").parse().unwrap()), ..SelectionWords::default() }
}

fn applied(capsule: &Arc<CapsuleTarget>, settings: &str) -> Box<dyn Applied> {
    methods::registry::find("approxilyzer").unwrap().apply(capsule, &words(settings)).unwrap()
}

fn planned(method: &dyn Applied, seed: u64) -> Vec<Site> {
    let runs: Vec<RunIndex> = (0..method.runs().unwrap()).map(RunIndex).collect();
    method.plan(&runs, &SelectionWords::default(), seed).unwrap()
}

/// What the pilots of a capsule predict.
fn validated(capsule: &Arc<CapsuleTarget>, settings: &str) -> Value {
    let method = applied(capsule, settings);
    let choices = Choices {
        capsule: Some(capsule.opened_as().to_owned()),
        runs: method.runs(),
        selection: words(settings),
        ..Choices::default()
    };
    let system = TargetSystem::from(&**capsule).planned_by(&*method);
    let stop = AtomicBool::new(false);
    let (ended, results) = run_in_memory(system, &choices.settle().unwrap(), &stop, &mut |_| {}).unwrap();
    assert!(matches!(ended, CampaignEnd::Finished(_)));
    method.estimates(&results).unwrap().json["validation"].clone()
}

#[test]
fn members_are_other_sites_of_the_class_of_their_pilot_and_depend_on_the_seed() {
    for capsule in small().into_iter().chain([put_and_get()]) {
        let method = applied(&capsule, "coverage=1,decisions=1,validate=40x5@7");
        let [sites, others] = [3, 4].map(|seed| planned(&*method, seed));
        assert_eq!(sites, planned(&*method, 3));
        assert_ne!(sites, others);
        let mut pilots = 0;
        for of_pilot in sites.chunk_by(|_, next| next.weight == 1) {
            let [pilot, members @ ..] = of_pilot else { panic!("a pilot is run") };
            let place = |site: &Site| {
                let fault: fault::Fault = site.fault().unwrap().parse().unwrap();
                (site.spot.kernel.clone(), site.spot.pc, fault.target, fault.model)
            };
            let ids: BTreeSet<&str> = of_pilot.iter().filter_map(Site::fault).collect();
            assert!((1..=5).contains(&members.len()) && (members.len() as u64) < pilot.weight);
            assert_eq!(ids.len(), of_pilot.len());
            assert!(members.iter().all(|member| place(member) == place(pilot)));
            pilots += 1;
        }
        assert!((1..=80).contains(&pilots));
        let other = planned(&*applied(&capsule, "coverage=1,decisions=1,validate=40x5@8"), 3);
        assert!(pilots < 40 || sites != other);
    }
}

#[test]
fn accuracies_are_those_of_all_members_in_truth() {
    for capsule in small() {
        let truth = truth(&capsule);
        let settings = "coverage=1,decisions=0,operands=destinations,validate=1000000x1000000@1";
        let (mut right, mut all) = ([0.0; 2], 0.0);
        for of_pilot in planned(&*applied(&capsule, settings), 0).chunk_by(|_, next| next.weight == 1) {
            let class = |site: &Site| truth[site.fault().unwrap()];
            let [pilot, members @ ..] = of_pilot else { panic!("a pilot is run") };
            let share = |such: &dyn Fn(Outcome, Outcome) -> bool| {
                let predicted = members.iter().filter(|member| such(class(pilot), class(member))).count();
                predicted as f64 / members.len() as f64
            };
            let joined = |outcome: Outcome| matches!(outcome.class(), Class::Masked | Class::Due);
            let same = |one: Outcome, other: Outcome| one.class() == other.class();
            // Without criteria, every corruption is one that no criterion judges.
            right[0] += pilot.weight as f64 * share(&same);
            right[1] += pilot.weight as f64 * share(&|one, other| same(one, other) || joined(one) && joined(other));
            all += pilot.weight as f64;
        }
        let validation = validated(&capsule, settings);
        for (purpose, right) in ["any", "resilience"].into_iter().zip(right) {
            let accuracy = &validation["all"]["all"]["accuracy"][purpose]["delta_0"];
            let [rate, low, high] = ["rate", "low", "high"].map(|key| accuracy[key].as_f64().unwrap());
            assert!((rate - right / all).abs() < 1e-9, "{purpose}: {rate} for {}", right / all);
            assert!(low <= rate && rate <= high);
        }
        assert_eq!(validation["all"]["sources"]["pilots"], 0);
        assert_eq!(validation["lost"], 0);
    }
}

#[test]
fn sources_and_stored_values_are_validated_apart() {
    let validation = validated(&put_and_get(), "coverage=1,validate=30x6@2");
    let pilots = |heuristic: &str, operands: &str| validation[heuristic][operands]["pilots"].as_u64().unwrap();
    for heuristic in ["control", "stores", "all"] {
        let parts = pilots(heuristic, "destinations") + pilots(heuristic, "sources");
        assert_eq!(parts, pilots(heuristic, "all"), "{heuristic}");
    }
    assert_eq!((pilots("control", "all"), pilots("stores", "all")), (30, 30));
    assert!(pilots("control", "sources") > 0);
    assert!(validation["coverage"].as_f64().unwrap() + validation["of_one_member"].as_f64().unwrap() <= 1.0);
}
