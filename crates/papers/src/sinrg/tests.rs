//! Surveys made by hand: each rule holds, fails or stays open where it should.

use campaign::summary::Rate;
use methods::hardening::{
    ChoiceOutcome, DetectionLatency, DetectionSummary, DynamicCounts, ProtectionForecast, Scheme,
};
use serde_json::json;
use study::Cell;

use super::applications::applications;
use super::detected::table;
use super::pieces;
use super::statements::statements;

use super::survey::{
    BEAM, CHAPTER, DetectedFaults, INJECTED, InjectedWorkload, PartlyProtected, ProtectedWorkload, RunEnds,
    SinrgSurvey, TimedWorkload, detecting, remaining, timed,
};
use super::tables::{choice, devices, half};
use crate::checks::{are_in, are_judged, fill, statement, verdict};
use crate::statements::Verdict;

/// Numbers by scheme, in the order of `Scheme::INSTRUCTIONS`: DRDV, FastSig-DRDV, SRIV, FastSig-SRIV.
#[derive(Clone, Copy)]
struct Made {
    /// The multiple of the time.
    times: [f64; 4],
    /// The same with TLD, TLD-Sig, HW-Notify and HW-Sig (each of DRDV and SRIV).
    others: [f64; 6],
    /// The same with the automatic choice.
    chosen: f64,
    /// Per thousand dynamic instructions: covered, uncovered, duplicates, verification.
    parts: [[u64; 4]; 2],
    /// More static instructions, per hundred.
    grown: [u64; 2],
    /// Corruptions of a thousand faults before and after.
    sdc: [u64; 2],
    /// Crashes and hangs after.
    other: u64,
    /// With load duplication: uncovered instructions, per 970 others, and corruptions of a thousand faults.
    loads: [u64; 2],
    /// The median latency of detected faults, and how many of a hundred are contained, by DRDV, FastSig-DRDV, SRIV, FastSig-SRIV, TLD, TLD-Sig.
    detected: [(f64, u64); 6],
}

/// As the chapter has it.
const CHAPTER_LIKE: Made = Made {
    times: [1.69, 1.39, 2.5, 1.49],
    others: [1.3, 1.2, 1.37, 1.46, 1.33, 1.33],
    chosen: 1.36,
    parts: [[230, 130, 360, 150], [130, 120, 250, 350]],
    grown: [100, 200],
    sdc: [700, 20],
    other: 3,
    loads: [30, 0],
    detected: [(5.0, 100), (50.0, 60), (2.0, 100), (60.0, 70), (10.0, 100), (40.0, 80)],
};

/// The deviation of a time from workload to workload, so that the mean has an interval.
fn wobble(number: usize) -> f64 {
    (number % 3) as f64 * 0.02 - 0.02
}

/// A digest of its own for each workload and scheme.
fn name_of(number: usize, scheme: Scheme) -> String {
    format!("{}-{}", INJECTED.get(number).copied().unwrap_or_default(), scheme.word())
}

