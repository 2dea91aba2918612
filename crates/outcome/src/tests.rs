//! What each observation comes to.

use crate::*;

fn seen(end: End, first_use: FirstUse, outputs: Vec<OutputDiff>) -> Observation {
    Observation {
        landed: Some(Landed { before: 0, after: 1, threads: 1 }),
        first_use,
        end,
        outputs,
        host_visible: false,
        strayed: 0,
        instructions: 1,
        tier: Tier::Full,
        host: None,
    }
}

fn diff(name: &str, differing: u64, max_rel: f64) -> OutputDiff {
    OutputDiff {
        name: name.into(),
        elements: 8,
        differing,
        max_abs: 0.0,
        sum_abs: Some(0.0),
        max_rel,
        rel_l2: 0.0,
        nan: 0,
        inf: 0,
        out_of_range: 0,
    }
}

fn judged(outputs: Vec<OutputDiff>, tolerance: &[(&str, f64)]) -> Outcome {
    judged_by(outputs, tolerance, &[])
}

/// Judges by tolerances and by qualities as the command line has them.
fn judged_by(outputs: Vec<OutputDiff>, tolerance: &[(&str, f64)], quality: &[&str]) -> Outcome {
    let tolerance = tolerance.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let quality = quality.iter().map(|text| Quality::parse(text).unwrap()).collect();
    let observation = seen(End::Completed, FirstUse::Read { after: 1 }, outputs);
    classify(&observation, &Criteria { tolerance, quality, ..Criteria::default() })
}

#[test]
fn identical_outputs_are_masked_by_what_happened_to_the_value() {
    let cases = [
        (FirstUse::Never, Masked::NeverRead),
        (FirstUse::Overwritten { after: 1 }, Masked::Overwritten),
        (FirstUse::Read { after: 1 }, Masked::Logical),
    ];
    for (first_use, masked) in cases {
        let observation = seen(End::Completed, first_use, vec![diff("out", 0, 0.0)]);
        assert_eq!(classify(&observation, &Criteria::default()), Outcome::Masked(masked));
    }
}

#[test]
fn a_fault_that_did_not_land_is_not_landed_whatever_else_was_seen() {
    let at = ProgramPoint { kernel: "k".into(), pc: 0, line: None, after: 0 };
    for end in [End::Completed, End::Hang { at, endless: true }, End::Detected { by: "abft".into() }] {
        let mut observation = seen(end, FirstUse::Never, vec![diff("out", 3, 1.0)]);
        observation.landed = None;
        assert_eq!(classify(&observation, &Criteria::default()), Outcome::NotLanded);
    }
}

#[test]
fn an_abnormal_end_is_due_even_where_outputs_differ() {
    let at = ProgramPoint { kernel: "k".into(), pc: 0, line: None, after: 0 };
    let trap = End::Trapped { trap: TrapKind::Assert, at: at.clone(), address: None };
    let cases = [
        (trap, Due::Crash(TrapKind::Assert)),
        (End::Hang { at, endless: true }, Due::Hang),
        (End::Detected { by: "abft".into() }, Due::Detected),
    ];
    for (end, due) in cases {
        let observation = seen(end, FirstUse::Never, vec![diff("out", 3, 1.0)]);
        assert_eq!(classify(&observation, &Criteria::default()), Outcome::Due(due));
    }
}

#[test]
fn without_a_criterion_a_corruption_is_unjudged() {
    assert_eq!(judged(vec![diff("out", 1, 1e-9)], &[]), Outcome::Sdc(Sdc::Unjudged));
}

#[test]
fn a_tolerance_tells_good_from_bad() {
    let outcome = |max_rel| judged(vec![diff("out", 1, max_rel)], &[("out", 1e-3)]);
    assert_eq!(outcome(1e-3), Outcome::Sdc(Sdc::Good));
    assert_eq!(outcome(1.1e-3), Outcome::Sdc(Sdc::Bad));
    assert_eq!(outcome(f64::NAN), Outcome::Sdc(Sdc::Bad));
}

#[test]
fn a_star_speaks_for_outputs_not_named() {
    let outputs = vec![diff("a", 1, 0.5), diff("b", 1, 0.5)];
    assert_eq!(judged(outputs.clone(), &[("*", 1.0)]), Outcome::Sdc(Sdc::Good));
    assert_eq!(judged(outputs, &[("*", 1.0), ("b", 0.1)]), Outcome::Sdc(Sdc::Bad));
}

