//! Whether purity against an exhaustive campaign is what brute force over all members of all classes gives.

use super::approxilyzer::{all_sites, method, small, truth};
use super::approxilyzer_stores::put_and_get;
use campaign::{CampaignEnd, Choices, Results, SelectionWords, Site, TargetSystem, run_in_memory};
use inject::{CapsuleTarget, Golden};
use methods::approxilyzer::{Purity, Settings, Truth};
use methods::kit::{MethodSettings, StudyError};
use outcome::{Class, Outcome};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use testkit::kernels::{capsule_of, read};

pub(super) static RUNNING: AtomicBool = AtomicBool::new(false);

/// The results of a campaign in memory.
fn results(capsule: &CapsuleTarget, choices: Choices) -> Results {
    let choices = Choices { capsule: Some(capsule.opened_as().to_owned()), ..choices };
    let stop = AtomicBool::new(false);
    let system = TargetSystem::from(capsule);
    let (ended, results) = run_in_memory(system, &choices.settle().unwrap(), &stop, &mut |_| {}).unwrap();
    assert!(matches!(ended, CampaignEnd::Finished(_)));
    results
}

pub(super) fn exhaustive(capsule: &CapsuleTarget, selection: SelectionWords) -> Results {
    results(capsule, Choices { exhaustive: true, selection, ..Choices::default() })
}

pub(super) fn purity(capsule: &CapsuleTarget, results: &Results, settings: &str) -> Value {
    let truth = Truth::of(capsule, results, &[], &RUNNING).unwrap();
    let settings = Settings::of(&format!("approxilyzer:{settings}").parse().unwrap()).unwrap();
    Purity::of(&truth, &settings).unwrap().document(&[], capsule.golden_run())
}

fn share(document: &Value, of: &str) -> f64 {
    document[of].as_f64().unwrap()
}

#[test]
fn where_every_site_is_a_class_of_its_own_every_pilot_is_right() {
    for capsule in small() {
        let results = exhaustive(&capsule, SelectionWords::default());
        let document = purity(&capsule, &results, "coverage=1,decisions=all,apart=threads+blocks+launches");
        let SiteAccount { sites, pruned, failed, wrong } = SiteAccount::of(&document);
        assert_eq!((sites, failed, wrong), (truth(&capsule).len() as u64, 0, 0));
        let classes = &document["all"]["classes"];
        assert_eq!(
            (&classes["pilots"], &classes["sites"]),
            (&Value::from(sites - pruned), &Value::from(sites - pruned))
        );
        for of in ["right_class", "right_outcome", "pure_class", "pure_outcome"] {
            assert_eq!(classes[of], 1.0, "{of}");
        }
        for class in ["masked", "sdc", "due"] {
            let rate = &document["all"]["rates"][class];
            assert_eq!((&rate["truth"], share(rate, "deviation")), (&rate["expected"], 0.0));
        }
    }
}

struct SiteAccount {
    sites: u64,
    pruned: u64,
    failed: u64,
    wrong: u64,
}

impl SiteAccount {
    fn of(document: &Value) -> Self {
        let count = |key: &str| document["all"][key].as_u64().unwrap();
        let (sites, pruned, failed) = (count("sites"), count("pruned"), count("failed"));
        Self { sites, pruned, failed, wrong: count("pruned_not_masked") }
    }
}

/// The members of each class and bit, found by drawing pilots until every one was drawn.
fn members(capsule: &Arc<CapsuleTarget>, settings: &str) -> Vec<BTreeSet<String>> {
    let method = method(capsule, &format!("{settings},operands=destinations"));
    let mut members = vec![BTreeSet::new(); method.runs() as usize];
    for seed in 0..50_000 {
        let sites: Vec<Site> = all_sites(&method, seed);
        let mut missing = false;
        for (site, members) in sites.iter().zip(&mut members) {
            members.insert(site.fault().unwrap().to_owned());
            missing |= (members.len() as u64) < site.weight;
        }
        if !missing {
            return members;
        }
    }
    panic!("some members of a class are never drawn");
}

/// Of the sites of classes, the share whose pilot is right on average, with outcomes told apart as `key` does.
fn right<K: std::hash::Hash + Eq>(
    members: &[BTreeSet<String>],
    truth: &HashMap<String, Outcome>,
    key: impl Fn(Outcome) -> K,
) -> f64 {
    let (mut all, mut right) = (0, 0.0);
    for class in members {
        let mut counts: HashMap<K, u64> = HashMap::new();
        class.iter().for_each(|id| *counts.entry(key(truth[id])).or_default() += 1);
        right += counts.values().map(|count| count * count).sum::<u64>() as f64 / class.len() as f64;
        all += class.len();
    }
    right / all as f64
}

