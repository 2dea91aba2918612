//! Quality of outputs and bounds on rates, as the command line has them.

use crate::{json, path, run, stderr, stdout};
use std::fs;
use tempfile::TempDir;

/// Runs a command; its exit code and what it says on standard error.
fn said(args: &[&str]) -> (Option<i32>, String) {
    let output = run(args);
    (output.status.code(), stderr(&output))
}

#[test]
fn a_bound_decides_the_exit_code() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("a");
    let campaign = ["campaign", "reduce", "--runs", "200", "--seed", "7", "--out", path(&out)];
    let (code, text) = said(&[&campaign[..], &["--fail-if", "sdc>90%", "--fail-if", "masked > 1e-3"]].concat());
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("note: the bound sdc>90% is kept: the rate is "), "{text}");
    assert!(text.contains("error: failed to keep the bound masked > 1e-3: the rate is "), "{text}");
    assert!(text.contains(" at 95 % confidence ("), "{text}");
    // What was said once is said again when the campaign goes on, and not by a report, which says what it is asked.
    assert_eq!(said(&["resume", path(&out)]).0, Some(2));
    assert_eq!(said(&["report", path(&out)]), (Some(0), String::new()));
    let summary = json(&["report", path(&out), "--json"]);
    let rate = summary["outcomes"]["sdc"]["rate"].as_f64().unwrap();
    let bound = format!("sdc>{}", rate * 0.98);
    let (code, text) = said(&["report", path(&out), "--fail-if", &bound]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("is undecided: the rate is ") && text.contains(" more runs would decide"), "{text}");
    let (code, text) = said(&["report", path(&out), "--fail-if", &bound, "--fail-if-undecided"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("error: failed to decide the bound sdc>"), "{text}");
}

#[test]
fn a_bound_of_a_file_is_kept_with_the_results_and_judged_when_shards_are_joined() {
    let dir = TempDir::new().unwrap();
    let config = dir.path().join("my.toml");
    fs::write(&config, "capsule = 'reduce'\nruns = 60\nfail-if = ['masked>0.1%', 'due>=100%']").unwrap();
    let parts = ["1/2", "2/2"].map(|shard| {
        let out = dir.path().join(&shard[..1]);
        assert_eq!(said(&["campaign", "--config", path(&config), "--shard", shard, "--out", path(&out)]).0, Some(2));
        out
    });
    let whole = dir.path().join("whole");
    let (code, text) = said(&["merge", path(&parts[0]), path(&parts[1]), "--out", path(&whole)]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("the bound due>=100% is kept") && text.contains("of 60 that landed"), "{text}");
}

#[test]
fn an_exhaustive_campaign_is_judged_exactly() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("all");
    let all = ["campaign", "reduce", "--exhaustive", "--blocks", "0", "--threads", "0", "--out", path(&out)];
    let (code, text) = said(&[&all[..], &["--fail-if", "masked+sdc+due>=1", "--fail-if", "due.hang>0.999"]].concat());
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("masked+sdc+due>=1: the rate is exactly 100 % ("), "{text}");
}

