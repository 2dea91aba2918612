//! Interrupted anywhere, a campaign goes on to the same rows.

use std::fs;
use std::time::Duration;

use super::*;

#[test]
fn interrupted_again_and_again_it_ends_with_the_same_rows() {
    let target = Fake::default();
    let expected = undisturbed(config(300), &target);
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::create(dir.path(), config(300), &target).unwrap();
    let mut interruptions = 0;
    while let CampaignEnd::Interrupted(summary) = run_some(&mut store, &target, 7) {
        let remaining = summary.remaining.unwrap();
        drop(store);
        assert_eq!(rows(dir.path()).len() as u64 + remaining, 300);
        store = Store::resume(dir.path(), &target).unwrap();
        interruptions += 1;
    }
    assert!(interruptions >= 20, "{interruptions}");
    drop(store);
    assert_eq!(rows(dir.path()), expected);
}

#[test]
fn stopped_before_the_first_run_it_has_no_row_and_goes_on() {
    let target = Fake::default();
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::create(dir.path(), config(30), &target).unwrap();
    assert!(matches!(run_some(&mut store, &target, 0), CampaignEnd::Interrupted(_)));
    drop(store);
    assert_eq!(rows(dir.path()), []);
    resume_all(dir.path(), &target);
    assert_eq!(rows(dir.path()), undisturbed(config(30), &target));
}

#[test]
fn stopped_within_a_batch_it_keeps_the_runs_that_were_made() {
    let target = Fake::default();
    let dir = tempfile::tempdir().unwrap();
    let one_worker = Choices { jobs: Some(1), ..choices(600) }.settle().unwrap();
    let mut store = Store::create(dir.path(), one_worker, &target).unwrap();
    assert!(matches!(run_some(&mut store, &target, 70), CampaignEnd::Interrupted(_)));
    drop(store);
    assert_eq!(rows(dir.path()).len(), 70);
    resume_all(dir.path(), &target);
    assert_eq!(rows(dir.path()), undisturbed(config(600), &target));
}

#[test]
fn a_finished_campaign_is_resumed_without_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let first = run_all(dir.path(), config(30), &Fake::default());
    let idle = Fake { worker_error: Some("run anything".into()), ..Fake::default() };
    let again = resume_all(dir.path(), &idle);
    assert_eq!(Summary { speed: first.speed.clone(), ..again }, first);
}

#[test]
fn resuming_with_other_jobs_gives_the_same_rows() {
    let target = Fake::default();
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::create(dir.path(), config(200), &target).unwrap();
    run_some(&mut store, &target, 60);
    drop(store);
    let mut store = Store::resume(dir.path(), &target).unwrap();
    store.set_jobs(std::num::NonZeroU32::new(5));
    finish(&mut store, &target);
    drop(store);
    assert_eq!(rows(dir.path()), undisturbed(config(200), &target));
}

#[test]
fn a_plan_that_is_made_again_is_that_of_the_rows_or_nothing_is_run() {
    let target = Fake::default();
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::create(dir.path(), config(200), &target).unwrap();
    run_some(&mut store, &target, 60);
    drop(store);
    let (file, plan) = (dir.path().join("campaign.toml"), dir.path().join("plan"));
    let said = fs::read_to_string(&file).unwrap();
    let other = said.replace("seed = 7", "seed = 8");
    assert_ne!(said, other);
    fs::write(&file, other).unwrap();
    fs::remove_file(&plan).unwrap();
    let error = Store::resume(dir.path(), &target).unwrap_err();
    assert!(matches!(error, crate::StoreError::Changed { .. }), "{error}");
    // With the change undone it goes on.
    fs::write(&file, said).unwrap();
    resume_all(dir.path(), &target);
    assert_eq!(rows(dir.path()), undisturbed(config(200), &target));
}

/// A campaign as a kill leaves it: these files of it, the others never written.
fn check_remnant(kept: &[&str], spoil: impl FnOnce(&Path)) {
    let target = Fake::default();
    let dir = tempfile::tempdir().unwrap();
    drop(Store::create(dir.path(), config(30), &target).unwrap());
    for entry in fs::read_dir(dir.path()).unwrap() {
        let path = entry.unwrap().path();
        if !kept.iter().any(|kept| path.ends_with(kept)) {
            fs::remove_file(path).unwrap();
        }
    }
    spoil(dir.path());
    resume_all(dir.path(), &target);
    assert_eq!(rows(dir.path()), undisturbed(config(30), &target), "{kept:?}");
}

