//! What a target says of its sites: labels, weights, and runs that are given up.

use super::*;
use crate::{Finding, Intent, Label, LabelColumn, Labels, PlanError, Site, StoreError, Value};
use outcome::{Class, Masked, Outcome};

fn changed(change: fn(Site) -> Site) -> Fake {
    Fake { change, ..Fake::default() }
}

/// The site of the run whose dynamic instruction is odd is given up.
fn half_given_up(site: Site) -> Site {
    let odd = site.labels.number(0).unwrap() % 2 == 1;
    let reason = if site.spot.pc > 6 { "nothing to hit" } else { "thread not there" };
    if odd { Site { intent: Intent::GivenUp(reason.to_owned()), ..site } } else { site }
}

#[test]
fn labels_come_back_as_the_target_said_them() {
    let dir = tempfile::tempdir().unwrap();
    run_all(dir.path(), config(20), &Fake::default());
    let results = Results::open(dir.path()).unwrap();
    let names: Vec<&str> = results.labels().iter().map(|label| label.name.as_ref()).collect();
    assert_eq!(names, ["dynamic", "bits", "layer"]);
    for row in rows(dir.path()) {
        let Intent::Fault(id) = &row.site.intent else { panic!("{row:?}") };
        assert!(id.contains(&format!("dyn={},", row.site.labels.number(0).unwrap())), "{row:?}");
        assert!(row.site.labels.text(1).unwrap().parse::<u32>().unwrap() < 32);
        assert_eq!(row.site.labels.all()[2], Label::None);
    }
    let columns = results.columns();
    let place = columns.iter().position(|column| column.name == "layer").unwrap();
    results.visit_values(&mut |values| assert_eq!(values[place], Value::Null)).unwrap();
}

#[test]
fn what_a_label_means_stands_in_the_file() {
    let dir = tempfile::tempdir().unwrap();
    run_all(dir.path(), config(5), &Fake::default());
    let file = rusqlite::Connection::open(dir.path().join("shard-1-of-1.sqlite")).unwrap();
    let sql = "SELECT kind || ': ' || meaning FROM label WHERE name = 'dynamic'";
    let said: String = file.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(said, "number: the dynamic instruction of the thread");
}

#[test]
fn a_run_that_is_given_up_is_a_row_that_did_not_land_with_its_reason() {
    let (dir, target) = (tempfile::tempdir().unwrap(), changed(half_given_up));
    let summary = run_all(dir.path(), config(300), &target);
    let rows = rows(dir.path());
    let given_up: Vec<&Row> = rows.iter().filter(|row| row.finding == Finding::GivenUp).collect();
    assert!(given_up.len() > 100);
    for row in &given_up {
        assert_eq!((row.finding.class(), row.site.fault()), (Class::NotLanded, None));
        assert!(row.site.given_up().is_some(), "{row:?}");
    }
    assert_eq!(summary.given_up.values().sum::<u64>(), given_up.len() as u64);
    assert_eq!(summary.given_up.keys().collect::<Vec<_>>(), ["nothing to hit", "thread not there"]);
    assert!(summary.runs.not_landed >= given_up.len() as u64);
    assert_eq!(summary.runs.planned, summary.runs.landed + summary.runs.not_landed + summary.runs.failed);
    let results = Results::open(dir.path()).unwrap();
    assert_eq!(results.fault_of(given_up[0].run.0).unwrap(), None);
    // Giving up changes nothing of the runs that are made.
    let all = undisturbed(config(300), &Fake::default());
    let same = rows.iter().zip(&all).filter(|(row, _)| row.finding != Finding::GivenUp);
    assert!(same.clone().count() > 100 && same.into_iter().all(|(row, other)| row == other));
}

#[test]
fn given_up_runs_survive_shards_and_merging() {
    let target = changed(half_given_up);
    let dirs: Vec<_> = (0..3).map(|_| tempfile::tempdir().unwrap()).collect();
    for (number, dir) in dirs.iter().take(2).enumerate() {
        let shard = crate::Shard::new(number as u32 + 1, 2);
        run_all(dir.path(), Choices { shard, ..choices(101) }.settle().unwrap(), &target);
    }
    let parts: Vec<_> = dirs[..2].iter().map(|dir| dir.path().to_owned()).collect();
    crate::merge(&parts, dirs[2].path()).unwrap();
    assert_eq!(rows(dirs[2].path()), undisturbed(config(101), &target));
}

/// A run stands for a hundred sites where its thread is even.
fn heavy(site: Site) -> Site {
    let even = site.labels.number(0).unwrap().is_multiple_of(2);
    Site { weight: if even { 100 } else { 1 }, ..site }
}

#[test]
fn rates_count_each_run_as_often_as_the_sites_it_stands_for() {
    let (dir, target) = (tempfile::tempdir().unwrap(), changed(heavy));
    let summary = run_all(dir.path(), config(400), &target);
    let (mut masked, mut landed) = (0.0, 0.0);
    for row in rows(dir.path()) {
        let Finding::Seen { outcome, .. } = row.finding else { continue };
        let weight = row.site.weight as f64;
        landed += if outcome == Outcome::NotLanded { 0.0 } else { weight };
        masked += if matches!(outcome, Outcome::Masked(Masked::Logical | Masked::NeverRead | Masked::Overwritten)) {
            weight
        } else {
            0.0
        };
    }
    let rate = summary.outcomes.masked;
    assert!((rate.rate.unwrap() - masked / landed).abs() < 1e-12);
    assert!(rate.low < masked / landed && masked / landed < rate.high);
    let plain = run_all(tempfile::tempdir().unwrap().path(), config(400), &Fake::default()).outcomes.masked;
    assert_eq!(rate.count, plain.count);
    assert!(rate.high - rate.low > plain.high - plain.low, "unequal weights say less");
}

#[test]
fn a_target_that_breaks_its_word_about_sites_is_found_out() {
    let refused = |change| {
        let dir = tempfile::tempdir().unwrap();
        match Store::create(dir.path(), config(5), &changed(change)) {
            Err(StoreError::Plan(error @ PlanError::Site(_))) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let start = "plan the campaign: the site of run 0 ";
    let none = refused(|site| Site { labels: Labels::default(), ..site });
    assert_eq!(none, format!("{start}has 0 labels, and 3 are declared; this is a bug in the target"));
    let kind = refused(|site| Site { labels: Labels::new(vec!["x".into(), Label::None, Label::None]), ..site });
    assert_eq!(kind, format!("{start}has a `dynamic` that is no number; this is a bug in the target"));
    let weightless = refused(|site| Site { weight: 0, ..site });
    assert_eq!(weightless, format!("{start}weighs nothing; this is a bug in the target"));
    assert_eq!(LabelColumn::number("a", "").kind.word(), "number");
}