#[test]
fn mistakes_in_bounds_are_shown_where_they_are() {
    let (code, text) = said(&["campaign", "reduce", "--fail-if", "sdc.bda>0.05"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("did you mean `bad`?\n    sdc.bda>0.05\n        ^^^\n"), "{text}");
    let (code, text) = said(&["campaign", "reduce", "--fail-if", "rduce/sdc>0.05"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("there is no such kernel, but ") && text.contains("help: "), "{text}");
    let (code, text) = said(&["campaign", "reduce", "--fail-if", "group:load/sdc>0.05"]);
    assert!(code == Some(1) && text.contains("load_global"), "{text}");
    let dir = TempDir::new().unwrap();
    let config = dir.path().join("my.toml");
    fs::write(&config, "capsule = 'reduce'\nfail-if = ['sdc']").unwrap();
    let (code, text) = said(&["campaign", "--config", path(&config)]);
    assert_eq!(code, Some(1));
    assert!(text.contains("my.toml, line 2: read the bound, column 4: there is no comparison"), "{text}");
}

#[test]
fn a_part_that_there_is_not_is_answered_with_those_that_there_are() {
    let dir = TempDir::new().unwrap();
    let shard = |number: &str| {
        let out = dir.path().join(number);
        assert_eq!(
            said(&["campaign", "reduce", "--runs", "40", "--shard", &format!("{number}/2"), "--out", path(&out)]).0,
            Some(0)
        );
        out
    };
    let (one, two, whole) = (shard("1"), shard("2"), dir.path().join("whole"));
    let kernel = json(&["report", path(&one), "--json"])["by_kernel"][0]["name"].as_str().unwrap().to_owned();
    let cases = [
        ("nokernel/sdc>50%", "no such kernel, but finish, "),
        ("group:ftou/sdc>50%", "no such group, but "),
        ("line:other.cu:7/sdc>50%", "no such line, but cuda/"),
        ("line:reduce.cu:1/sdc>50%", "no such line, but reduce.cu:"),
    ];
    for (bound, words) in cases {
        let page = dir.path().join("page.html");
        let commands: [&[&str]; 4] = [
            &["campaign", "reduce", "--runs", "10"],
            &["report", path(&one), "--html", path(&page)],
            &["resume", path(&one)],
            &["merge", path(&one), path(&two), "--out", path(&whole)],
        ];
        for command in commands {
            let (code, text) = said(&[command, &["--fail-if", bound]].concat());
            assert_eq!(code, Some(1), "{command:?} {bound}: {text}");
            assert!(text.contains(words) && text.contains("help: "), "{command:?} {bound}: {text}");
        }
        assert!(!page.exists() && !whole.exists(), "nothing is made of what cannot be judged");
    }
    // A part that no fault of so few has hit is one nevertheless.
    for bound in [&format!("kernel:{kernel}/sdc>=0"), "group:fp16/sdc>50%"] {
        assert_ne!(said(&["report", path(&one), "--fail-if", bound]).0, Some(1), "{bound}");
    }
}

#[test]
fn the_quality_of_outputs_divides_silent_corruptions() {
    let dir = TempDir::new().unwrap();
    let count = |name: &str, quality: &str| {
        let out = dir.path().join(name);
        let base = ["campaign", "gemm", "--runs", "300", "--seed", "3", "--json", "--out", path(&out)];
        let summary = json(&[&base[..], &["--quality", quality]].concat());
        (summary["sdc"].clone(), fs::read_to_string(out.join("campaign.toml")).unwrap())
    };
    let capsule = json(&["info", "gemm", "--json"]);
    let output = capsule["outputs"][0]["name"].as_str().unwrap();
    assert_eq!(capsule["outputs"][0]["typed"], "declared");
    let (binned, toml) = count("binned", &format!("{output}:metric=rel-l2,tolerance=1e-6,bad=10,bins=1e-4/1e-2"));
    assert!(binned["maybe_0"].as_u64() > Some(0) && binned["maybe_2"].as_u64() > Some(0), "{binned}");
    assert!(toml.contains("bins = [0.0001, 0.01]"), "{toml}");
    let (ranged, _) = count("ranged", "*:range=-1e3..1e3,tolerance=1e-6");
    let (plain, _) = count("plain", "*:tolerance=1e-6");
    assert!(ranged["detectable"].as_u64() > plain["detectable"].as_u64(), "{ranged} {plain}");
    let (code, text) = said(&["campaign", "gemm", "--quality", "nosuch:tolerance=1"]);
    assert!(code == Some(1) && text.contains(output), "{text}");
    let twice = ["campaign", "gemm", "--quality", "*:tolerance=1", "--quality", "*:range=0..1"];
    let (code, text) = said(&twice);
    assert!(code == Some(1) && text.contains("put all its keys into one"), "{text}");
    let (code, text) = said(&["campaign", "gemm", "--quality", "x:metrik=rel-l2"]);
    assert!(code == Some(1) && text.contains("did you mean `metric`?"), "{text}");
}

#[test]
fn a_type_that_is_not_declared_is_found_out_and_kept() {
    let dir = TempDir::new().unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/gemm/gemm.capsule");
    let mut capsule = capsule::Capsule::open(source).unwrap();
    capsule.outputs.clear();
    let file = dir.path().join("untyped.capsule");
    capsule.write(&file).unwrap();
    let text = stdout(&run(&["info", path(&file)]));
    assert!(text.contains("f32 (inferred)"), "{text}");
    let out = dir.path().join("a");
    json(&["campaign", path(&file), "--runs", "5", "--json", "--out", path(&out)]);
    let toml = fs::read_to_string(out.join("campaign.toml")).unwrap();
    assert!(toml.contains("element = \"f32\""), "{toml}");
    let (code, text) = said(&["resume", path(&out)]);
    assert!(code == Some(0) && !text.contains("note"), "{text}");
}