fn made(of: Made) -> SinrgSurvey {
    let ends = |sdc: u64, other: u64| RunEnds { landed: 1000, sdc, detected: 300 - other.min(300), other };
    let protected = |number: usize, scheme: Scheme| {
        let by = usize::from(matches!(scheme, Scheme::Sriv | Scheme::FastsigSriv));
        // The numbers differ from workload to workload, so that they have an interval.
        let wobble = number as u64 % 3;
        let [covered, uncovered, duplicate, verification] = of.parts[by];
        let (uncovered, verification) = (uncovered + 10 * wobble - 10, verification + 10 - 10 * wobble);
        let dynamic = DynamicCounts {
            covered: covered * (1 + by as u64),
            uncovered: uncovered * (1 + by as u64),
            duplicate: duplicate * (1 + by as u64),
            copy: (1000 - covered - uncovered - duplicate - verification) * (1 + by as u64),
            verification: verification * (1 + by as u64),
            entry: 0,
        };
        ProtectedWorkload {
            scheme: scheme.word(),
            digest: name_of(number, scheme),
            before: 100,
            after: 100 + of.grown[by] + wobble,
            dynamic,
            ends: ends(of.sdc[1], of.other),
        }
    };
    let injected = INJECTED.into_iter().enumerate().map(|(number, name)| InjectedWorkload {
        name: name.to_owned(),
        executed: 400,
        ends: ends(of.sdc[0], 50),
        protected: Scheme::INSTRUCTIONS.map(|scheme| protected(number, scheme)).into(),
        loads: (name == BEAM).then(|| ProtectedWorkload {
            dynamic: DynamicCounts { covered: 970, uncovered: of.loads[0], ..DynamicCounts::default() },
            ends: ends(of.loads[1], of.other),
            ..protected(number, Scheme::Drdv)
        }),
    });
    let times = CHAPTER.into_iter().enumerate().flat_map(|(number, name)| {
        let others = [Scheme::Tld, Scheme::TldSig].into_iter().chain(Scheme::PROXIES).zip(of.others);
        Scheme::INSTRUCTIONS.into_iter().zip(of.times).chain(others).map(move |(scheme, ratio)| {
            let ratio = ratio + wobble(number);
            let (name, scheme, device) = (name.to_owned(), scheme.word().to_owned(), "a GPU".to_owned());
            let digest = format!("{name}-{scheme}");
            TimedWorkload { name, scheme, device, digest, ratio, low: ratio - 0.01, high: ratio + 0.01 }
        })
    });
    let chosen = CHAPTER.into_iter().enumerate().map(|(number, name)| ChoiceOutcome {
        application: name.to_owned(),
        drdv: of.times[1] + wobble(number + 1) + 0.02,
        sriv: of.times[3] + wobble(number),
        automatic: of.chosen + wobble(number),
        best: of.chosen + wobble(number) - 0.1,
    });
    let detected = INJECTED.into_iter().flat_map(|name| {
        detecting().zip(of.detected).map(|(scheme, (median, count))| {
            let latency = DetectionLatency { median, low: median - 1.0, high: median + 1.0, p95: 2 * median as u64 };
            let contained = Rate { count, ..Rate::default() };
            let summary = DetectionSummary { latency, contained };
            DetectedFaults { name: name.to_owned(), scheme, detected: 100, summary }
        })
    });
    let forecast = ProtectionForecast { instructions: 4, of: 10, overhead: 0.2, coverage: Some(0.6) };
    let part = |name: &str| PartlyProtected {
        name: name.to_owned(),
        scheme: "fastsig-drdv",
        budget: 0.25,
        forecast,
        executed: [1000, 1500],
        ends: [ends(400, 0), ends(100, 0)],
    };
    SinrgSurvey {
        injected: injected.collect(),
        detected: detected.collect(),
        timed: times.collect(),
        chosen: chosen.collect(),
        occupancies: vec![[0.5, 0.75], [1.0, 1.0]],
        parts: vec![part("nn"), part("gaussian")],
        applications: applications(),
    }
}

#[test]
fn every_statement_is_judged_and_every_piece_has_a_place() {
    for survey in [SinrgSurvey::default(), made(CHAPTER_LIKE)] {
        are_judged(&statements(&survey));
        are_in(include_str!("../../../../docs/methods/sinrg.md"), &statements(&survey));
        fill(&super::PAGE, &pieces(&survey));
    }
}

#[test]
fn without_numbers_all_is_undecided() {
    let parts = statements(&SinrgSurvey::default());
    assert!(parts.iter().flat_map(|part| &part.statements).all(|it| it.judged.verdict == Verdict::Open));
}

