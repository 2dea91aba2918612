//! Campaigns that are kept in memory.

use super::*;
use crate::{Engine, Shard, run_in_memory};

fn in_memory(config: &Config, target: &Fake) -> (CampaignEnd, Results) {
    run_in_memory(target, config, &AtomicBool::new(false), &mut |_| {}).unwrap()
}

#[test]
fn a_campaign_in_memory_has_the_rows_and_the_summary_of_one_on_disk() {
    let (target, dir) = (Fake::default(), tempfile::tempdir().unwrap());
    let kept = run_all(dir.path(), config(300), &target);
    let (ended, results) = in_memory(&config(300), &target);
    let CampaignEnd::Finished(summary) = ended else { panic!("{ended:?}") };
    let mut found = Vec::new();
    results.visit(&mut |row| found.push(row)).unwrap();
    assert_eq!(found, rows(dir.path()));
    assert_eq!(summary.outcomes, kept.outcomes);
    assert_eq!(results.summary().unwrap().by_group, kept.by_group);
}

#[test]
fn a_campaign_in_memory_that_stops_by_margin_stops_where_one_on_disk_does() {
    let (target, dir) = (Fake::default(), tempfile::tempdir().unwrap());
    let config = Choices { margin: Some(0.1), runs: None, ..choices(1) }.settle().unwrap();
    let kept = run_all(dir.path(), config.clone(), &target);
    let (_, results) = in_memory(&config, &target);
    assert_eq!(results.summary().unwrap().runs, kept.runs);
}

#[test]
fn what_cannot_be_planned_is_refused_in_memory_too() {
    let config = Choices { engine: Some(Engine::named("warp")), ..choices(3) }.settle().unwrap();
    let error = run_in_memory(&Fake::default(), &config, &AtomicBool::new(false), &mut |_| {}).unwrap_err();
    assert!(error.to_string().starts_with("use the engine `warp`"), "{error}");
}

#[test]
fn shards_in_memory_have_the_rows_of_shards_on_disk() {
    let target = Fake::default();
    for number in 1..=3 {
        let config = Choices { shard: Shard::new(number, 3), ..choices(100) }.settle().unwrap();
        let dir = tempfile::tempdir().unwrap();
        run_all(dir.path(), config.clone(), &target);
        let (_, results) = in_memory(&config, &target);
        let mut found = Vec::new();
        results.visit(&mut |row| found.push(row)).unwrap();
        assert_eq!(found, rows(dir.path()));
    }
}

#[test]
fn a_campaign_in_memory_that_is_out_of_time_says_so() {
    let slow = Fake { delay: std::time::Duration::from_millis(2), ..Fake::default() };
    let config = Choices { seconds: Some(0.05), ..choices(300) }.settle().unwrap();
    let (ended, results) = in_memory(&config, &slow);
    let CampaignEnd::OutOfTime(summary) = ended else { panic!("{ended:?}") };
    assert_eq!(results.summary().unwrap().runs, summary.runs);
    assert!(summary.remaining.is_some_and(|remaining| remaining > 0));
}

#[test]
fn every_fault_in_memory_is_counted_as_on_disk() {
    let target = Fake::default();
    let config = Choices { runs: None, exhaustive: true, ..choices(1) }.settle().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let kept = run_all(dir.path(), config.clone(), &target);
    let (_, results) = in_memory(&config, &target);
    assert!(results.is_exhaustive());
    assert_eq!(results.counts().unwrap(), Results::open(dir.path()).unwrap().counts().unwrap());
    assert_eq!(results.summary().unwrap().outcomes, kept.outcomes);
}
