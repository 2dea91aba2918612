//! Results judged again are what a campaign with these criteria would have come to.

use super::*;
use crate::RejudgeError;
use outcome::{Criteria, Quality};

fn criteria(quality: &[&str]) -> Criteria {
    Criteria { quality: quality.iter().map(|text| Quality::parse(text).unwrap()).collect(), ..Criteria::default() }
}

fn judged_by(quality: &[&str]) -> Config {
    Choices { criteria: criteria(quality), ..choices(400) }.settle().unwrap()
}

#[test]
fn judging_again_is_as_good_as_running_again() {
    let (kept, fresh) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run_all(kept.path(), config(400), &Fake::default());
    // Errors of the fake reach 1.8, and a third of that by the norm.
    for quality in
        ["out:tolerance=0.5", "*:metric=rel-l2,tolerance=0.1,bad=0.5,bins=0.2/0.3", "out:metric=differing,bad=20"]
    {
        let other = fresh.path().join(quality.replace('/', "-"));
        let mut expected = run_all(&other, judged_by(&[quality]), &Fake::default());
        let results = Results::open(kept.path()).unwrap();
        let judged = results.rejudge(&criteria(&[quality])).unwrap();
        let mut found = judged.summary(results.summary().unwrap());
        (expected.speed, found.speed) = (found.speed.clone(), found.speed);
        assert_eq!(found, expected, "{quality}");
        assert!(found.sdc.keys().any(|kind| found.sdc[kind] > 0 && kind != "detectable" && kind != "unjudged"));
        assert_eq!(judged.counts.values().sum::<u64>() + judged.failed, 400);
    }
}

#[test]
fn what_was_compared_cannot_be_changed_afterwards() {
    let dir = tempfile::tempdir().unwrap();
    run_all(dir.path(), judged_by(&["out:range=0..1,tolerance=0.1"]), &Fake::default());
    let results = Results::open(dir.path()).unwrap();
    let error = |quality: &str| results.rejudge(&criteria(&[quality])).unwrap_err();
    assert!(matches!(error("out:range=0..2"), RejudgeError::Range { output } if output == "out"));
    assert!(matches!(error("*:element=f32"), RejudgeError::Element { output } if output == "out"));
    let judged = results.rejudge(&criteria(&["out:tolerance=0.2"])).unwrap();
    assert_eq!(judged.criteria.range_of("out"), Some([0.0, 1.0]));
}

#[test]
fn an_exhaustive_campaign_keeps_nothing_to_judge_again() {
    let dir = tempfile::tempdir().unwrap();
    run_all(dir.path(), sweeping::every_fault(), &Fake::default());
    let error = Results::open(dir.path()).unwrap().rejudge(&Criteria::default()).unwrap_err();
    assert!(matches!(error, RejudgeError::Exhaustive));
}
