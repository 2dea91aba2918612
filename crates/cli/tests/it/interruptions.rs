//! Interruptions: nothing is lost, nothing is done twice.

use crate::{beamline, json, path, rows, run, stderr};
use campaign::Row;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// Executed in full, so that they take long enough to be interrupted.
const RUNS: &str = "600";

fn start(out: &Path) -> Child {
    let mut command =
        beamline(&["campaign", "pathfinder", "--seed", "3", "--runs", RUNS, "--engine", "full", "--out", path(out)]);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn undisturbed(dir: &TempDir) -> Vec<Row> {
    let out = dir.path().join("undisturbed");
    assert!(start(&out).wait().unwrap().success());
    rows(&out)
}

#[test]
fn a_campaign_killed_at_any_moment_resumes_to_the_same_rows() {
    let dir = TempDir::new().unwrap();
    let expected = undisturbed(&dir);
    let out = dir.path().join("killed");
    let mut child = start(&out);
    let mut kills = 0;
    // Moments from before the plan is written to near the end.
    for moment in [2, 17, 31, 44, 58, 63, 71, 80, 86, 97, 103, 111, 120, 128, 133, 141, 150, 162, 175, 190] {
        sleep(Duration::from_millis(moment));
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            kills += 1;
        }
        child.wait().unwrap();
        let resumed = beamline(&["resume", path(&out)]).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        child = if out.join("campaign.toml").exists() {
            resumed.unwrap()
        } else {
            // Killed before there was anything to resume; what is left of it is not in the way.
            resumed.unwrap().wait().unwrap();
            start(&out)
        };
    }
    child.wait().unwrap();
    let summary = json(&["resume", path(&out), "--json"]);
    assert!(kills > 3, "the campaign is over too soon to be killed: {kills}");
    assert_eq!(rows(&out), expected);
    assert!(summary.get("remaining").is_none(), "{summary}");
}

#[test]
fn an_interrupted_campaign_says_how_to_go_on() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("interrupted");
    let child = start(&out);
    while !out.join("plan").exists() {
        sleep(Duration::from_millis(2));
    }
    sleep(Duration::from_millis(30));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains(&format!("beamline resume {}", out.display())), "{said}");
    assert!(run(&["resume", path(&out)]).status.success());
    assert_eq!(rows(&out), undisturbed(&dir));
}

#[test]
fn a_signal_ends_planning_too() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("planned");
    // Hours of planning.
    let runs = "1000000000";
    let mut command = beamline(&["campaign", "pathfinder", "--runs", runs, "--out", path(&out)]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    while !out.exists() {
        sleep(Duration::from_millis(2));
    }
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("interrupted; nothing was run yet"), "{}", stderr(&output));
}

#[test]
fn a_finished_campaign_resumes_to_itself() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("finished");
    json(&["campaign", "gemm", "--runs", "10", "--json", "--out", path(&out)]);
    let before = rows(&out);
    json(&["resume", path(&out), "--json"]);
    assert_eq!(rows(&out), before);
}
