//! What each observation comes to.

use super::*;
use crate::observation::{Landed, Place, Tier};

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
    let tolerance = tolerance.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let observation = seen(End::Completed, FirstUse::Read { after: 1 }, outputs);
    classify(&observation, &Criteria { tolerance })
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
