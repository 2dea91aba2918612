//! Bounds judged by campaigns: sampled, by strata, exhaustive.

use std::collections::BTreeMap;

use super::*;
use crate::{Bound, BoundVerdict, Judgement, More, Shard, Stratify};

/// The kernels of the fake have one plain name.
fn plain(name: &str) -> &str {
    if name.starts_with("kernel_") { "kernel" } else { name }
}

fn judge(dir: &Path, bound: &str) -> BoundVerdict {
    let bounds: Vec<Bound> = vec![bound.parse().unwrap()];
    Results::open(dir).unwrap().judge(&bounds, &plain).unwrap().remove(0)
}

fn sampled(runs: u64) -> (tempfile::TempDir, Summary) {
    let dir = tempfile::tempdir().unwrap();
    let summary = run_all(dir.path(), config(runs), &Fake::default());
    (dir, summary)
}

#[test]
fn a_bound_is_judged_by_the_whole_interval() {
    let (dir, summary) = sampled(500);
    let sdc = summary.outcomes.sdc;
    let at = |limit: f64| judge(dir.path(), &format!("sdc>{limit}")).judgement;
    assert_eq!(at(sdc.low - 1e-6), Judgement::Exceeded);
    assert_eq!(at(sdc.high + 1e-6), Judgement::Kept);
    assert!(matches!(at(sdc.low + 1e-6), Judgement::Undecided(More::Runs(1..))));
    assert!(matches!(at(sdc.high - 1e-6), Judgement::Undecided(More::Runs(1..))));
    let verdict = judge(dir.path(), "sdc>0.5");
    assert_eq!((verdict.rate, verdict.landed, verdict.confidence), (sdc, summary.runs.landed, Some(0.95)));
}

#[test]
fn nothing_is_good_or_bad_where_nothing_is_judged() {
    let (dir, _) = sampled(100);
    for bound in ["sdc.bad>0.9", "due+sdc.good>0.9", "sdc.maybe<0.9"] {
        assert_eq!(judge(dir.path(), bound).judgement, Judgement::Undecided(More::Criteria), "{bound}");
    }
    assert_eq!(judge(dir.path(), "sdc.detectable>0.99").judgement, Judgement::Kept);
}

#[test]
fn sums_kinds_and_parts_have_the_rates_of_what_they_name() {
    let (dir, summary) = sampled(500);
    let count = |bound: &str| judge(dir.path(), bound).rate.count;
    assert_eq!(count("sdc+due>0.5"), summary.outcomes.sdc.count + summary.outcomes.due.count);
    assert_eq!(count("due.hang+sdc.detectable>0.5"), summary.due["hang"] + summary.sdc["detectable"]);
    assert_eq!(count("due.crash>0.5"), summary.outcomes.due.count - summary.due["hang"] - summary.due["detected"]);
    let kernel = &summary.by_kernel[1].account;
    let verdict = judge(dir.path(), "kernel_1/sdc>0.5");
    let outcomes = kernel.outcomes;
    assert_eq!((verdict.rate.count, verdict.landed), (outcomes.sdc, outcomes.masked + outcomes.sdc + outcomes.due));
    assert_eq!(verdict.rate.high, kernel.intervals.unwrap().sdc.high);
    assert_eq!(count("kernel/sdc>0.5"), summary.outcomes.sdc.count, "the plain name is that of both");
    let by_group: BTreeMap<_, _> = summary.by_group.iter().map(|part| (part.name.as_str(), part.account)).collect();
    assert_eq!(count("group:load/due>0.5"), by_group["load"].outcomes.due);
    let line = summary.by_line.iter().find(|part| part.line == Some(7)).unwrap();
    assert_eq!(count("line:fake.cu:7/masked>0.5"), line.account.outcomes.masked);
    assert_eq!(count("line:ake.cu:7/masked>0.5"), 0, "the end of a path begins at a slash");
}

