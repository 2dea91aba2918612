//! What each observation comes to.

use super::*;
use crate::observation::{Landed, OutputDiff, Place, Tier};

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
    }
}

fn diff(name: &str, differing: u64, max_rel: f64) -> OutputDiff {
    OutputDiff {
        name: name.into(),
        elements: 8,
        differing,
        max_abs: 0.0,
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
    classify(&observation, &Criteria { tolerance, quality })
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
    let at = Place { kernel: "k".into(), pc: 0, line: None, after: 0 };
    for end in [End::Completed, End::Hang { at }, End::Detected { by: "abft".into() }] {
        let mut observation = seen(end, FirstUse::Never, vec![diff("out", 3, 1.0)]);
        observation.landed = None;
        assert_eq!(classify(&observation, &Criteria::default()), Outcome::NotLanded);
    }
}

#[test]
fn an_abnormal_end_is_due_even_where_outputs_differ() {
    let at = Place { kernel: "k".into(), pc: 0, line: None, after: 0 };
    let trap = End::Trapped { trap: TrapKind::Assert, at: at.clone() };
    let cases = [
        (trap, Due::Crash(TrapKind::Assert)),
        (End::Hang { at }, Due::Hang),
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
    for outcome in masked.chain(sdc.map(Outcome::Sdc)).chain(due).chain([Outcome::NotLanded]) {
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
    ];
    for (class, kind) in cases {
        assert_eq!(Outcome::from_words(class, kind), None, "{class} {kind:?}");
    }
}