#[test]
fn one_bad_output_is_enough_and_one_unjudged_is_not_good() {
    let outputs = vec![diff("a", 1, 0.5), diff("b", 1, 0.5)];
    assert_eq!(judged(outputs.clone(), &[("a", 1.0)]), Outcome::Sdc(Sdc::Unjudged));
    assert_eq!(judged(outputs, &[("b", 0.1)]), Outcome::Sdc(Sdc::Bad));
}

#[test]
fn each_metric_judges_by_its_own_number() {
    let diff = OutputDiff { max_abs: 3.0, rel_l2: 0.02, ..diff("out", 2, 0.5) };
    // Of each metric the number, which is good at that tolerance and bad at one a little less.
    for (metric, value) in
        [("max-rel", 0.5), ("max-abs", 3.0), ("rel-l2", 0.02), ("differing", 2.0), ("differing-share", 0.25)]
    {
        let at = |tolerance: f64| {
            judged_by(vec![diff.clone()], &[], &[&format!("out:metric={metric},tolerance={tolerance}")])
        };
        assert_eq!(at(value), Outcome::Sdc(Sdc::Good), "{metric}");
        assert_eq!(at(value * 0.99), Outcome::Sdc(Sdc::Bad), "{metric}");
    }
}

#[test]
fn between_good_and_bad_is_maybe_with_the_number_of_its_bin() {
    let quality = "out:tolerance=0.1,bad=1,bins=0.2/0.4";
    let outcome = |error| judged_by(vec![diff("out", 1, error)], &[], &[quality]);
    let expected = [
        (0.1, Sdc::Good),
        (0.11, Sdc::Maybe(0)),
        (0.2, Sdc::Maybe(0)),
        (0.3, Sdc::Maybe(1)),
        (0.4, Sdc::Maybe(1)),
        (0.41, Sdc::Maybe(2)),
        (1.0, Sdc::Maybe(2)),
        (1.01, Sdc::Bad),
        (f64::NAN, Sdc::Bad),
    ];
    for (error, sdc) in expected {
        assert_eq!(outcome(error), Outcome::Sdc(sdc), "{error}");
    }
}

#[test]
fn of_several_outputs_the_worst_counts() {
    let quality = ["*:tolerance=0.1,bad=1,bins=0.5"];
    let outcome = |errors: &[f64]| {
        let outputs = errors.iter().map(|&error| diff("x", u64::from(error > 0.0), error)).collect();
        judged_by(outputs, &[], &quality)
    };
    assert_eq!(outcome(&[0.01, 0.7, 0.3]), Outcome::Sdc(Sdc::Maybe(1)));
    assert_eq!(outcome(&[0.01, 2.0, 0.3]), Outcome::Sdc(Sdc::Bad));
    assert_eq!(outcome(&[0.01, 0.0]), Outcome::Sdc(Sdc::Good));
    let outputs = vec![diff("x", 1, 0.3), diff("y", 1, 0.0)];
    assert_eq!(judged_by(outputs, &[], &["x:tolerance=0.1,bad=1"]), Outcome::Sdc(Sdc::Unjudged));
}

#[test]
fn what_names_an_output_beats_the_star_and_a_quality_beats_a_tolerance() {
    let outcome = |tolerance: &[(&str, f64)], quality: &[&str]| judged_by(vec![diff("a", 1, 0.5)], tolerance, quality);
    let good = Outcome::Sdc(Sdc::Good);
    assert_eq!(outcome(&[("a", 1.0)], &["*:tolerance=0"]), good);
    assert_eq!(outcome(&[("a", 0.0)], &["a:tolerance=1"]), good);
    assert_eq!(outcome(&[("*", 0.0)], &["*:tolerance=1"]), good);
    assert_eq!(outcome(&[("*", 1.0)], &["a:range=0..1,element=f32"]), good);
    assert_eq!(outcome(&[("a", 0.4)], &["a:bad=1"]), Outcome::Sdc(Sdc::Maybe(0)));
    // A tolerance is a relative error, and says nothing of another metric.
    assert_eq!(outcome(&[("a", 1.0)], &["a:metric=differing"]), Outcome::Sdc(Sdc::Unjudged));
    assert_eq!(outcome(&[], &["b:tolerance=1"]), Outcome::Sdc(Sdc::Unjudged));
}