#[test]
fn so_many_more_runs_as_are_said_decide() {
    let (dir, summary) = sampled(200);
    let limit = summary.outcomes.sdc.rate.unwrap() * 1.2;
    let Judgement::Undecided(More::Runs(more)) = judge(dir.path(), &format!("sdc>{limit}")).judgement else {
        panic!("it is decided");
    };
    // If the rate stays, which that of this fake nearly does; twice as many allow for the difference.
    let rate = summary.outcomes.sdc.rate.unwrap();
    let landed = (200 + more) * summary.runs.landed / 200;
    let proportion = stats::Proportion::new((rate * landed as f64) as u64, landed).unwrap();
    let interval = proportion.wilson(stats::Confidence::PERCENT_95);
    assert!(interval.high <= limit * 1.001 && interval.high > limit * 0.98, "{more}: {interval:?} {limit}");
}

#[test]
fn what_no_sample_can_decide_is_said_to_be_so() {
    let dir = tempfile::tempdir().unwrap();
    run_all(dir.path(), config(50), &Fake { masked: 1000, ..Fake::default() });
    assert_eq!(judge(dir.path(), "sdc>0").judgement, Judgement::Undecided(More::Everything));
    assert_eq!(judge(dir.path(), "nowhere/sdc>0.5").judgement, Judgement::Undecided(More::Anything));
    assert_eq!(judge(dir.path(), "masked>0").judgement, Judgement::Exceeded);
}

#[test]
fn a_campaign_in_strata_is_judged_by_its_own_estimate() {
    let dir = tempfile::tempdir().unwrap();
    let selection = SelectionWords { stratify: Some(Stratify::Kernel), ..SelectionWords::default() };
    let config = Choices { selection, ..choices(300) }.settle().unwrap();
    let summary = run_all(dir.path(), config, &Fake::default());
    let verdict = judge(dir.path(), "masked<0.6");
    assert_eq!(verdict.rate, summary.outcomes.masked);
    let limit = summary.outcomes.sdc.rate.unwrap() * 0.9;
    assert!(matches!(judge(dir.path(), &format!("sdc>{limit}")).judgement, Judgement::Undecided(More::Runs(1..))));
}

#[test]
fn an_exhaustive_campaign_is_exact_and_only_as_a_whole() {
    let target = Fake::default();
    let dir = tempfile::tempdir().unwrap();
    let summary = run_all(dir.path(), sweeping::every_fault(), &target);
    let rate = summary.outcomes.sdc.rate.unwrap();
    let verdict = judge(dir.path(), &format!("sdc>{rate}"));
    assert_eq!((verdict.judgement, verdict.confidence), (Judgement::Kept, None));
    assert_eq!(judge(dir.path(), &format!("sdc>={rate}")).judgement, Judgement::Exceeded);
    // Bins together, by weight.
    let both = judge(dir.path(), "sdc.maybe+sdc.bad>0").rate.rate.unwrap();
    assert!((both - rate).abs() < 1e-12);
    let kernel = summary.by_kernel[0].account.rates.unwrap().due;
    assert_eq!(judge(dir.path(), "kernel_0/due>0").rate.rate, Some(kernel));
    let part = tempfile::tempdir().unwrap();
    let shard = Choices { shard: Shard::new(1, 2), runs: None, exhaustive: true, ..choices(1) };
    run_all(part.path(), shard.settle().unwrap(), &target);
    assert_eq!(judge(part.path(), "sdc>0").judgement, Judgement::Undecided(More::Rest));
}

#[test]
fn what_a_campaign_fails_by_may_change_after_its_plan_was_made() {
    let dir = tempfile::tempdir().unwrap();
    let choices = Choices { fail_if: vec!["sdc>0.9".parse().unwrap()], ..choices(20) };
    run_all(dir.path(), choices.settle().unwrap(), &Fake::default());
    let path = dir.path().join("campaign.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("fail-if = [\"sdc>0.9\"]"), "{text}");
    std::fs::write(&path, text.replace("sdc>0.9", "due>=1%")).unwrap();
    let store = Store::resume(dir.path(), &Fake::default()).unwrap();
    assert_eq!(store.config().bounds, ["due>=1%".parse().unwrap()]);
}