#[test]
fn purity_is_that_of_all_members_one_by_one() {
    for capsule in small().into_iter().chain([put_and_get()]) {
        let (truth, results) = (truth(&capsule), exhaustive(&capsule, SelectionWords::default()));
        for settings in
            ["coverage=1,decisions=1", "coverage=0.6,decisions=0", "coverage=0.9,guards=false,apart=threads"]
        {
            let document = purity(&capsule, &results, settings);
            let members = members(&capsule, settings);
            let covered = &document["all"]["covered"];
            let sites: usize = members.iter().map(BTreeSet::len).sum();
            assert_eq!(covered["pilots"], members.len() as u64, "{settings}");
            assert_eq!(covered["sites"], sites as u64, "{settings}");
            let by_class = right(&members, &truth, Outcome::class);
            let by_outcome = right(&members, &truth, |outcome| outcome);
            assert!((share(covered, "right_class") - by_class).abs() < 1e-12, "{settings}: {by_class} {covered}");
            assert!((share(covered, "right_outcome") - by_outcome).abs() < 1e-12, "{settings}: {by_outcome} {covered}");
            assert!(by_outcome <= by_class);
        }
    }
}

#[test]
fn every_heuristic_has_its_sites_and_exact_claims_are_true() {
    let mut stored = 0;
    for capsule in small().into_iter().chain([put_and_get()]) {
        let results = exhaustive(&capsule, SelectionWords::default());
        let document = purity(&capsule, &results, "coverage=0.9,decisions=1");
        let heuristics = &document["all"]["heuristics"];
        let count = |of: &str, key: &str| heuristics[of][key].as_u64().unwrap();
        let mut sites = 0;
        for claim in ["never_read", "unread_bits", "misaligned", "unmapped"] {
            assert_eq!(count(claim, "wrong"), 0, "{claim}");
            sites += count(claim, "sites");
        }
        assert_eq!(document["all"]["pruned"], sites);
        assert_eq!(document["all"]["sites"], sites + count("control", "sites") + count("stores", "sites"));
        assert_eq!(count("stores", "sites"), count("stores_by_control", "sites"));
        stored += count("stores", "sites");
        // Without store equivalence, the same sites are where they are said to be.
        let without = purity(&capsule, &results, "coverage=0.9,decisions=1,stores=false");
        let classes = &without["all"]["heuristics"]["control"];
        let parts = ["control", "stores_by_control"].map(|of| &heuristics[of]);
        let mut right = 0.0;
        for part in parts.iter().filter(|part| part["sites"] != 0) {
            right += share(part, "right_class") * part["sites"].as_f64().unwrap();
        }
        let expected = share(classes, "right_class") * classes["sites"].as_f64().unwrap();
        assert!((right - expected).abs() < 1e-6, "{right} for {expected}");
        let pilots: u64 = parts.iter().map(|part| part["pilots"].as_u64().unwrap()).sum();
        assert_eq!(classes["pilots"], pilots);
    }
    assert!(stored > 0);
}

#[test]
fn a_comparison_that_is_stopped_says_so() {
    let capsule = masks();
    let results = exhaustive(&capsule, SelectionWords::default());
    let stop = AtomicBool::new(true);
    let truth = Truth::of(&capsule, &results, &[], &stop).unwrap();
    assert!(matches!(Purity::of(&truth, &Settings::default()), Err(StudyError::Interrupted)));
    assert!(matches!(Purity::others(&truth, &Settings::default()), Err(StudyError::Interrupted)));
    stop.store(false, Ordering::Relaxed);
    assert!(Purity::of(&truth, &Settings::default()).is_ok());
}

#[test]
fn pilots_of_many_seeds_spread_about_the_truth_as_purity_says() {
    const SEEDS: u64 = 1_000;
    let mut wide = 0;
    for capsule in small() {
        let (truth, results) = (truth(&capsule), exhaustive(&capsule, SelectionWords::default()));
        let settings = "coverage=1,decisions=1";
        let document = purity(&capsule, &results, settings);
        let method = method(&capsule, &format!("{settings},operands=destinations"));
        let corrupt = |id: &str| truth[id].class() == Class::Sdc;
        let estimate = |seed| {
            let sites = all_sites(&method, seed);
            let found = sites.iter().filter(|site| corrupt(site.fault().unwrap())).map(|site| site.weight);
            found.sum::<u64>() as f64 / method.counts().all as f64
        };
        let estimates: Vec<f64> = (0..SEEDS).map(estimate).collect();
        let rate = &document["all"]["rates"]["sdc"];
        let (expected, deviation) = (share(rate, "truth"), share(rate, "deviation"));
        assert!((expected - share(rate, "expected")).abs() < 1e-12);
        let mean = estimates.iter().sum::<f64>() / SEEDS as f64;
        let bound = 4.5 * deviation / (SEEDS as f64).sqrt() + 1e-12;
        assert!((mean - expected).abs() <= bound, "{mean} for {expected}, ± {bound}");
        let variance = estimates.iter().map(|it| (it - expected).powi(2)).sum::<f64>() / SEEDS as f64;
        assert!((variance.sqrt() - deviation).abs() <= 0.15 * deviation + 1e-12, "{variance} for {deviation}");
        wide += u64::from(deviation > 0.0);
    }
    assert!(wide > 0, "some kernel has classes that are not pure");
}

