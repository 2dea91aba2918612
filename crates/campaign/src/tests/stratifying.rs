//! Campaigns in strata: who is drawn from where, and what follows for the population.

use expect_test::expect;
use stats::{Proportion, Stratified};

use super::fake::{LABELS, STRATA};
use super::*;
use crate::{ConfigError, Planner, Shard, StoreError, Stratify, Stratum, TargetError, TargetSystem, merge};

fn by(stratify: Stratify, runs: u64) -> Choices {
    Choices { selection: SelectionWords { stratify: Some(stratify), ..SelectionWords::default() }, ..choices(runs) }
}

fn by_kernel(runs: u64) -> Config {
    by(Stratify::Kernel, runs).settle().unwrap()
}

#[test]
fn runs_take_turns_in_the_strata() {
    let dir = tempfile::tempdir().unwrap();
    let summary = run_all(dir.path(), by_kernel(300), &Fake::default());
    for row in rows(dir.path()) {
        assert_eq!(row.site.stratum, Some((row.run.0 % 3) as u32));
        assert_eq!(row.site.spot.kernel, format!("kernel_{}", row.run.0 % 3));
    }
    let strata = &summary.strata;
    assert_eq!(strata.iter().map(|part| (part.name.as_str(), part.members)).collect::<Vec<_>>(), STRATA);
    assert!(strata.iter().all(|part| part.account.runs == 100));
    assert_eq!(strata.iter().map(|part| part.weight).collect::<Vec<_>>(), [0.9, 0.09, 0.01]);
}

#[test]
fn rates_are_those_of_the_population_and_not_of_the_runs() {
    let dir = tempfile::tempdir().unwrap();
    let summary = run_all(dir.path(), by_kernel(3000), &Fake::default());
    let masked = summary.outcomes.masked;
    // Most of nearly all members are masked, and few of those from which a third of the runs was drawn.
    let pooled = masked.count as f64 / summary.runs.landed as f64;
    assert!((0.44..0.54).contains(&pooled), "{pooled}");
    assert!(masked.rate.unwrap() > 0.6 && masked.low < masked.rate.unwrap() && masked.rate.unwrap() < masked.high);
    let weighed: f64 =
        summary.outcomes.masked.rate.unwrap() + summary.outcomes.sdc.rate.unwrap() + summary.outcomes.due.rate.unwrap();
    assert!((weighed - 1.0).abs() < 1e-12);
    assert!(summary.strata[2].account.rates.unwrap().masked < 0.2);
}

#[test]
fn the_rates_are_the_stratified_estimates_over_what_landed() {
    let dir = tempfile::tempdir().unwrap();
    let summary = run_all(dir.path(), by_kernel(200), &Fake::default());
    let strata = summary.strata.iter().map(|part| {
        let (account, masked) = (&part.account, part.account.outcomes.masked);
        let landed = account.outcomes.masked + account.outcomes.sdc + account.outcomes.due;
        let share = landed as f64 / (landed + account.not_landed) as f64;
        stats::StratumSample { weight: part.weight * share, sample: Proportion::new(masked, landed).unwrap() }
    });
    let expected = Stratified::new(&strata.collect::<Vec<_>>());
    let interval = expected.interval(stats::IntervalKind::Wilson, stats::Confidence::PERCENT_95);
    let found = summary.outcomes.masked;
    for (one, other) in
        [(found.rate.unwrap(), expected.rate().unwrap()), (found.low, interval.low), (found.high, interval.high)]
    {
        assert!((one - other).abs() < 1e-12, "{found:?} instead of {interval:?}");
    }
}

#[test]
fn a_part_that_is_a_stratum_has_its_rates() {
    let dir = tempfile::tempdir().unwrap();
    let summary = run_all(dir.path(), by_kernel(200), &Fake::default());
    for (kernel, stratum) in summary.by_kernel.iter().zip(&summary.strata) {
        assert_eq!(kernel.name, stratum.name);
        let (one, other) = (kernel.account.intervals.unwrap().sdc, stratum.account.intervals.unwrap().sdc);
        assert!((one.low - other.low).abs() < 1e-9 && (one.high - other.high).abs() < 1e-9, "{one:?} {other:?}");
    }
}

#[test]
fn a_stratum_without_runs_widens_the_bounds() {
    let dir = tempfile::tempdir().unwrap();
    let summary = run_all(dir.path(), by_kernel(2), &Fake::default());
    let masked = summary.outcomes.masked;
    assert_eq!(summary.strata[2].account.runs, 0);
    assert_eq!((summary.strata[2].account.rates, masked.rate.is_some()), (None, true));
    assert!(masked.high >= 0.01 && masked.low <= 0.99);
}

