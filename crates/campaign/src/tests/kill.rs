//! Killed at any moment, with no chance to tidy up, a campaign goes on to the same rows.
//!
//! The test binary starts itself with the name of a directory in its environment; the child runs the campaign
//! there, and is killed. Draws decide when, so that every repetition kills at about the same moments.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use stats::Draws;

use super::*;

const DIRECTORY: &str = "BEAMLINE_KILL_TEST_DIRECTORY";
const RUNS: u64 = 600;
/// Where the child runs an exhaustive campaign.
const SWEPT: &str = "swept";
const UNITS: u64 = 400;

/// Slow enough that kills fall into it, fast enough for a test.
fn slow() -> Fake {
    Fake { delay: Duration::from_micros(300), units: UNITS, ..Fake::default() }
}

/// In the child: begins or goes on, as a user would. Does nothing when run as a test.
#[test]
fn child_of_the_kill_test() {
    let Some(dir) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let (dir, target) = (Path::new(&dir), slow());
    let config = if dir.ends_with(SWEPT) { sweeping::every_fault() } else { config(RUNS) };
    let mut store = Store::make(dir, config, &target).unwrap();
    finish(&mut store, &target);
}

fn start_child(dir: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "tests::kill::child_of_the_kill_test"]).env(DIRECTORY, dir);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Kills a campaign in `dir` at ten moments, then lets it finish.
fn kill_and_finish(dir: &Path) {
    let draws = Draws::new(41, 0);
    let mut killed = 0;
    for moment in 0..10 {
        let mut child = start_child(dir);
        // From before the first file to well into the rows.
        std::thread::sleep(Duration::from_micros(500 + draws.draw(moment) % 40_000));
        child.kill().unwrap();
        killed += u64::from(!child.wait().unwrap().success());
    }
    assert!(killed >= 5, "the children finished before they were killed: {killed} of 10");
    assert!(start_child(dir).wait().unwrap().success());
}

#[test]
fn killed_at_ten_moments_it_ends_with_the_same_rows() {
    let dir = tempfile::tempdir().unwrap();
    kill_and_finish(dir.path());
    // The primary key refuses a row twice; equality with the undisturbed rows refuses one lost or changed.
    assert_eq!(rows(dir.path()), undisturbed(config(RUNS), &Fake::default()));
}

#[test]
fn killed_at_ten_moments_an_exhaustive_campaign_has_lost_no_unit_and_counted_none_twice() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join(SWEPT);
    std::fs::create_dir(&dir).unwrap();
    kill_and_finish(&dir);
    let target = Fake { units: UNITS, ..Fake::default() };
    assert_eq!(sweeping::made(&dir), sweeping::in_one_go(&target));
}
