//! When the disk, the file or the target is not what it should be.

use std::fs;
use std::time::Duration;

use expect_test::{Expect, expect};

use super::*;
use crate::{CampaignError, StoreError, Subject};

fn check(error: &dyn std::error::Error, dir: &Path, expected: &Expect) {
    let sources = std::iter::successors(Some(error), |&error| error.source());
    let chain: Vec<String> = sources.map(ToString::to_string).collect();
    expected.assert_eq(&format!("failed to {}", chain.join(": ")).replace(&dir.display().to_string(), "DIR"));
}

/// A campaign of which nothing was run yet.
fn created(runs: u64) -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path(), config(runs), &Fake::default()).unwrap();
    (dir, store)
}

#[test]
fn a_full_disk_stops_the_campaign_and_resuming_completes_it() {
    // Slow enough that rows are written in several transactions.
    let target = Fake { delay: Duration::from_micros(1500), ..Fake::default() };
    let (dir, mut store) = created(1000);
    store.parts().3.limit_pages(50);
    let error = run(&target, &mut store, &AtomicBool::new(false), &mut |_| {}).unwrap_err();
    check(
        &error,
        dir.path(),
        &expect!["failed to write rows to DIR: no space is left there; free some, then `beamline resume DIR` goes on"],
    );
    drop(store);
    let written = rows(dir.path()).len();
    assert!((1..1000).contains(&written), "{written}");
    resume_all(dir.path(), &target);
    assert_eq!(rows(dir.path()), undisturbed(config(1000), &Fake::default()));
}

#[test]
fn an_engine_that_the_target_does_not_offer_is_refused_before_anything_is_written() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("new");
    let other = Config { engine: crate::Engine::named("warp"), ..config(10) };
    let error = Store::create(&dir, other, &Fake::default()).unwrap_err();
    check(&error, &dir, &expect!["failed to use the engine `warp`: it is none of `auto` (makes them up)"]);
    assert!(!dir.exists());
    drop(Store::create(&dir, config(10), &Fake::default()).unwrap());
    let file = dir.join("campaign.toml");
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("\"auto\"", "\"warp\"")).unwrap();
    assert!(matches!(Store::resume(&dir, &Fake::default()), Err(StoreError::Engine(_))));
}

#[test]
fn a_truncated_plan_is_recognised_wherever_it_is_cut() {
    let (dir, store) = created(20);
    drop(store);
    let path = dir.path().join("plan");
    let whole = fs::read(&path).unwrap();
    for length in [0, 10, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        let error = Store::resume(dir.path(), &Fake::default()).unwrap_err();
        assert!(matches!(error, StoreError::Plan(_)), "{length}: {error}");
    }
    check(
        &Store::resume(dir.path(), &Fake::default()).unwrap_err(),
        dir.path(),
        &expect![
            "failed to read the plan DIR/plan: it holds 19 of 20 runs; delete it and `beamline resume DIR` makes it again"
        ],
    );
    fs::write(&path, [&whole[..], b"more"].concat()).unwrap();
    check(
        &Store::resume(dir.path(), &Fake::default()).unwrap_err(),
        dir.path(),
        &expect![
            "failed to read the plan DIR/plan: it is not of the format beamline.plan/2; delete it and `beamline resume DIR` makes it again"
        ],
    );
    // As the message says:
    fs::remove_file(&path).unwrap();
    resume_all(dir.path(), &Fake::default());
    assert_eq!(fs::read(&path).unwrap(), whole);
}