#[test]
fn shards_and_interruptions_change_nothing() {
    let target = Fake::default();
    let single = tempfile::tempdir().unwrap();
    let expected = run_all(single.path(), by_kernel(157), &target);
    let dir = tempfile::tempdir().unwrap();
    let dirs = (1..=4).map(|number| {
        let part = dir.path().join(number.to_string());
        let config = Choices { shard: Shard::new(number, 4), ..by(Stratify::Kernel, 157) }.settle().unwrap();
        let mut store = Store::create(&part, config, &target).unwrap();
        run_some(&mut store, &target, 5);
        drop(store);
        resume_all(&part, &target);
        part
    });
    let dirs: Vec<_> = dirs.collect();
    let merged = merge(&dirs, &dir.path().join("out")).unwrap();
    assert_eq!(rows(&dir.path().join("out")), rows(single.path()));
    assert_eq!(Summary { speed: expected.speed.clone(), ..merged }, expected);
}

#[test]
fn a_campaign_goes_on_only_where_the_strata_are_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::create(dir.path(), by_kernel(50), &Fake::default()).unwrap();
    run_some(&mut store, &Fake::default(), 5);
    drop(store);
    let error = Store::resume(dir.path(), &Fake { more: 1, ..Fake::default() }).unwrap_err();
    assert!(matches!(error, StoreError::OtherSweep { .. }), "{error}");
    resume_all(dir.path(), &Fake::default());
}

#[test]
fn a_lost_plan_and_lost_rows_are_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let expected = run_all(dir.path(), by_kernel(50), &Fake::default());
    for file in ["plan", "shard-1-of-1.sqlite"] {
        std::fs::remove_file(dir.path().join(file)).unwrap();
    }
    let found = resume_all(dir.path(), &Fake::default());
    assert_eq!(Summary { speed: expected.speed.clone(), ..found }, expected);
}

/// A target that draws every run from the first stratum, whatever was asked, or has strata that cannot be.
#[derive(Debug)]
struct Wrong(Vec<Stratum>);

impl Planner for Wrong {
    fn labels(&self) -> &[crate::LabelColumn] {
        &LABELS
    }

    fn plan(
        &self,
        runs: &[crate::RunIndex],
        selection: &SelectionWords,
        seed: u64,
    ) -> Result<Vec<crate::Site>, TargetError> {
        let mut sites = Fake::default().plan(runs, selection, seed)?;
        sites.iter_mut().for_each(|site| site.stratum = Some(0));
        Ok(sites)
    }

    fn strata(&self, _: &SelectionWords) -> Result<Vec<Stratum>, TargetError> {
        Ok(self.0.clone())
    }
}

#[test]
fn a_target_that_breaks_its_promise_is_found_out() {
    let dir = tempfile::tempdir().unwrap();
    let stratum = |name: &str, members| Stratum { name: name.into(), members };
    let error = |strata| {
        Store::create(dir.path(), by_kernel(5), TargetSystem::from(&Fake::default()).planned_by(&Wrong(strata)))
            .unwrap_err()
            .to_string()
    };
    let head = "divide the population into strata:";
    assert!(error(vec![stratum("a", 1), stratum("b", 1)]).starts_with(&format!("{head} run 1 is drawn from Some(0)")));
    assert!(error(vec![]).starts_with(&format!("{head} there are 0")));
    assert!(error(vec![stratum("a", 0)]).starts_with(&format!("{head} `a` has 0 members")));
    assert!(error(vec![stratum("a", 1), stratum("a", 1)]).starts_with(&format!("{head} two are called `a`")));
    assert!(!dir.path().join("campaign.toml").exists());
}

#[test]
fn what_strata_do_not_go_with_is_refused() {
    let settle = |choices: Choices| choices.settle().unwrap_err();
    let margin = Choices { runs: None, margin: Some(0.05), ..by(Stratify::Group, 1) };
    assert!(matches!(settle(margin), ConfigError::StratifyMargin { runs: 385 }));
    let exhaustive = Choices { runs: None, exhaustive: true, ..by(Stratify::Group, 1) };
    assert!(matches!(settle(exhaustive), ConfigError::StratifyExhaustive));
    let dir = tempfile::tempdir().unwrap();
    let config = by(Stratify::Threads, 10).settle().unwrap();
    let error = Store::create(dir.path(), config, &Fake::default()).unwrap_err();
    let source = std::error::Error::source(&error).map(ToString::to_string);
    expect!["plan the campaign: divide the population: the fake has kernels only"]
        .assert_eq(&format!("{error}: {}", source.unwrap_or_default()));
}