#[test]
fn criteria_are_joined_output_by_output() {
    let of = |texts: &[&str]| texts.iter().map(|text| Quality::parse(text).unwrap()).collect();
    let line = Criteria { quality: of(&["a:metric=rel-l2,tolerance=1", "b:range=0..1"]), ..Criteria::default() };
    let file = Criteria { quality: of(&["a:bad=9,element=f64", "b:tolerance=2", "c:bad=3"]), ..Criteria::default() };
    let joined = line.or(file);
    assert_eq!(joined.quality, of(&["a:metric=rel-l2,tolerance=1,element=f64", "b:tolerance=2,range=0..1", "c:bad=3"]));
    // A tolerance that users give takes the place of a capsule's, whatever metric that is of.
    let plain = Criteria { tolerance: [("a".to_owned(), 0.5)].into(), ..Criteria::default() };
    let tolerated =
        plain.or(Criteria { quality: of(&["a:metric=rel-l2,tolerance=1,element=f64"]), ..Criteria::default() });
    assert_eq!(tolerated.of("a").map(|criterion| (criterion.metric, criterion.tolerance)), Some((Metric::MaxRel, 0.5)));
    assert_eq!(tolerated.quality, of(&["a:element=f64"]));
    assert_eq!((joined.element_of("a"), joined.range_of("b")), (Some(Element::F64), Some([0.0, 1.0])));
}

#[test]
fn new_nans_infinities_and_values_out_of_range_are_detectable() {
    let mut nan = diff("out", 1, 0.0);
    nan.nan = 1;
    let mut inf = diff("out", 1, 0.0);
    inf.inf = 1;
    let mut range = diff("out", 1, 0.0);
    range.out_of_range = 1;
    for output in [nan, inf, range] {
        assert_eq!(judged(vec![output], &[("out", 1.0)]), Outcome::Sdc(Sdc::Detectable));
    }
}

#[test]
fn every_outcome_is_read_back_from_its_words() {
    let masked = Masked::ALL.iter().copied().map(Outcome::Masked);
    let sdc = [Sdc::Unjudged, Sdc::Good, Sdc::Maybe(0), Sdc::Maybe(255), Sdc::Bad, Sdc::Detectable];
    let due = Due::all().map(Outcome::Due);
    for outcome in masked.chain(sdc.map(Outcome::Sdc)).chain(due).chain([Outcome::Undecided, Outcome::NotLanded]) {
        assert_eq!(Outcome::from_words(outcome.class(), outcome.kind().as_deref()), Some(outcome));
    }
}

#[test]
fn words_that_name_no_outcome_are_refused() {
    let cases = [
        (Class::Failed, None),
        (Class::Masked, None),
        (Class::Masked, Some("hang")),
        (Class::Sdc, Some("maybe_+3")),
        (Class::Sdc, Some("maybe_256")),
        (Class::NotLanded, Some("never_read")),
        (Class::Undecided, Some("logical")),
    ];
    for (class, kind) in cases {
        assert_eq!(Outcome::from_words(class, kind), None, "{class} {kind:?}");
    }
}

/// A live run whose application ended by itself.
fn live(host: Host, outputs: Vec<OutputDiff>, criteria: &Criteria) -> Outcome {
    let mut observation = seen(End::Completed, FirstUse::Read { after: 1 }, outputs);
    observation.host = Some(Host { status: Some(0), ..host });
    classify(&observation, criteria)
}

fn left() -> [Host; 3] {
    let stdout = Host { stdout: true, ..Host::default() };
    let file = Host { files: vec!["grid.bin".into()], ..Host::default() };
    let both = Host { stderr: true, ..stdout.clone() };
    [stdout, file, both]
}

#[test]
fn a_live_run_in_which_nothing_differs_is_masked() {
    let outcome = live(Host::default(), vec![diff("out", 0, 0.0)], &Criteria::default());
    assert_eq!(outcome, Outcome::Masked(Masked::Logical));
}