#[test]
fn a_damaged_line_of_the_plan_stops_the_campaign_at_its_run() {
    let (dir, mut store) = created(20);
    let path = dir.path().join("plan");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\n[7,", "\n[8,", 1)).unwrap();
    let error = run(&Fake::default(), &mut store, &AtomicBool::new(false), &mut |_| {}).unwrap_err();
    check(
        &error,
        dir.path(),
        &expect![
            "failed to read the plan DIR/plan: the line of run 7 is damaged; delete it and `beamline resume DIR` makes it again"
        ],
    );
}

#[test]
fn a_foreign_file_in_the_place_of_the_rows_is_refused_and_left_alone() {
    let (dir, store) = created(20);
    drop(store);
    let path = dir.path().join("shard-1-of-1.sqlite");
    fs::remove_file(&path).unwrap();
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE run (mine TEXT)").unwrap();
    let foreign = fs::read(&path).unwrap();
    check(
        &Store::resume(dir.path(), &Fake::default()).unwrap_err(),
        dir.path(),
        &expect!["failed to use DIR/shard-1-of-1.sqlite: it is not a file of rows made by beamline; move it away"],
    );
    assert_eq!(fs::read(&path).unwrap(), foreign);
    fs::write(&path, "this is no database, but long enough to be read as the head of one").unwrap();
    assert!(matches!(Store::resume(dir.path(), &Fake::default()), Err(StoreError::Foreign { .. })));
    assert!(matches!(Results::open(dir.path()), Err(StoreError::Foreign { .. })));
}

#[test]
fn rows_of_another_version_are_refused() {
    for version in [3, 99] {
        let (dir, store) = created(20);
        drop(store);
        let path = dir.path().join("shard-1-of-1.sqlite");
        rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", version).unwrap();
        let refused =
            [Store::resume(dir.path(), &Fake::default()).unwrap_err(), Results::open(dir.path()).unwrap_err()];
        for error in refused {
            let expected = format!(
                "use {}: its rows have version {version}, this beamline knows version 7; use the beamline that made \
                 it, or run the campaign again: the same seed gives the same faults",
                path.display()
            );
            assert_eq!(error.to_string(), expected);
        }
    }
}

#[test]
fn a_plan_of_an_older_version_is_refused_by_its_rows() {
    let (dir, store) = created(20);
    drop(store);
    let plan = dir.path().join("plan");
    let text = fs::read_to_string(&plan).unwrap().replace("beamline.plan/2", "beamline.plan/1");
    fs::write(&plan, text).unwrap();
    let path = dir.path().join("shard-1-of-1.sqlite");
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 2).unwrap();
    assert!(matches!(Store::resume(dir.path(), &Fake::default()), Err(StoreError::Version { found: 2, .. })));
}

#[test]
fn rows_are_not_written_through_a_link() {
    let (dir, store) = created(20);
    drop(store);
    let path = dir.path().join("shard-1-of-1.sqlite");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(dir.path().join("elsewhere"), &path).unwrap();
    check(
        &Store::resume(dir.path(), &Fake::default()).unwrap_err(),
        dir.path(),
        &expect!["failed to write rows to DIR/shard-1-of-1.sqlite: it is a symbolic link; put the file itself there"],
    );
    assert!(!dir.path().join("elsewhere").exists());
}

#[test]
fn the_races_of_the_golden_run_are_told_by_who_has_the_rows_alone() {
    let dir = tempfile::tempdir().unwrap();
    let summary = run_all(dir.path(), config(20), &Fake::default());
    assert_eq!(summary.races, Fake::default().races());
    assert_eq!(summary.races_unsearched, Fake::default().races_unsearched());
    assert_eq!(Results::open(dir.path()).unwrap().summary().unwrap().races, summary.races);
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let out = dir.path().join("file").join("out");
    check(
        &Store::create(&out, config(20), &Fake::default()).unwrap_err(),
        dir.path(),
        &expect![
            "failed to create the directory DIR/file/out; choose one that can be written: Not a directory (os error 20)"
        ],
    );
}

#[test]
fn a_campaign_is_not_written_over() {
    let (dir, store) = created(20);
    drop(store);
    check(
        &Store::create(dir.path(), config(20), &Fake::default()).unwrap_err(),
        dir.path(),
        &expect![
            "failed to create a campaign in DIR: there is one already; go on with `beamline resume DIR`, or choose another directory"
        ],
    );
}

#[test]
fn two_processes_do_not_run_one_campaign() {
    let (dir, store) = created(20);
    check(
        &Store::resume(dir.path(), &Fake::default()).unwrap_err(),
        dir.path(),
        &expect!["failed to use DIR/campaign.toml: another process has it open; wait for it to end"],
    );
    drop(store);
    resume_all(dir.path(), &Fake::default());
}

#[test]
fn a_directory_without_a_campaign_is_not_resumed() {
    let dir = tempfile::tempdir().unwrap();
    check(
        &Store::resume(dir.path(), &Fake::default()).unwrap_err(),
        dir.path(),
        &expect![
            "failed to find a campaign in DIR: it has no campaign.toml, so nothing was run there; start with `beamline campaign`"
        ],
    );
    check(
        &Results::open(dir.path()).unwrap_err(),
        dir.path(),
        &expect![
            "failed to find a campaign in DIR: it has no campaign.toml, so nothing was run there; start with `beamline campaign`"
        ],
    );
}

#[test]
fn a_campaign_whose_rows_are_not_set_up_yet_has_nothing_to_read() {
    let (dir, store) = created(20);
    drop(store);
    let path = dir.path().join("shard-1-of-1.sqlite");
    fs::write(&path, "").unwrap();
    check(
        &Results::open(dir.path()).unwrap_err(),
        dir.path(),
        &expect!["failed to read DIR/shard-1-of-1.sqlite: nothing was run yet; start with `beamline resume DIR`"],
    );
    fs::remove_file(&path).unwrap();
    assert!(matches!(Results::open(dir.path()), Err(StoreError::NoRows { .. })));
}

#[test]
fn another_capsule_or_an_edited_configuration_is_refused() {
    let (dir, store) = created(20);
    drop(store);
    let other = Fake { digest: "0ther".into(), ..Fake::default() };
    check(
        &Store::resume(dir.path(), &other).unwrap_err(),
        dir.path(),
        &expect![
            "failed to go on in DIR: its runs are of the capsule with digest fa4e, this one has 0ther; give the one that the campaign was started with, or start a new campaign"
        ],
    );
    let path = dir.path().join("campaign.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("seed = 7", "seed = 8")).unwrap();
    check(
        &Store::resume(dir.path(), &Fake::default()).unwrap_err(),
        dir.path(),
        &expect![
            "failed to go on in DIR: campaign.toml was changed after the plan was made from it; undo the change (`capsule`, `jobs`, `memory` and `fail-if` may differ), or start a new campaign"
        ],
    );
    fs::write(&path, text.replace("jobs = 2", "jobs = 1").replace("\"fake\"", "\"elsewhere/fake\"")).unwrap();
    resume_all(dir.path(), &Fake::default());
}

#[test]
fn a_selection_that_cannot_be_planned_leaves_no_campaign_behind() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let target = Fake { plan_error: Some("find kernel `gem`: the capsule has `gemm`".into()), ..Fake::default() };
    check(
        &Store::create(&out, config(20), &target).unwrap_err(),
        dir.path(),
        &expect!["failed to plan the campaign: find kernel `gem`: the capsule has `gemm`"],
    );
    assert!(!out.exists());
}

#[test]
fn a_worker_that_cannot_be_had_stops_the_campaign() {
    let (dir, mut store) = created(20);
    let target = Fake { worker_error: Some("allocate memory for a worker".into()), ..Fake::default() };
    let error = run(&target, &mut store, &AtomicBool::new(false), &mut |_| {}).unwrap_err();
    assert!(matches!(error, CampaignError::Worker(_)));
    check(&error, dir.path(), &expect!["failed to start a worker: allocate memory for a worker"]);
}