/// The claims whose rules numbers like the chapter's fulfil.
const HOLD: [&str; 35] = [
    "kernels take 69 % longer",
    "base SRIV doubles",
    "kernels take 39 % longer",
    "kernels take 49 % longer",
    "FastSig makes DRDV faster",
    "FastSig-DRDV is faster",
    "FastSig-DRDV adds 74",
    "FastSig-SRIV adds 180",
    "36 % of the dynamic",
    "25 % are with",
    "15 % of the dynamic",
    "35 % do with",
    "87 % of the dynamic",
    "88 % are with",
    "FastSig-SRIV always executes",
    "with fastsig-drdv, the SDC rate is below",
    "none does with load duplication",
    "fewer instructions are uncovered",
    "automatic selection lowers FastSig’s",
    "automatic selection is faster",
    "HW-Notify-DRDV costs",
    "HW-Notify-SRIV costs",
    "HW-Sig-DRDV costs",
    "HW-Sig-SRIV costs",
    "HW-Sig makes DRDV",
    "TLD is faster than SInRG",
    "TLD-Sig is faster than TLD",
    "DRDV with a notification",
    "SRIV with a notification",
    "FastSig-DRDV lets some",
    "FastSig-SRIV lets some",
    "FastSig-DRDV detects later",
    "FastSig-SRIV detects later",
    "TLD compares each memory write",
    "TLD-Sig detects later",
];

#[test]
fn numbers_like_the_chapters_hold_and_others_do_not() {
    let like = statements(&made(CHAPTER_LIKE));
    HOLD.iter().for_each(|claim| assert_eq!(verdict(&like, claim), Verdict::Holds, "{:?}", statement(&like, claim)));
    let unlike = Made {
        times: [1.1, 1.2, 1.5, 1.15],
        others: [1.4, 1.5, 1.1, 1.1, 1.2, 1.2],
        chosen: 1.3,
        parts: [[200, 300, 200, 50], [100, 300, 100, 300]],
        grown: [200, 100],
        sdc: [10, 700],
        other: 0,
        loads: [900, 900],
        detected: [(50.0, 99), (5.0, 100), (60.0, 99), (2.0, 100), (40.0, 99), (10.0, 100)],
    };
    let unlike = statements(&made(unlike));
    for claim in HOLD.iter().filter(|claim| **claim != "FastSig-SRIV always executes") {
        assert_eq!(verdict(&unlike, claim), Verdict::Fails, "{:?}", statement(&unlike, claim));
    }
    assert_eq!(verdict(&unlike, "fastsig-drdv reduces SDC"), Verdict::Fails);
    // FastSig takes longer than TLD-Sig in the first, and less time in the second.
    assert_eq!(verdict(&like, "one of the FastSig"), Verdict::Fails);
    assert_eq!(verdict(&unlike, "one of the FastSig"), Verdict::Holds);
    assert_eq!(verdict(&like, "FastSig-DRDV almost always"), Verdict::Open);
    assert!(statement(&like, "FastSig-DRDV almost always").ours.contains("lower in 1 of 2 kernels, the same in 1"));
    assert_eq!(verdict(&unlike, "some faults crash b+tree"), Verdict::Fails);
    assert_eq!(verdict(&unlike, "72 % of the faults in mm"), Verdict::Fails);
    assert_eq!(verdict(&like, "72 % of the faults in mm"), Verdict::Holds);
    assert_eq!(verdict(&like, "some faults crash b+tree"), Verdict::Holds);
    assert_eq!(verdict(&like, "fastsig-sriv reduces SDC"), Verdict::Holds);
}

#[test]
fn times_of_one_scheme_decide_nothing_of_the_others() {
    let mut survey = made(CHAPTER_LIKE);
    survey.timed.retain(|it| it.scheme == "drdv");
    let parts = statements(&survey);
    assert_eq!(verdict(&parts, "kernels take 69 % longer"), Verdict::Holds);
    for claim in
        ["base SRIV doubles", "kernels take 39 %", "kernels take 49 %", "FastSig makes DRDV", "b+tree is faster"]
    {
        assert_eq!(verdict(&parts, claim), Verdict::Open);
    }
}