#[test]
fn an_outcome_is_allowed_where_some_criteria_give_it_and_nowhere_else() {
    let at = ProgramPoint { kernel: "k".into(), pc: 0, line: None, after: 0 };
    let trap = End::Trapped { trap: TrapKind::Assert, at: at.clone(), address: None };
    let ends = [
        End::Completed,
        trap,
        End::Hang { at: at.clone(), endless: false },
        End::OutOfFuel { at },
        End::Exited { code: 1 },
    ];
    let uses = [FirstUse::Never, FirstUse::Read { after: 1 }, FirstUse::Overwritten { after: 1 }];
    for (end, first_use) in ends.iter().flat_map(|end| uses.map(|first_use| (end, first_use))) {
        for (landed, differs, live) in
            [(true, true, false), (true, false, false), (true, false, true), (false, false, false)]
        {
            let facts = RunFacts { landed, first_use, end, differs, live, host_visible: false };
            let outputs = if *end == End::Completed { vec![diff("out", u64::from(differs), 0.0)] } else { vec![] };
            let mut observation = seen(end.clone(), first_use, outputs);
            observation.landed = observation.landed.filter(|_| landed);
            observation.host = live.then(Host::default);
            assert!(facts.allow(classify(&observation, &Criteria::default())), "{observation:?}");
            let allowed = Outcome::all().filter(|outcome| facts.allow(*outcome));
            let completed = landed && *end == End::Completed;
            // Every kind of corruption, and without one the one kind of masking; live, too, what the program says itself.
            let expected = if !completed {
                1
            } else if live {
                132 + 2
            } else if differs {
                132
            } else {
                1
            };
            assert_eq!(allowed.count(), expected, "{facts:?}");
            // Whoever saw a difference and was not asked decides.
            observation.host_visible = true;
            let facts = RunFacts { host_visible: true, ..facts };
            let outcome = classify(&observation, &Criteria::default());
            assert_eq!(outcome == Outcome::Undecided, landed && !live);
            assert!(facts.allow(outcome) && (live || Outcome::all().filter(|it| facts.allow(*it)).count() == 1));
        }
    }
}

#[test]
fn a_trap_is_the_crash_whether_the_application_reports_it_ignores_it_or_dies_of_it() {
    let at = ProgramPoint { kernel: "k".into(), pc: 0, line: None, after: 0 };
    for status in [0, 1, 134] {
        let mut observation = seen(
            End::Trapped { trap: TrapKind::IllegalAddress, at: at.clone(), address: None },
            FirstUse::Never,
            vec![],
        );
        observation.host = Some(Host { status: Some(status), stdout: true, stderr: true, ..Host::default() });
        let outcome = classify(&observation, &Criteria::default());
        assert_eq!(outcome, Outcome::Due(Due::Crash(TrapKind::IllegalAddress)));
    }
}

#[test]
fn a_code_other_than_0_is_the_programs_own_detection_whatever_differs() {
    for host in left().into_iter().chain([Host::default()]) {
        let mut observation = seen(End::Exited { code: 3 }, FirstUse::Never, vec![]);
        observation.host = Some(Host { status: Some(3), ..host });
        assert_eq!(classify(&observation, &Criteria::default()), Outcome::Due(Due::Detected));
    }
}

#[test]
fn a_signal_is_a_crash_by_its_name() {
    let cases = [(4, "sigill"), (6, "sigabrt"), (7, "sigbus"), (8, "sigfpe"), (11, "sigsegv"), (13, "signal")];
    for (signal, word) in cases {
        let mut observation = seen(End::Signalled { signal }, FirstUse::Never, vec![]);
        observation.host = Some(Host { status: Some(128 + signal), stdout: true, ..Host::default() });
        let outcome = classify(&observation, &Criteria::default());
        assert_eq!((outcome.class(), outcome.kind().as_deref()), (Class::Due, Some(word)));
        assert_eq!(Outcome::from_words(Class::Due, Some(word)), Some(outcome));
    }
}

#[test]
fn time_that_is_over_and_fuel_that_is_used_up_are_the_same_hang() {
    let at = ProgramPoint { kernel: "k".into(), pc: 0, line: None, after: 0 };
    for end in [End::TimedOut, End::Hang { at, endless: true }] {
        let mut observation = seen(end, FirstUse::Never, vec![]);
        observation.host = Some(Host { stdout: true, ..Host::default() });
        assert_eq!(classify(&observation, &Criteria::default()), Outcome::Due(Due::Hang));
    }
}

