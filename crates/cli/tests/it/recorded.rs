//! Campaigns on capsules whose application is there: what it is asked, and what it is not. The application is that of `live.rs`.

use crate::live::{app, eventually, live, start};
use crate::{beamline, path, rows, run, stderr, stdout};
use campaign::{Finding, Row};
use outcome::{Class, Observation, Tier};
use std::fs;
use std::process::{Command, Stdio};
use tempfile::TempDir;

#[test]
fn a_campaign_resolves_with_the_application_what_its_host_could_have_seen() {
    let dir = start();
    let capsule = dir.path().join("app.capsule");
    let program = path(&app().program);
    assert!(run(&["run", "--record", path(&capsule), "--", program, "exit"]).status.success());
    let command = format!("'{program}' exit");
    let campaign = |out: &str, more: &[&str]| {
        let out = dir.path().join(out);
        let args = ["campaign", path(&capsule), "--runs", "80", "--seed", "2", "--out", path(&out)];
        let output = run(&[&args, more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        (stdout(&output), rows(&out))
    };
    let (said, plain) = campaign("plain", &["--no-app"]);
    assert!(said.contains("are undecided"), "{said}");
    let (said, resolved) = campaign("resolved", &["--app", &command]);
    assert!(said.contains("all of them were judged with the host in the loop"), "{said}");
    // Whoever recorded it need not say so.
    assert_eq!(campaign("default", &[]).1, resolved);
    let mut visible = 0;
    for (plain, resolved) in plain.iter().zip(&resolved) {
        let (Finding::Seen { observation: before, .. }, Finding::Seen { observation: after, .. }) =
            (&plain.finding, &resolved.finding)
        else {
            panic!("{plain:?} {resolved:?}")
        };
        visible += usize::from(before.host_visible);
        assert_eq!(plain.finding.class() == Class::Undecided, before.host_visible);
        assert_ne!(resolved.finding.class(), Class::Undecided);
        // The host looks at what it gets after the last launch, too.
        let asked = before.host_visible || differs(before);
        assert_eq!((after.tier == Tier::Live, after.host_visible), (asked, asked));
        assert!(asked || plain == resolved);
    }
    assert!(visible > 10, "{visible}");
    // A bound that hangs on what is undecided does not pass.
    let bound = |out: &str, limit: &str| run(&["report", path(&dir.path().join(out)), "--fail-if", limit]);
    let rate =
        |rows: &[Row], class: Class| rows.iter().filter(|row| row.finding.class() == class).count() as f64 / 80.0;
    let between = format!("sdc>{:.3}", rate(&plain, Class::Sdc) + rate(&plain, Class::Undecided) / 2.0);
    let output = bound("plain", &between);
    assert_eq!(output.status.code(), Some(6), "{}", stderr(&output));
    assert!(stderr(&output).contains("runs are undecided"), "{}", stderr(&output));
    assert_eq!(bound("plain", "sdc>0.999").status.code(), Some(0));
    let other = run(&["campaign", path(&capsule), "--runs", "8", "--app", &format!("'{program}' random")]);
    assert_eq!(other.status.code(), Some(4));
    assert!(stderr(&other).contains("event 1 is a copy to the device in the capsule"), "{}", stderr(&other));
}

fn differs(seen: &Observation) -> bool {
    seen.outputs.iter().any(|output| output.differing > 0)
}

/// A directory with a recording of the application.
fn recorded(what: &str) -> TempDir {
    let dir = start();
    let output = run(&["run", "--record", path(&dir.path().join("app.capsule")), "--", path(&app().program), what]);
    assert!(output.status.success(), "{what}: {}", stderr(&output));
    dir
}

/// A campaign on the recording in a directory.
fn on_recording(dir: &TempDir, out: &str, more: &[&str]) -> Command {
    let mut command = beamline(&["campaign", "app.capsule", "--seed", "3", "--out", out]);
    command.args(more).current_dir(dir.path());
    command
}

fn outcomes(rows: &[Row]) -> Vec<(Class, Option<String>)> {
    let outcome = |row: &Row| match &row.finding {
        Finding::Seen { outcome, .. } => (outcome.class(), outcome.kind().map(String::from)),
        other => panic!("{other:?}"),
    };
    rows.iter().map(outcome).collect()
}

const ACTS: &str = "the host acts on what it gets after the last launch";

#[test]
fn a_host_that_looks_at_its_results_after_the_last_launch_is_asked_what_it_does() {
    let dir = recorded("again");
    let runs = ["--runs", "120"];
    let output = on_recording(&dir, "default", &runs).output().unwrap();
    assert!(output.status.success() && stderr(&output).contains(ACTS), "{}", stderr(&output));
    let asked = rows(&dir.path().join("default"));
    let output = live(dir.path(), &["--runs", "120", "--seed", "3", "--out", "live"], "again");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(outcomes(&asked), outcomes(&rows(&dir.path().join("live"))));
    let output = on_recording(&dir, "memory", &[&runs[..], &["--no-app"]].concat()).output().unwrap();
    assert!(output.status.success() && !stderr(&output).contains(ACTS), "{}", stderr(&output));
    let sdc = |rows: &[Row]| rows.iter().filter(|row| row.finding.class() == Class::Sdc).count();
    let memory = rows(&dir.path().join("memory"));
    assert!(sdc(&memory) > 10 && sdc(&asked) < sdc(&memory), "{} {}", sdc(&memory), sdc(&asked));
    for (asked, memory) in asked.iter().zip(&memory) {
        let (Finding::Seen { observation: asked, .. }, Finding::Seen { observation: memory, .. }) =
            (&asked.finding, &memory.finding)
        else {
            panic!("{asked:?} {memory:?}")
        };
        assert_eq!(asked.tier == Tier::Live, differs(memory));
    }
    let mut child = on_recording(&dir, "killed", &runs).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("there is a plan", || dir.path().join("killed/plan").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    let output = run(&["resume", path(&dir.path().join("killed"))]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(rows(&dir.path().join("killed")), asked);
    let output = on_recording(&dir, "all", &["--exhaustive"]).output().unwrap();
    assert!(stderr(&output).contains("an exhaustive campaign asks no application"), "{}", stderr(&output));
}

#[test]
fn a_host_that_does_not_look_at_its_results_is_not_asked() {
    let dir = recorded("blind");
    for (out, more) in [("default", &[][..]), ("memory", &["--no-app"])] {
        let output = on_recording(&dir, out, &[&["--runs", "60"], more].concat()).output().unwrap();
        assert!(output.status.success() && !stderr(&output).contains(ACTS), "{}", stderr(&output));
    }
    let [default, memory] = ["default", "memory"].map(|out| rows(&dir.path().join(out)));
    assert_eq!(default, memory);
    let config = fs::read_to_string(dir.path().join("default/campaign.toml")).unwrap();
    assert!(!config.contains("app ="), "{config}");
}

#[test]
fn a_judge_decides_about_every_run_of_a_recording_whose_outputs_differ() {
    let dir = recorded("blind");
    let judged = |out: &str, verdict: &str, more: &[&str]| {
        let judge = format!("cmp -s \"$1\" \"$2\" || exit {verdict}");
        on_recording(&dir, out, &[&["--runs", "60", "--judge", &judge], more].concat()).output().unwrap()
    };
    for (out, verdict, kind) in [("bad", "1", "bad"), ("good", "0", "good")] {
        let output = judged(out, verdict, &[]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stderr(&output).contains("the judge decides what differing outputs mean"), "{}", stderr(&output));
        let outcomes = outcomes(&rows(&dir.path().join(out)));
        let kinds: Vec<_> = outcomes.iter().filter(|(class, _)| *class == Class::Sdc).map(|(_, kind)| kind).collect();
        assert!(kinds.len() > 10 && kinds.iter().all(|found| found.as_deref() == Some(kind)), "{kinds:?}");
    }
    let command = format!("'{}' blind", path(&app().program));
    assert!(judged("named", "1", &["--app", &command]).status.success());
    assert_eq!(rows(&dir.path().join("named")), rows(&dir.path().join("bad")));
    for (more, why) in
        [("--no-app", "`no-app` asks no application"), ("--exhaustive", "an exhaustive campaign asks no")]
    {
        let more: &[&str] = &[more];
        let judge = ["--judge", "exit 1"];
        let output = on_recording(&dir, "refused", &[&judge, more].concat()).output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("use `judge`") && said.contains(why) && said.contains("help: "), "{said}");
    }
}

#[test]
fn a_workload_whose_host_decides_is_finished_by_its_bundled_executable_wherever_that_is() {
    let dir = tempfile::tempdir().unwrap();
    let of = |shard: &str, cache: &str| {
        let out = dir.path().join(shard.replace('/', "-"));
        let mut command = beamline(&["campaign", "srad_v2", "--runs", "30", "--shard", shard, "--out", path(&out)]);
        let output = command.env("XDG_CACHE_HOME", dir.path().join(cache)).output().unwrap();
        (out, output)
    };
    let shards = [of("1/2", "one"), of("2/2", "two")];
    for (out, output) in &shards {
        assert!(output.status.success(), "{}", stderr(output));
        assert!(rows(out).iter().all(|row| row.finding.class() != Class::Undecided));
        assert!(fs::read_to_string(out.join("campaign.toml")).unwrap().contains("bundled:srad_v2"));
    }
    let merged = dir.path().join("merged");
    let output = run(&["merge", path(&shards[0].0), path(&shards[1].0), "--out", path(&merged)]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(rows(&merged).iter().any(|row| row.finding.class() == Class::Sdc));
    // Where it cannot be put anywhere, its runs stay undecided, and a note says why.
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let (_, output) = of("1/1", "file");
    assert!(
        output.status.success() && stderr(&output).contains("stay undecided: failed to start"),
        "{}",
        stderr(&output)
    );
}
