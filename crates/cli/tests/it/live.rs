//! Live runs: the application is a C program that is linked as nvcc links, and compiled here by the compiler that Rust
//! links with.

use crate::{beamline, path, rows, run, stderr, stdout};
use campaign::{Finding, Row};
use outcome::{End, Observation, Tier};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

#[path = "../../../cudart/tests/it/build.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod build;

/// A flip of the first number, after which the second launch leaves 12 instead of 4: the host sees it, and stops early.
const EARLY: &str = "launch=1,cta=0,thread=0,dyn=3,target=dst0,model=flip,bits=3";
/// A flip of the second number, which the host copies but does not act on.
const LATE: &str = "launch=5,cta=0,thread=0,dyn=6,target=dst0,model=flip,bits=0";
/// The numbers' address becomes one that is nobody's.
const TRAP: &str = "launch=2,cta=0,thread=0,dyn=0,target=dst0,model=flip,bits=45";
/// A bit that the host never sees: it is shifted out again.
const NEVER: &str = "launch=0,cta=0,thread=0,dyn=8,target=dst0,model=flip,bits=0";

pub(crate) fn app() -> &'static build::App {
    static APP: OnceLock<build::App> = OnceLock::new();
    APP.get_or_init(build::App::new)
}

/// A directory to start the application in.
pub(crate) fn start() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("out")).unwrap();
    fs::write(dir.path().join("input.txt"), "1 10").unwrap();
    dir
}

pub(crate) fn live(dir: &Path, choices: &[&str], what: &str) -> Output {
    let mut command = beamline(&["live"]);
    command.args(choices).arg("--").arg(&app().program).arg(what).current_dir(dir);
    command.output().unwrap()
}

/// One fault: what was seen, and what it came to.
fn one(fault: &str, choices: &[&str], what: &str) -> (Observation, String) {
    let dir = start();
    let choices = [&["--fault", fault, "--json"], choices].concat();
    let output = live(dir.path(), &choices, what);
    assert!(output.status.success(), "{what}: {}", stderr(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let words = [&document["outcome"], &document["kind"]].map(|word| word.as_str().unwrap_or("").to_owned());
    (serde_json::from_value(document["observation"].clone()).unwrap(), words.join(" "))
}

#[test]
fn what_the_application_does_about_a_fault_is_its_outcome() {
    let cases = [
        ("print", "sdc unjudged"),
        ("both", "sdc unjudged"),
        ("exit", "due detected"),
        ("abort", "due sigabrt"),
        ("segv", "due sigsegv"),
        ("nan", "sdc detectable"),
    ];
    for (what, expected) in cases {
        let (seen, outcome) = one(EARLY, &[], what);
        assert_eq!(outcome, expected, "{what}");
        assert!(seen.host_visible && seen.tier == Tier::Live, "{what}");
    }
}

#[test]
fn codes_signals_and_streams_are_kept() {
    let host = |what| one(EARLY, &[], what).0.host.unwrap();
    assert_eq!((host("exit").status, host("abort").status, host("segv").status), (Some(3), Some(134), Some(139)));
    let both = host("both");
    assert_eq!((both.status, both.stdout, both.stderr), (Some(0), true, true));
}

#[test]
fn the_host_acts_on_what_it_sees() {
    // 12, 24, 48, 96: it needs a launch less.
    let (seen, _) = one(EARLY, &[], "");
    assert_eq!((seen.end, seen.instructions), (End::Completed, 4 * 9));
    assert_eq!(seen.outputs[0].differing, seen.outputs[0].differing.max(1));
}

#[test]
fn memory_that_differs_is_a_corruption_even_where_the_application_leaves_the_same() {
    let (seen, outcome) = one(LATE, &[], "");
    assert_eq!((outcome.as_str(), seen.host_visible), ("sdc unjudged", false));
    assert!(!seen.host.unwrap().differs());
    assert_eq!(one(LATE, &[], "stderr").1, "sdc unjudged");
}

#[test]
fn a_trap_is_the_crash_whether_the_application_reports_or_ignores_it() {
    for (what, status) in [("report", 1), ("", 0), ("abort", 134)] {
        let (seen, outcome) = one(TRAP, &[], what);
        assert_eq!(outcome, "due illegal_address", "{what}");
        assert_eq!(seen.host.unwrap().status, Some(status), "{what}");
    }
}

#[test]
fn a_fault_that_hits_nothing_is_not_landed() {
    assert_eq!(one(NEVER, &[], "print").1, "not_landed ");
}

#[test]
fn files_that_differ_or_are_missing_are_a_corruption() {
    for what in ["file", "missing"] {
        let (seen, outcome) = one(LATE, &["--file", "out/result.bin"], what);
        assert_eq!(
            (outcome.as_str(), &seen.host.unwrap().files[..]),
            ("sdc unjudged", &["out/result.bin".to_owned()][..])
        );
    }
}

#[test]
fn the_judge_decides_about_files() {
    let verdict = |judge: &str| one(LATE, &["--file", "out/result.bin", "--judge", judge], "file").1;
    assert_eq!(verdict("cmp -s \"$1\" \"$2\" && exit 3; exit 0"), "sdc good");
    assert_eq!(verdict("cmp -s \"$1\" \"$2\""), "sdc bad");
    assert_eq!(verdict("exit 2"), "sdc detectable");
    assert_eq!(verdict("test -s \"$BEAMLINE_GOLDEN/files/out/result.bin\" && exit 1"), "sdc bad");
}

#[test]
fn replay_and_execution_of_earlier_launches_see_the_same() {
    for fault in [EARLY, LATE, TRAP] {
        for what in ["print", "exit"] {
            assert_eq!(one(fault, &[], what), one(fault, &["--no-replay"], what));
        }
    }
}

#[test]
fn inputs_are_found_by_relative_names_and_nothing_is_left_in_the_directory() {
    let dir = start();
    let output = live(dir.path(), &["--fault", EARLY], "input");
    assert!(stdout(&output).contains("differing: standard output"), "{}", stderr(&output));
    let output = live(dir.path(), &["--fault", LATE, "--file", "out/result.bin"], "file");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!dir.path().join("out/result.bin").exists());
    let output = live(dir.path(), &["--fault", LATE, "--file", "out/result.bin", "--in-place"], "file");
    assert!(output.status.success(), "{}", stderr(&output));
    let left = fs::read(dir.path().join("out/result.bin")).unwrap();
    assert_eq!(left, [64u32, 640].map(u32::to_le_bytes).concat(), "what the golden run left is there at the end");
}

#[test]
fn an_application_that_cannot_be_judged_is_refused_with_a_reason() {
    let refused = |choices: &[&str], what: &str, code: i32, words: &str| {
        let dir = start();
        fs::write(dir.path().join("log.txt"), "").unwrap();
        let output = live(dir.path(), &[&["--runs", "3"], choices].concat(), what);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{what}: {said}");
        assert!(said.contains(words) && said.contains("help: "), "{what}: {said}");
    };
    refused(&[], "random", 4, "did something else than in its golden run: event 1 was a copy to the device");
    refused(&["--file", "nothing"], "print", 4, "find the file `nothing`");
    let dir = start();
    let output = live(dir.path(), &["--fault", LATE, "--judge", "echo no >&2; exit 5"], "print");
    assert!(stderr(&output).contains("code 5, expected 0, 1 or 2; it said `no`"), "{}", stderr(&output));
}

#[test]
fn a_file_that_is_there_already_stays_what_it_is() {
    let dir = start();
    fs::write(dir.path().join("log.txt"), "mine").unwrap();
    let output = live(dir.path(), &["--runs", "3"], "through");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(dir.path().join("log.txt")).unwrap(), "mine");
}