#[test]
fn standard_output_and_files_that_differ_are_a_corruption_with_and_without_standard_error() {
    for host in left() {
        assert_eq!(live(host, vec![diff("out", 0, 0.0)], &Criteria::default()), Outcome::Sdc(Sdc::Unjudged));
    }
}

#[test]
fn standard_error_that_differs_alone_is_the_programs_own_detection() {
    let host = Host { stderr: true, ..Host::default() };
    assert_eq!(live(host.clone(), vec![], &Criteria::default()), Outcome::Due(Due::Detected));
    let outputs = vec![diff("out", 2, 0.5)];
    assert_eq!(live(host, outputs, &Criteria::default()), Outcome::Sdc(Sdc::Unjudged));
}

#[test]
fn new_nans_in_what_was_left_or_in_memory_are_detectable() {
    let nan = OutputDiff { nan: 1, ..diff("out", 2, 0.5) };
    assert_eq!(live(Host::default(), vec![nan], &Criteria::default()), Outcome::Sdc(Sdc::Detectable));
    for host in left() {
        let host = Host { special: true, ..host };
        assert_eq!(live(host, vec![], &Criteria::default()), Outcome::Sdc(Sdc::Detectable));
    }
}

#[test]
fn memory_within_its_tolerance_is_good_unless_the_application_left_something_else() {
    let criteria = Criteria { tolerance: [("out".to_owned(), 0.1)].into(), ..Criteria::default() };
    let small = || vec![diff("out", 2, 0.05)];
    assert_eq!(live(Host::default(), small(), &criteria), Outcome::Sdc(Sdc::Good));
    assert_eq!(live(left()[0].clone(), small(), &criteria), Outcome::Sdc(Sdc::Unjudged));
    assert_eq!(live(left()[0].clone(), vec![diff("out", 2, 0.5)], &criteria), Outcome::Sdc(Sdc::Bad));
}

#[test]
fn the_verdict_of_a_judge_goes_for_all_that_the_application_left() {
    let judged = |verdict, outputs| {
        let host = Host { verdict: Some(verdict), special: true, ..left()[2].clone() };
        live(host, outputs, &Criteria::default())
    };
    let same = || vec![diff("out", 0, 0.0)];
    assert_eq!(judged(Verdict::Acceptable, same()), Outcome::Masked(Masked::Logical));
    assert_eq!(judged(Verdict::Acceptable, vec![diff("out", 2, 0.5)]), Outcome::Sdc(Sdc::Good));
    assert_eq!(judged(Verdict::Bad, same()), Outcome::Sdc(Sdc::Bad));
    assert_eq!(judged(Verdict::Detectable, same()), Outcome::Sdc(Sdc::Detectable));
}

#[test]
fn a_live_run_whose_fault_did_not_land_is_not_landed() {
    let mut observation = seen(End::Completed, FirstUse::Never, vec![]);
    (observation.landed, observation.host) = (None, Some(Host { stdout: true, ..Host::default() }));
    assert_eq!(classify(&observation, &Criteria::default()), Outcome::NotLanded);
}

#[test]
fn criteria_that_judge_alike_may_be_written_otherwise() {
    let of = |quality: &[&str], tolerance: &[(&str, f64)]| Criteria {
        quality: quality.iter().map(|text| Quality::parse(text).unwrap()).collect(),
        tolerance: tolerance.iter().map(|&(name, value)| (name.to_owned(), value)).collect(),
        ..Criteria::default()
    };
    let plain = of(&[], &[("out", 0.5)]);
    assert!(plain.judges() && plain.judges_like(&of(&["out:tolerance=0.5,element=f32"], &[])));
    assert!(plain.judges_like(&of(&["other:element=f64"], &[("out", 0.5)])));
    for other in [of(&[], &[("out", 0.4)]), of(&[], &[("*", 0.5)]), of(&["out:range=0..1"], &[("out", 0.5)])] {
        assert!(!plain.judges_like(&other) && !other.judges_like(&plain), "{other:?}");
    }
    let nothing = of(&["out:element=f32,range=0..1"], &[]);
    assert!(!nothing.judges() && !Criteria::default().judges() && !nothing.judges_like(&Criteria::default()));
    assert!(of(&["out:element=f32"], &[]).judges_like(&Criteria::default()));
}