#[test]
fn times_of_other_code_are_counted() {
    let mut survey = made(CHAPTER_LIKE);
    assert!(devices(&survey).contains("Of 48 of them") && devices(&survey).contains(": 48 were measured"));
    survey.injected[0].protected[0].digest = "other".to_owned();
    survey.timed.retain(|it| it.scheme == "drdv");
    let said = devices(&survey);
    assert!(
        said.contains("Of 12 of them") && said.contains(": 11 were") && said.contains("none of fastsig-drdv, sriv,"),
        "{said}"
    );
}

#[test]
fn the_aim_is_reached_if_the_whole_interval_is_below_it() {
    let said = |chosen| choice(&made(Made { chosen, ..CHAPTER_LIKE }));
    assert!(said(1.2).contains("of 15 workloads take 20.0 %") && said(1.2).ends_with("less than 30.0 %, is reached."));
    assert!(said(1.3).ends_with("lies within that interval."), "{}", said(1.3));
    assert!(said(1.5).ends_with("is not reached."), "{}", said(1.5));
}

#[test]
fn the_cheapest_choice_that_leaves_half_is_named() {
    let mut survey = made(CHAPTER_LIKE);
    // A quarter of the rate, and half as many instructions more: three eighths are left.
    let said = half(&survey);
    assert!(said.contains("in 2 of 7 workloads, with at most a tenth more instructions in 0 of 7"), "{said}");
    assert!(said.ends_with("nn 50.0 % and gaussian 50.0 %."), "{said}");
    survey.parts[0].executed[1] = 1050;
    survey.parts[1].executed[1] = 2100;
    let said = half(&survey);
    assert!(said.contains("in 1 of 7 workloads, with at most a tenth more instructions in 1 of 7"), "{said}");
}

#[test]
fn what_remains_is_the_rate_times_the_instructions() {
    let ends = |sdc| RunEnds { landed: 1000, sdc, detected: 0, other: 0 };
    let (value, low, high) = remaining([ends(200), ends(20)], [100, 300]).unwrap();
    assert!((value - 0.3).abs() < 1e-12 && low < 0.2 && high > 0.4, "{low} {high}");
    assert_eq!(remaining([ends(0), ends(20)], [100, 300]), None);
}

#[test]
fn the_latency_of_a_scheme_is_that_of_its_median_workload_and_containment_that_of_all_faults() {
    let mut survey = made(CHAPTER_LIKE);
    survey.detected.retain(|it| it.scheme == Scheme::Tld && ["nn", "lud", "nw"].contains(&it.name.as_str()));
    survey.detected[0].summary.latency.median = 90.0;
    survey.detected[1].summary.contained.count = 70;
    let [row] = &table(&survey).rows[..] else { panic!() };
    assert_eq!(row[..3], [Cell::text("tld"), Cell::Count(3), Cell::Count(300)]);
    assert_eq!(row[3], Cell::Quantity { value: 10.0, low: 10.0, high: 90.0 });
    assert_eq!(row[4], Cell::Quantity { value: 20.0, low: 20.0, high: 20.0 });
    let Cell::Rate { rate, low, high } = row[5] else { panic!("{row:?}") };
    assert!((rate - 0.9).abs() < 1e-12 && low > 0.85 && high < 0.95, "{row:?}");
    assert!(statement(&statements(&survey), "TLD compares each memory write").ours.starts_with("2 of 3; not "));
}

#[test]
fn records_that_gave_other_results_are_left_out() {
    let line = |name: &str, same: u64| {
        let ratio = json!({ "median": 1.5, "low": 1.4, "high": 1.6 });
        json!({ "name": name, "scheme": "drdv", "gpu": { "name": "G", "copies": 2, "same": same, "ratio": ratio } })
            .to_string()
    };
    let found = timed(&[format!("{}\n{}\nnot a document", line("nw-drdv", 2), line("lud-drdv", 1))]);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].name.as_str(), found[0].ratio, found[0].device.as_str()), ("nw", 1.5, "G"));
}
