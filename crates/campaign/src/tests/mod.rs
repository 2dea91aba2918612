//! Tests of the whole crate, on a target of a few lines.

mod accounting;
mod bounds;
mod edits;
mod fake;
mod fake_sweep;
mod faults;
mod kill;
mod limited;
mod margin;
mod memory;
mod merging;
mod rejudging;
mod resuming;
mod same_rows;
mod sites;
mod stratifying;
mod sweeping;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::{CampaignEnd, CampaignEvent, Choices, Config, MarginBy, Results, Row, SelectionWords, Store, Summary, run};
use fake::{Countdown, Fake};

/// Choices for the fake target.
fn choices(runs: u64) -> Choices {
    Choices { capsule: Some("fake".into()), runs: Some(runs), seed: Some(7), jobs: Some(2), ..Choices::default() }
}

fn config(runs: u64) -> Config {
    choices(runs).settle().unwrap()
}

/// Makes the campaign and runs it to its end.
fn run_all(dir: &Path, config: Config, target: &Fake) -> Summary {
    let mut store = Store::create(dir, config, target).unwrap();
    finish(&mut store, target)
}

/// Goes on with the campaign to its end.
fn resume_all(dir: &Path, target: &Fake) -> Summary {
    let mut store = Store::resume(dir, target).unwrap();
    finish(&mut store, target)
}

fn finish(store: &mut Store, target: &Fake) -> Summary {
    match run(target, store, &AtomicBool::new(false), &mut |_| {}).unwrap() {
        CampaignEnd::Finished(summary) => summary,
        other => panic!("nobody interrupted: {other:?}"),
    }
}

/// Asks to stop once `runs` runs are made; the workers may be in the middle of others.
fn run_some(store: &mut Store, target: &Fake, runs: u64) -> CampaignEnd {
    let countdown = Countdown { runs: AtomicU64::new(runs), flag: AtomicBool::new(runs == 0) };
    let countdown = Arc::new(countdown);
    let target = Fake { stop: Some(Arc::clone(&countdown)), ..target.clone() };
    run(&target, store, &countdown.flag, &mut |_| {}).unwrap()
}

/// All rows of the campaign in `dir`.
fn rows(dir: &Path) -> Vec<Row> {
    let mut rows = Vec::new();
    Results::open(dir).unwrap().visit(&mut |row| rows.push(row)).unwrap();
    rows
}

/// The rows that an undisturbed campaign of one worker makes.
fn undisturbed(config: Config, target: &Fake) -> Vec<Row> {
    let dir = tempfile::tempdir().unwrap();
    let config = Choices { jobs: Some(1), shard: None, ..Choices::from(&config) }.settle().unwrap();
    run_all(dir.path(), config, target);
    rows(dir.path())
}