/// In thread t, what is computed by `xor` counts where t has a bit; what is computed by `and` always counts.
const MASKED_BY_THREAD: &str = "\
// Masks a value by the number of the thread.
// buffer out: u32[8] = zero
// run: masks block=8,1,1
// param: &out
// expect out = for 8: (i ^ 85) & i
.version 8.5
.target sm_90
.address_size 64

.visible .entry masks(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %d, %o;
    mov.u32 %r0, %tid.x;
    ld.param.u64 %o, [out];
    mul.wide.u32 %d, %r0, 4;
    add.u64 %o, %o, %d;
    xor.b32 %r1, %r0, 85;
    and.b32 %r2, %r1, %r0;
    st.global.u32 [%o], %r2;
    ret;
}
";

fn masks() -> CapsuleTarget {
    let script = read("masks.ptx".as_ref(), MASKED_BY_THREAD).unwrap();
    CapsuleTarget::new(Golden::run(capsule_of(&script).unwrap()).unwrap())
}

#[test]
fn a_class_of_threads_that_mask_differently_is_as_impure_as_counted_by_hand() {
    let capsule = masks();
    let document = purity(&capsule, &exhaustive(&capsule, SelectionWords::default()), "coverage=1");
    let of = |opcode: &str| {
        let all = document["by_instruction"].as_array().unwrap().iter();
        all.clone().find(|it| it["opcode"].as_str().unwrap().starts_with(opcode)).unwrap().clone()
    };
    // Of the lowest three bits half of eight threads are masked; of the others all.
    let (xor, and) = (of("xor"), of("and"));
    assert_eq!((&xor["sites"], share(&xor, "right_class")), (&256.into(), (3.0 * 4.0 + 29.0 * 8.0) / 256.0));
    assert_eq!((&xor["pure_class"], &xor["pure_outcome"]), (&(29.0 / 32.0).into(), &(29.0 / 32.0).into()));
    assert_eq!((&and["sites"], &and["right_class"], &and["pure_class"]), (&256.into(), &1.0.into(), &1.0.into()));
}

#[test]
fn the_truth_about_some_threads_judges_their_sites_alone() {
    let capsule = masks();
    let selection = SelectionWords { threads: vec!["2-3".to_owned()], ..SelectionWords::default() };
    let document = purity(&capsule, &exhaustive(&capsule, selection), "coverage=1");
    let all = SiteAccount::of(&purity(&capsule, &exhaustive(&capsule, SelectionWords::default()), "coverage=1"));
    assert_eq!(SiteAccount::of(&document).sites, all.sites / 4);
    // Threads 2 and 3 differ in the lowest bit alone.
    let instructions = document["by_instruction"].as_array().unwrap();
    let xor = instructions.iter().find(|it| it["opcode"].as_str().unwrap().starts_with("xor")).unwrap();
    assert_eq!((&xor["sites"], share(xor, "right_class")), (&64.into(), 63.0 / 64.0));
}

#[test]
fn what_is_not_the_truth_of_these_sites_is_refused() {
    let capsule = masks();
    let refusal = |results: &Results, kernels: &[String]| match Truth::of(&capsule, results, kernels, &RUNNING) {
        Ok(_) => panic!("it is taken for the truth"),
        Err(error) => error.to_string(),
    };
    let sample = results(&capsule, Choices { runs: Some(3), ..Choices::default() });
    assert!(refusal(&sample, &[]).contains("it is a sample; make it with"));
    let [other, ..] = &small()[..] else { panic!("there are kernels") };
    let results = exhaustive(other, SelectionWords::default());
    assert!(refusal(&results, &[]).contains("it is of the capsule"));
    let results = exhaustive(&capsule, SelectionWords::default());
    let text = refusal(&results, &["masks#1".to_owned()]);
    assert!(text.contains("it was made of all kernels, and --kernel masks#1 is compared"), "{text}");
    let selection = SelectionWords { group: vec!["logic_shift".to_owned()], ..SelectionWords::default() };
    let results = exhaustive(&capsule, selection);
    assert!(refusal(&results, &[]).contains("it is chosen by `group`"));
}