#[test]
fn killed_after_the_configuration_it_plans_again() {
    check_remnant(&["campaign.toml"], |_| {});
}

#[test]
fn killed_while_planning_it_plans_again() {
    check_remnant(&["campaign.toml"], |dir| {
        fs::write(dir.join("plan.tmp"), "{\"format\":\"beaml").unwrap();
    });
}

#[test]
fn killed_after_the_plan_it_makes_the_rows() {
    check_remnant(&["campaign.toml", "plan"], |_| {});
}

#[test]
fn killed_while_the_rows_were_set_up_it_sets_them_up() {
    let empty = |dir: &Path| fs::write(dir.join("shard-1-of-1.sqlite"), "").unwrap();
    check_remnant(&["campaign.toml", "plan"], empty);
}

#[test]
fn killed_while_the_summary_was_written_it_writes_it() {
    let partial = |dir: &Path| fs::write(dir.join("summary.json.tmp"), "{").unwrap();
    check_remnant(&["campaign.toml", "plan", "shard-1-of-1.sqlite"], partial);
}

#[test]
fn killed_before_the_configuration_there_is_no_campaign_and_starting_works() {
    let target = Fake::default();
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("campaign.toml.tmp"), "caps").unwrap();
    fs::write(dir.path().join("plan.tmp"), "{").unwrap();
    assert!(matches!(Store::resume(dir.path(), &target), Err(crate::StoreError::Missing { .. })));
    run_all(dir.path(), config(30), &target);
    assert_eq!(rows(dir.path()), undisturbed(config(30), &target));
}

#[test]
fn a_campaign_is_read_while_it_runs() {
    let target = Fake { delay: Duration::from_millis(3), ..Fake::default() };
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::create(dir.path(), config(200), &target).unwrap();
    let mut seen = Vec::new();
    let mut on_event = |event: CampaignEvent<'_>| {
        if let CampaignEvent::Written { tally } = event {
            seen.push((tally.total(), rows(dir.path()).len() as u64));
        }
    };
    run(&target, &mut store, &AtomicBool::new(false), &mut on_event).unwrap();
    assert!(seen.len() > 1 && seen.iter().all(|(told, found)| told == found), "{seen:?}");
}

#[test]
fn where_a_kill_came_before_the_configuration_a_campaign_is_made_anew() {
    let expected = undisturbed(config(40), &Fake::default());
    for left in [vec![], vec!["campaign.toml.tmp"], vec!["plan.tmp", "campaign.toml.tmp"]] {
        let dir = tempfile::tempdir().unwrap();
        for name in left {
            fs::write(dir.path().join(name), "capsule = 'fa").unwrap();
        }
        let target = Fake::default();
        let mut store = Store::make(dir.path(), config(40), &target).unwrap();
        run_some(&mut store, &target, 9);
        drop(store);
        // The second time it goes on.
        let mut store = Store::make(dir.path(), config(40), &target).unwrap();
        finish(&mut store, &target);
        assert_eq!(rows(dir.path()), expected);
    }
}

#[test]
fn a_campaign_of_another_configuration_is_not_gone_on_with() {
    let (dir, target) = (tempfile::tempdir().unwrap(), Fake::default());
    drop(Store::make(dir.path(), config(40), &target).unwrap());
    let others = [
        (Config { order: Some("warps".to_owned()), ..config(40) }, "order"),
        (Config { addresses: Some("strict".to_owned()), ..config(40) }, "addresses"),
        (Config { seed: 77, ..config(40) }, "seed"),
    ];
    for (other, key) in others {
        let error = Store::make(dir.path(), other, &target).unwrap_err().to_string();
        assert!(error.contains(&format!("another `{key}`")), "{error}");
    }
    let elsewhere = Config { capsule: "elsewhere/it.capsule".to_owned(), jobs: None, memory: None, ..config(40) };
    assert!(Store::make(dir.path(), elsewhere, &target).is_ok());
}
