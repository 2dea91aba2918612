//! Reports of campaigns on bundled workloads, with their sources and instructions.

use crate::{json, path, run, stderr, stdout};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

fn campaign(dir: &TempDir, workload: &str, seed: &str) -> PathBuf {
    let out = dir.path().join(format!("{workload}-{seed}"));
    json(&["campaign", workload, "--runs", "60", "--seed", seed, "--json", "--out", path(&out)]);
    out
}

#[test]
fn a_report_has_the_source_and_the_instructions_of_its_capsule() {
    let dir = TempDir::new().unwrap();
    let out = campaign(&dir, "reduce", "1");
    let file = |name: &str| dir.path().join(name);
    let (html, markdown, document, sarif) = (file("r.html"), file("r.md"), file("r.json"), file("r.sarif"));
    let files = [
        "--html",
        path(&html),
        "--markdown",
        path(&markdown),
        "--report-json",
        path(&document),
        "--sarif",
        path(&sarif),
    ];
    let summary = json(&[&["report", path(&out), "--json"], &files[..]].concat());
    assert_eq!(summary, json(&["report", path(&out), "--json"]));
    assert_eq!(summary["format"], "beamline.summary/1");
    let read = |path: &PathBuf| fs::read_to_string(path).unwrap();
    let report: Value = serde_json::from_str(&read(&document)).unwrap();
    assert_eq!(report["format"], "beamline.report/1");
    assert_eq!(report["summary"], summary);
    // Every instruction that was hit is found in the capsule's PTX.
    let instructions = report["instructions"]["rows"].as_array().unwrap();
    assert!(!instructions.is_empty());
    assert!(
        instructions.iter().all(|row| row["text"].as_str().is_some_and(|text| text.ends_with(';'))),
        "{instructions:?}"
    );
    let html = read(&html);
    assert!(html.contains("reduce.cu") && html.contains("__global__") && !html.contains("The source is not shown"));
    assert!(read(&markdown).starts_with("# reduce: what faults do"));
    assert_eq!(serde_json::from_str::<Value>(&read(&sarif)).unwrap()["version"], "2.1.0");
}

#[test]
fn a_capsule_that_was_not_irradiated_lends_no_source() {
    let dir = TempDir::new().unwrap();
    let out = campaign(&dir, "reduce", "1");
    let html = dir.path().join("r.html");
    for (capsule, why) in [
        ("gemm", "is not the capsule that was irradiated"),
        ("nowhere.capsule", "neither a file nor a bundled workload"),
    ] {
        stdout(&run(&["report", path(&out), "--capsule", capsule, "--html", path(&html)]));
        let html = fs::read_to_string(&html).unwrap();
        assert!(html.contains("The source is not shown") && html.contains(why), "{capsule}");
    }
}

#[test]
fn two_campaigns_are_compared() {
    let dir = TempDir::new().unwrap();
    let (a, b) = (campaign(&dir, "reduce", "1"), campaign(&dir, "reduce", "2"));
    let text = stdout(&run(&["report", path(&a), "--compare", path(&b)]));
    assert!(text.contains("seed: 1 → 2") && text.contains("not told apart"), "{text}");
    let comparison = json(&["report", path(&a), "--compare", path(&b), "--json"]);
    assert_eq!(comparison["format"], "beamline.comparison/1");
    assert_eq!(comparison["outcomes"].as_array().unwrap().len(), 3);
}

#[test]
fn rows_are_exported_where_they_are_asked_for() {
    let dir = TempDir::new().unwrap();
    let out = campaign(&dir, "reduce", "1");
    let rows = dir.path().join("rows.parquet");
    let output = run(&["report", path(&out), "--parquet", path(&rows)]);
    if cfg!(feature = "parquet") {
        assert!(stderr(&output).contains("60 rows"));
        assert!(fs::read(&rows).unwrap().starts_with(b"PAR1"));
    } else {
        assert!(stderr(&output).contains("without the feature `parquet`"));
    }
}

#[test]
fn every_rate_on_the_terminal_has_its_interval() {
    let dir = TempDir::new().unwrap();
    let text = stdout(&run(&["report", path(&campaign(&dir, "reduce", "1"))]));
    for line in
        text.lines().filter(|line| line.contains(" %") && !line.contains("interval") && !line.starts_with("kernel"))
    {
        let rates = line.matches(" %").count();
        let heads = ["group", "line", "kernel"].iter().any(|head| line.starts_with(head));
        assert!(heads || line.matches('–').count() == rates, "{line}");
    }
}

/// The exit code of a line for the shell; `$0` is the program, `$1` a directory.
fn shell(line: &str, dir: &Path) -> Option<i32> {
    let mut command = Command::new("bash");
    command.args(["-c", line, env!("CARGO_BIN_EXE_beamline"), path(dir)]);
    command.output().unwrap().status.code()
}

#[test]
fn nobody_who_reads_standard_error_changes_how_a_command_ends() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("a");
    assert!(run(&["campaign", "reduce", "--runs", "60", "--out", path(&out)]).status.success());
    let commands = [
        ("report $1/a --html $1/x.html", 0),
        ("report $1/a --fail-if 'masked>0.1%'", 2),
        ("report $1/a --fail-if 'nokernel/sdc>1%'", 1),
        ("report $1/nothing", 5),
        ("campaign reduce --runs 20 --out $1/b-$RANDOM --fail-if 'masked>0.1%'", 2),
    ];
    for (command, code) in commands {
        for sink in ["2>/dev/full", "2>&-", "2> >(exec true)", "2>&1 >/dev/null | true"] {
            let line = format!("set -o pipefail; $0 {command} {sink}");
            assert_eq!(shell(&line, dir.path()), Some(code), "{line}");
        }
    }
}

#[test]
fn what_is_written_is_whole_or_not_there() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("a");
    assert!(run(&["campaign", "reduce", "--runs", "400", "--out", path(&out)]).status.success());
    let outputs = ["--html", "--markdown", "--report-json", "--parquet", "--sarif"];
    // A limit on file sizes stands for a full disk. Each is longer than a block.
    for output in outputs {
        let file = dir.path().join("document");
        let line = |limit: u32| format!("ulimit -f {limit}; trap '' XFSZ; $0 report $1/a {output} $1/document");
        let full = shell(&line(1), dir.path());
        assert!(matches!(full, Some(1 | 5)), "{output}: {full:?}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "{output} left something behind");
        fs::write(&file, "before").unwrap();
        shell(&line(1), dir.path());
        assert_eq!(fs::read_to_string(&file).unwrap(), "before", "{output}");
        assert_eq!(shell(&line(100_000), dir.path()), Some(0), "{output}");
        assert!(fs::metadata(&file).unwrap().len() > 1024, "{output}");
        fs::remove_file(&file).unwrap();
    }
}