/// Whether a process is there and has not ended.
fn lives(number: &str) -> bool {
    if number.is_empty() {
        return false;
    }
    let status = fs::read_to_string(format!("/proc/{}/stat", number.trim()));
    status.is_ok_and(|status| !status.rsplit(')').next().unwrap_or_default().trim_start().starts_with(['Z', 'X']))
}

/// Waits, for what must come to pass soon.
pub(crate) fn eventually(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..2000 {
        if holds() {
            return;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("{what}");
}

/// A directory for temporary files, and a file in which the application tells its process.
fn watched(choices: &[&str], what: &str) -> (TempDir, Command) {
    let dir = start();
    fs::create_dir(dir.path().join("tmp")).unwrap();
    let mut command = beamline(&["live"]);
    command.args(choices).arg("--").arg(&app().program).arg(what).current_dir(dir.path());
    command.env("TMPDIR", dir.path().join("tmp")).env("TELL", dir.path().join("tell"));
    (dir, command)
}

fn told(dir: &TempDir) -> String {
    fs::read_to_string(dir.path().join("tell")).unwrap_or_default()
}

fn is_empty(dir: &TempDir) -> bool {
    fs::read_dir(dir.path().join("tmp")).unwrap().next().is_none()
}

#[test]
fn time_that_is_over_ends_the_application_with_its_children_and_nothing_is_left() {
    let (dir, mut command) = watched(&["--fault", EARLY, "--timeout", "0.5", "--json"], "hang");
    let output = command.output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&document["kind"], &document["observation"]["end"]["kind"]), (&"hang".into(), &"timed_out".into()));
    assert!(!told(&dir).is_empty(), "the child said its number");
    eventually("the application's child ends", || !lives(&told(&dir)));
    assert!(is_empty(&dir));
}

#[test]
fn beamline_killed_or_interrupted_twice_takes_everything_with_it() {
    for signals in [&["-KILL"][..], &["-INT", "-INT"]] {
        let (dir, mut command) = watched(&["--fault", EARLY, "--timeout", "1000"], "hang");
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        eventually("the application hangs", || lives(&told(&dir)));
        for signal in signals {
            assert!(Command::new("kill").args([*signal, child.id().to_string().as_str()]).status().unwrap().success());
            // Two signals at once are one.
            sleep(Duration::from_millis(50));
        }
        child.wait().unwrap();
        eventually("the application's child ends", || !lives(&told(&dir)));
        eventually("temporary files go", || is_empty(&dir));
    }
}

