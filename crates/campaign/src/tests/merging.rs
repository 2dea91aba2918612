//! Shards joined are what one machine would have made.

use std::path::PathBuf;

use expect_test::{Expect, expect};

use super::*;
use crate::{MergeError, Shard, merge};

fn shard(number: u32, count: u32, choices: Choices) -> Config {
    Choices { shard: Shard::new(number, count), ..choices }.settle().unwrap()
}

/// Runs all shards; their directories are `dir/1` and so on.
fn run_shards(dir: &Path, count: u32, runs: u64) -> Vec<PathBuf> {
    let run_one = |number: u32| {
        let part = dir.join(number.to_string());
        run_all(&part, shard(number, count, choices(runs)), &Fake::default());
        part
    };
    (1..=count).map(run_one).collect()
}

fn check_refusal(dir: &Path, dirs: &[PathBuf], expected: &Expect) {
    let error = merge(dirs, &dir.join("out")).expect_err("the merge is refused");
    let text = format!("failed to {error}").replace(&dir.display().to_string(), "DIR");
    expected.assert_eq(&text);
    assert!(!dir.join("out").exists(), "nothing is left behind");
}

#[test]
fn shards_joined_in_any_order_are_the_campaign_that_was_not_divided() {
    let single = tempfile::tempdir().unwrap();
    let expected = run_all(single.path(), config(157), &Fake::default());
    for count in [1, 2, 3, 8] {
        let dir = tempfile::tempdir().unwrap();
        let mut dirs = run_shards(dir.path(), count, 157);
        dirs.reverse();
        let out = dir.path().join("out");
        let summary = merge(&dirs, &out).unwrap();
        assert_eq!(rows(&out), rows(single.path()), "{count} shards");
        let speed = expected.speed.clone();
        assert_eq!(Summary { speed, ..summary }, expected, "{count} shards");
        let plan = |dir: &Path| std::fs::read_to_string(dir.join("plan")).unwrap();
        assert_eq!(plan(&out), plan(single.path()));
        assert!(out.join("shard-1-of-1.sqlite").exists());
    }
}

#[test]
fn a_shard_makes_the_runs_that_are_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let dirs = run_shards(dir.path(), 3, 10);
    let indices = |dir: &PathBuf| rows(dir).iter().map(|row| row.run.0).collect::<Vec<_>>();
    assert_eq!(dirs.iter().map(indices).collect::<Vec<_>>(), [vec![0, 3, 6, 9], vec![1, 4, 7], vec![2, 5, 8]]);
}

#[test]
fn a_merged_campaign_is_finished_and_resuming_it_runs_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let dirs = run_shards(dir.path(), 2, 20);
    let out = dir.path().join("out");
    merge(&dirs, &out).unwrap();
    let before = rows(&out);
    resume_all(&out, &Fake { worker_error: Some("run anything".into()), ..Fake::default() });
    assert_eq!(rows(&out), before);
}

#[test]
fn missing_shards_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let dirs = run_shards(dir.path(), 4, 20);
    check_refusal(
        dir.path(),
        &[dirs[0].clone(), dirs[2].clone()],
        &expect![
            "failed to merge 2 of 4 shards: 2/4, 4/4 are missing; run what is missing, or name its directories too"
        ],
    );
    check_refusal(
        dir.path(),
        &dirs[1..],
        &expect!["failed to merge 3 of 4 shards: 1/4 is missing; run what is missing, or name its directories too"],
    );
    check_refusal(dir.path(), &[], &expect!["failed to merge no directories: name the directory of each shard"]);
}

#[test]
fn a_shard_given_twice_is_named_with_both_directories() {
    let dir = tempfile::tempdir().unwrap();
    let dirs = run_shards(dir.path(), 2, 20);
    let again = dir.path().join("again");
    run_all(&again, shard(2, 2, choices(20)), &Fake::default());
    check_refusal(
        dir.path(),
        &[dirs[0].clone(), dirs[1].clone(), again],
        &expect!["failed to merge DIR/2 with DIR/again: both hold shard 2/2; leave one of them out"],
    );
}

#[test]
fn shards_of_other_campaigns_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let dirs = run_shards(dir.path(), 2, 20);
    let part = |name: &str| dir.path().join(name);
    run_all(&part("seed"), shard(2, 2, Choices { seed: Some(1), ..choices(20) }), &Fake::default());
    run_all(&part("three"), shard(2, 3, choices(20)), &Fake::default());
    run_all(&part("digest"), shard(2, 2, choices(20)), &Fake { digest: "0ther".into(), ..Fake::default() });
    check_refusal(
        dir.path(),
        &[dirs[0].clone(), part("seed")],
        &expect![
            "failed to merge DIR/1 with DIR/seed: their configurations (`seed`) differ, so they are not of one campaign; merge shards started with the same choices"
        ],
    );
    check_refusal(
        dir.path(),
        &[dirs[0].clone(), part("three")],
        &expect![
            "failed to merge DIR/1 with DIR/three: their numbers of shards differ, so they are not of one campaign; merge shards started with the same choices"
        ],
    );
    check_refusal(
        dir.path(),
        &[dirs[0].clone(), part("digest")],
        &expect![
            "failed to merge DIR/1 with DIR/digest: the digests of their capsules differ, so they are not of one campaign; merge shards started with the same choices"
        ],
    );
}

#[test]
fn an_unfinished_shard_is_named_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let mut dirs = run_shards(dir.path(), 2, 200);
    dirs[1] = dir.path().join("unfinished");
    let mut store = Store::create(&dirs[1], shard(2, 2, choices(200)), &Fake::default()).unwrap();
    run_some(&mut store, &Fake::default(), 0);
    check_refusal(
        dir.path(),
        &dirs,
        &expect![
            "failed to merge DIR/unfinished: 100 of its runs are still to be made; finish it with `beamline resume DIR/unfinished` first"
        ],
    );
}

#[test]
fn a_merge_into_a_campaign_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let dirs = run_shards(dir.path(), 2, 20);
    let error = merge(&dirs, &dirs[0]).unwrap_err();
    assert!(matches!(error, MergeError::Store(crate::StoreError::Occupied { .. })), "{error}");
    assert_eq!(rows(&dirs[0]).len(), 10);
}
