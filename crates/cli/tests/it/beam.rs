//! An application under a watchdog: a run that hangs, one that crashes, one that never starts, one that the user stops.

use crate::{beamline, json, path, run, stderr};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// Hangs in its second run, crashes in its third, hangs before it says anything in its fourth.
const APPLICATION: &str = r#"#!/bin/sh
n=$(($(cat "$2" 2>/dev/null || echo 0) + 1)); echo $n > "$2"
say() { printf '{"event":%s,"run":"%s"}\n' "$2" $$ >> "$1"; }
[ $n = 4 ] && sleep 100
say "$1" '"start","program":"iadd","threads":64'
say "$1" '"before_kernel"'
[ $n = 2 ] && sleep 100
[ $n = 3 ] && kill -SEGV $$
[ $n = 7 ] && sleep 100
say "$1" '"after_kernel"'
say "$1" '"end","mismatches":0'
"#;

fn application(dir: &Path) -> PathBuf {
    let app = dir.join("app.sh");
    fs::write(&app, APPLICATION).unwrap();
    fs::set_permissions(&app, fs::Permissions::from_mode(0o755)).unwrap();
    app
}

#[test]
fn hangs_and_crashes_of_a_beam_are_in_its_log_and_a_stopped_run_is_not() {
    let dir = TempDir::new().unwrap();
    let (app, log, count) = (application(dir.path()), dir.path().join("beam.log"), dir.path().join("count"));
    let words = [path(&app), path(&log), path(&count)];
    let watched =
        ["beam", "--log", path(&log), "--runs", "6", "--timeout", "0.5", "--after", "echo reset", "--json", "--"];
    let found = json(&[&watched[..], &words].concat());
    assert_eq!(found["runs"], 6);
    let ends = found["ends"].as_array().unwrap();
    let ends: Vec<_> = ends.iter().map(|it| (it["end"].as_str().unwrap(), it["runs"].as_u64().unwrap())).collect();
    assert_eq!(ends, [("ended with code 0", 3), ("hung", 2), ("crashed by signal 11", 1)]);
    let text = fs::read_to_string(&log).unwrap();
    assert_eq!(text.matches(r#""output":"reset\n""#).count(), 3, "{text}");
    let hung = text.lines().find(|line| line.contains(r#""event":"hang""#)).unwrap();
    let silent = serde_json::from_str::<serde_json::Value>(hung).unwrap()["silent"].as_f64().unwrap();
    assert!((0.2..30.0).contains(&silent), "{hung}");
    // The seventh run hangs, and the user ends it: no event of the beam.
    let mut stopped = beamline(&[&["beam", "--log", path(&log), "--timeout", "60", "--"][..], &words].concat());
    let mut stopped = stopped.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !fs::read_to_string(&count).unwrap_or_default().starts_with('7') {
        sleep(Duration::from_millis(10));
    }
    sleep(Duration::from_millis(200));
    let interrupted = std::process::Command::new("kill").args(["-INT", &stopped.id().to_string()]).status();
    assert!(interrupted.unwrap().success());
    assert_eq!(stopped.wait().unwrap().code(), Some(3));
    let events = json(&["events", path(&log), "--json"]);
    assert_eq!((&events["torn_lines"], &events["refused_events"]), (&0.into(), &0.into()));
    let program = &events["programs"][0];
    assert_eq!((&program["program"], &program["runs"]), (&"iadd".into(), &6.into()), "{events}");
    let counts: u64 = program["events"].as_array().unwrap().iter().map(|it| it["count"].as_u64().unwrap()).sum();
    assert_eq!(counts, 3, "{events}");
    assert!(program["events"].to_string().contains("crash"), "{events}");
    // The second run hung in its kernel; the fourth said nothing, and hung before it.
    let hangs = program["hangs"].as_array().unwrap();
    assert_eq!((hangs.len(), &hangs[0]["heartbeats"], &hangs[0]["silent"]), (1, &0.into(), &silent.into()), "{events}");
    let fluences = dir.path().join("fluences.txt");
    fs::write(&fluences, "# the first board\nbeam.log:iadd=2e10 # in an hour\n").unwrap();
    let file = format!("@{}", path(&fluences));
    let rated = json(&["events", path(&log), "--fluence", &file, "--json"]);
    let all = rated["cross_sections"].as_array().unwrap().last().unwrap();
    assert_eq!((&all["count"], &all["cross_section"]["rate"]), (&3.into(), &1.5e-10.into()), "{all}");
    let missing = run(&["events", path(&log), "--fluence", "@nowhere.txt"]);
    assert!(stderr(&missing).contains("failed to read nowhere.txt for --fluence"), "{}", stderr(&missing));
}

#[test]
fn a_watchdog_says_what_it_cannot_watch() {
    let dir = TempDir::new().unwrap();
    let (log, app) = (dir.path().join("beam.log"), application(dir.path()));
    let quiet = run(&["beam", "--log", path(&log), "--runs", "1", "--", "/bin/sh", "-c", "echo no board >&2; exit 2"]);
    assert_eq!(quiet.status.code(), Some(5));
    let text = stderr(&quiet);
    assert!(text.contains("a run failed with code 2 and wrote no start"), "{text}");
    assert!(text.contains("its last words: no board") && text.contains("help: give it"), "{text}");
    let (count, crashes) =
        (dir.path().join("count"), ["beam", "--log", path(&log), "--timeout", "0.2", "--give-up", "3", "--"]);
    fs::write(&count, "1").unwrap();
    let lost = run(&[&crashes[..], &[path(&app), path(&log), path(&count)]].concat());
    assert_eq!(lost.status.code(), Some(5));
    assert!(stderr(&lost).contains("the last 3 runs did not come to their end"), "{}", stderr(&lost));
}

#[test]
fn an_error_of_cuda_is_a_failure_and_ctrl_c_after_a_hang_leaves_the_hang() {
    let dir = TempDir::new().unwrap();
    let (log, app) = (dir.path().join("beam.log"), dir.path().join("lost.sh"));
    let lost = r#"#!/bin/sh
echo '{"event":"start","program":"iadd","threads":64,"run":"'$$'"}' >> "$1"
echo '{"event":"before_kernel","run":"'$$'"}' >> "$1"
echo '{"event":"cuda_error","name":"cudaErrorIllegalAddress","run":"'$$'"}' >> "$1"
[ -n "$2" ] && sleep 100
exit 3
"#;
    fs::write(&app, lost).unwrap();
    fs::set_permissions(&app, fs::Permissions::from_mode(0o755)).unwrap();
    let output = run(&[
        "beam",
        "--log",
        path(&log),
        "--give-up",
        "3",
        "--after",
        "echo reset",
        "--json",
        "--",
        path(&app),
        path(&log),
    ]);
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&summary["runs"], &summary["ends"][0]["end"]), (&3.into(), &"failed with code 3".into()));
    let text = fs::read_to_string(&log).unwrap();
    assert_eq!(text.matches(r#""output":"reset\n""#).count(), 3, "{text}");
    // The error stays what it was, and a hang is one although the user stops the watchdog while its command runs.
    let events = json(&["events", path(&log), "--json"]);
    assert!(events["programs"][0]["events"].to_string().contains("address"), "{events}");
    let hung = dir.path().join("hung.log");
    fs::write(dir.path().join("count"), "1").unwrap();
    let (application, count) = (application(dir.path()), dir.path().join("count"));
    let words = ["beam", "--log", path(&hung), "--timeout", "0.2", "--after", "sleep 100", "--"];
    let mut watched = beamline(&[&words[..], &[path(&application), path(&hung), path(&count)]].concat());
    let mut watched = watched.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !fs::read_to_string(&hung).unwrap_or_default().contains(r#""watchdog":"hung""#) {
        sleep(Duration::from_millis(10));
    }
    let interrupted = std::process::Command::new("kill").args(["-INT", &watched.id().to_string()]).status();
    assert!(interrupted.unwrap().success());
    assert_eq!(watched.wait().unwrap().code(), Some(3));
    let events = json(&["events", path(&hung), "--json"]);
    assert_eq!((&events["programs"][0]["runs"], &events["refused_events"]), (&1.into(), &0.into()), "{events}");
    assert!(events["programs"][0]["events"].to_string().contains("hang"), "{events}");
}