#[test]
fn a_golden_run_that_does_not_end_obeys_the_timeout() {
    let (dir, mut command) = watched(&["--runs", "5", "--timeout", "1"], "forever");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    let said = stderr(&output);
    assert!(
        said.contains("golden run") && said.contains("within the 1 seconds") && said.contains("--timeout"),
        "{said}"
    );
    assert!(!told(&dir).is_empty(), "the child said its number");
    eventually("the application's child ends", || !lives(&told(&dir)));
    assert!(is_empty(&dir));
}

#[test]
fn the_first_interruption_of_a_golden_run_ends_it() {
    for signal in ["-INT", "-TERM"] {
        let (dir, mut command) = watched(&["--runs", "5"], "forever");
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        eventually("the application hangs", || lives(&told(&dir)));
        assert!(Command::new("kill").args([signal, child.id().to_string().as_str()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        assert!(stderr(&output).contains("nothing was injected"), "{}", stderr(&output));
        eventually("the application's child ends", || !lives(&told(&dir)));
        eventually("temporary files go", || is_empty(&dir));
    }
}

#[test]
fn a_capsule_is_replaced_only_by_a_good_recording() {
    let dir = start();
    let capsule = dir.path().join("app.capsule");
    let record = |what: &str| run(&["run", "--record", path(&capsule), "--", path(&app().program), what]);
    let cases = [
        ("dies", 4, "illegal address"),
        ("idle", 4, "it launched no kernel"),
        ("segfault", 139, "the application failed"),
    ];
    for (what, code, reason) in cases {
        let output = record(what);
        assert_eq!(output.status.code(), Some(code), "{what}: {}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains(reason) && said.contains("app.capsule was not written"), "{what}: {said}");
        assert!(!capsule.exists(), "{what}");
    }
    let output = record("fails");
    assert!(stderr(&output).contains("code 4, which counts as its good end"), "{}", stderr(&output));
    assert!(capsule.exists());
    assert!(record("").status.success());
    let good = fs::read(&capsule).unwrap();
    for (what, code, reason) in cases {
        let output = record(what);
        assert_eq!(output.status.code(), Some(code), "{what}");
        let said = stderr(&output);
        assert!(said.contains(reason) && said.contains("app.capsule is what it was before"), "{what}: {said}");
        assert!(fs::read(&capsule).unwrap() == good, "{what}");
    }
    let left = fs::read_dir(dir.path())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".part"));
    assert_eq!(left.count(), 0);
}

#[test]
fn a_terminated_run_takes_its_application_along_even_one_that_ignores_signals() {
    [("wait", "-TERM"), ("stays", "-TERM"), ("stays", "-KILL")]
        .iter()
        .for_each(|(what, how)| ends_with_its_run(what, how));
}

/// Runs an application that waits, and ends the program by a signal.
fn ends_with_its_run(what: &str, signal: &str) {
    let dir = start();
    let told = dir.path().join("process");
    let mut command = beamline(&["run", "--", path(&app().program), what]);
    let mut child = command.env("TELL", &told).current_dir(dir.path()).spawn().unwrap();
    let process = loop {
        match fs::read_to_string(&told) {
            Ok(number) if !number.is_empty() => break number,
            _ => sleep(Duration::from_millis(5)),
        }
    };
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    child.wait().unwrap();
    let is_there = || fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    for _ in 0..2000 {
        if !is_there() {
            return;
        }
        sleep(Duration::from_millis(5));
    }
    panic!("the application still runs as process {process}");
}

#[test]
fn a_live_campaign_that_is_killed_resumes_to_the_rows_of_an_undisturbed_one() {
    let choices = |out: &str| ["--runs", "60", "--seed", "5", "--jobs", "3", "--out", out].map(str::to_owned);
    let start_one = |out: &str| {
        let choices = choices(out);
        watched(&choices.iter().map(String::as_str).collect::<Vec<_>>(), "exit")
    };
    let (dir, mut command) = start_one("whole");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let expected = rows(&dir.path().join("whole"));
    assert_eq!(expected.len(), 60);
    let kinds = |row: &Row| match &row.finding {
        Finding::Seen { observation, .. } => observation.tier,
        Finding::GivenUp => panic!("nothing gives up here"),
        Finding::Failed(failure) => panic!("{failure}"),
    };
    assert!(expected.iter().all(|row| kinds(row) == Tier::Live));
    let (dir, mut command) = start_one("killed");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let out = dir.path().join("killed");
    eventually("there is a plan", || out.join("plan").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    eventually("temporary files go", || is_empty(&dir));
    // From another directory: the configuration knows where the application was started.
    let output = run(&["resume", path(&out)]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(rows(&out), expected);
}
