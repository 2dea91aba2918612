//! Stopping by margin.

use stats::Decision;

use super::*;

fn by_margin(margin: f64, jobs: u32) -> Config {
    let choices = Choices { runs: None, margin: Some(margin), jobs: Some(jobs), ..choices(0) };
    choices.settle().unwrap()
}

/// Most runs masked, so that the rule stops at one of its middle looks.
fn mostly_masked() -> Fake {
    Fake { masked: 900, ..Fake::default() }
}

#[test]
fn the_campaign_stops_at_a_look_when_every_rate_is_tight() {
    let dir = tempfile::tempdir().unwrap();
    let config = by_margin(0.05, 3);
    let rule = config.sequential().unwrap();
    let summary = run_all(dir.path(), config, &mostly_masked());
    assert!(rule.looks().contains(&summary.runs.planned));
    assert!(summary.runs.planned < rule.worst_case(), "{:?}", summary.runs);
    assert_eq!((summary.remaining, rows(dir.path()).len() as u64), (None, summary.runs.planned));
    for rate in [summary.outcomes.masked, summary.outcomes.sdc, summary.outcomes.due] {
        let estimate = rate.rate.unwrap();
        assert!(rate.high - estimate <= 0.05 && estimate - rate.low <= 0.05, "{rate:?}");
    }
}

#[test]
fn the_plan_holds_the_worst_case_before_the_first_run() {
    let dir = tempfile::tempdir().unwrap();
    let config = by_margin(0.05, 2);
    let lines = config.planned() + 1;
    Store::create(dir.path(), config, &mostly_masked()).unwrap();
    let plan = std::fs::read_to_string(dir.path().join("plan")).unwrap();
    assert_eq!(plan.lines().count() as u64, lines);
}

#[test]
fn the_rows_and_the_stop_do_not_depend_on_the_number_of_workers() {
    let expected = undisturbed(by_margin(0.05, 1), &mostly_masked());
    for jobs in [2, 5, 32] {
        let dir = tempfile::tempdir().unwrap();
        run_all(dir.path(), by_margin(0.05, jobs), &mostly_masked());
        assert_eq!(rows(dir.path()), expected, "{jobs} jobs");
    }
}

#[test]
fn interrupted_again_and_again_it_stops_at_the_same_look() {
    let target = mostly_masked();
    let expected = undisturbed(by_margin(0.1, 1), &target);
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::create(dir.path(), by_margin(0.1, 3), &target).unwrap();
    let mut interruptions = 0;
    while let CampaignEnd::Interrupted(summary) = run_some(&mut store, &target, 9) {
        assert!(summary.remaining.unwrap() > 0);
        drop(store);
        store = Store::resume(dir.path(), &target).unwrap();
        interruptions += 1;
    }
    assert!(interruptions >= 10, "{interruptions}");
    assert_eq!(rows(dir.path()), expected);
}

#[test]
fn intervals_are_at_the_level_of_the_looks() {
    let dir = tempfile::tempdir().unwrap();
    let config = by_margin(0.05, 2);
    let rule = config.sequential().unwrap();
    let summary = run_all(dir.path(), config, &mostly_masked());
    let stopping = summary.stopping.clone().unwrap();
    assert_eq!((stopping.looks, stopping.level), (11, rule.level().level()));
    let landed = summary.runs.landed;
    let masked = stats::Proportion::new(summary.outcomes.masked.count, landed).unwrap();
    assert_eq!(summary.outcomes.masked.low, rule.interval(masked).low);
}

#[test]
fn every_look_is_an_event_and_the_last_one_stops() {
    let dir = tempfile::tempdir().unwrap();
    let target = mostly_masked();
    let mut store = Store::create(dir.path(), by_margin(0.05, 2), &target).unwrap();
    let mut looks = Vec::new();
    let mut on_event = |event: CampaignEvent<'_>| {
        if let CampaignEvent::Looked { look, runs, decision, .. } = event {
            looks.push((look, runs, decision));
        }
    };
    run(&target, &mut store, &AtomicBool::new(false), &mut on_event).unwrap();
    assert_eq!(looks[0], (1, 100, Decision::Continue));
    let last = looks.pop().unwrap();
    assert_eq!(last.2, Decision::Stop);
    assert!(looks.iter().all(|look| look.2 == Decision::Continue));
}

#[test]
fn a_campaign_in_which_nothing_lands_ends_at_the_worst_case() {
    // No rate can be bounded, so only the last look stops; the account still adds up.
    let dir = tempfile::tempdir().unwrap();
    let config = by_margin(0.1, 2);
    let worst_case = config.planned();
    let summary = run_all(dir.path(), config, &Fake { lands: false, ..Fake::default() });
    assert_eq!((summary.runs.planned, summary.runs.not_landed), (worst_case, worst_case));
    assert_eq!((summary.remaining, summary.outcomes.masked.rate), (None, None));
}

#[test]
fn a_cap_ends_the_campaign_and_the_summary_says_that_the_margin_is_not_reached() {
    let dir = tempfile::tempdir().unwrap();
    let choices = Choices { runs: Some(130), margin: Some(0.02), jobs: Some(2), ..choices(0) };
    let summary = run_all(dir.path(), choices.settle().unwrap(), &mostly_masked());
    let stopping = summary.stopping.unwrap();
    assert_eq!((summary.runs.planned, summary.remaining), (130, None));
    assert_eq!((stopping.at_most, stopping.reached, stopping.looks), (130, false, 3));
    assert!(stopping.widest > 0.02);
}

#[test]
fn by_kernel_the_rates_of_every_kernel_are_within_the_margin() {
    let of = |by| {
        let dir = tempfile::tempdir().unwrap();
        let choices = Choices { runs: Some(20_000), margin: Some(0.05), margin_by: by, jobs: Some(3), ..choices(0) };
        run_all(dir.path(), choices.settle().unwrap(), &mostly_masked())
    };
    let widest = |summary: &Summary| {
        let reach = |rate: f64, low: f64, high: f64| (high - rate).max(rate - low);
        let kernels = summary.by_kernel.iter().flat_map(|kernel| {
            let landed = kernel.account.outcomes.masked + kernel.account.outcomes.sdc + kernel.account.outcomes.due;
            let counts = [kernel.account.outcomes.masked, kernel.account.outcomes.sdc, kernel.account.outcomes.due];
            counts.map(|count| {
                let proportion = stats::Proportion::new(count, landed).unwrap();
                let level = stats::Confidence::new(summary.stopping.as_ref().unwrap().level).unwrap();
                let interval = proportion.wilson(level);
                reach(proportion.rate().unwrap_or(0.5), interval.low, interval.high)
            })
        });
        kernels.fold(0.0, f64::max)
    };
    let (overall, by_kernel) = (of(None), of(Some(MarginBy::Kernel)));
    assert!(overall.by_kernel.len() > 1 && widest(&overall) > 0.05, "{}", widest(&overall));
    assert!(widest(&by_kernel) <= 0.05 && by_kernel.remaining.is_none(), "{}", widest(&by_kernel));
    let [first, second] = [overall, by_kernel].map(|it| (it.runs.planned, it.stopping.unwrap()));
    assert!(first.0 < second.0 && first.1.reached && second.1.reached);
    assert_eq!((first.1.by.as_str(), second.1.by.as_str()), ("overall", "kernel"));
}
