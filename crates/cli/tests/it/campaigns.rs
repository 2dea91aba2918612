//! Campaigns: the numbers add up, and the same seed gives the same rows however the work is divided.

use crate::{json, path, rows, run, stderr, stdout};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use tempfile::TempDir;

fn campaign(dir: &TempDir, name: &str, extra: &[&str]) -> (PathBuf, Value) {
    let out = dir.path().join(name);
    let args = ["campaign", "reduce", "--seed", "7", "--json", "--out", path(&out)];
    let summary = json(&[&args[..], extra].concat());
    (out, summary)
}

#[test]
fn every_planned_run_is_accounted_for() {
    let dir = TempDir::new().unwrap();
    let (_, summary) = campaign(&dir, "a", &["--runs", "150"]);
    let runs = &summary["runs"];
    let count = |name: &str| runs[name].as_u64().unwrap();
    assert_eq!(summary["format"], "beamline.summary/1");
    assert_eq!(count("planned"), 150);
    assert_eq!(count("planned"), count("landed") + count("not_landed") + count("failed"));
    let outcomes = &summary["outcomes"];
    let total: u64 = ["masked", "sdc", "due"].iter().map(|class| outcomes[class]["count"].as_u64().unwrap()).sum();
    assert_eq!(total, count("landed"));
    for class in ["masked", "sdc", "due"] {
        let of = |key: &str| outcomes[class][key].as_f64().unwrap();
        assert!(of("low") <= of("rate") && of("rate") <= of("high"), "{outcomes}");
    }
    for (part, sum) in [("masked", outcomes["masked"]["count"].as_u64()), ("due", outcomes["due"]["count"].as_u64())] {
        let kinds = summary[part].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum::<u64>();
        assert_eq!(Some(kinds), sum);
    }
    for part in ["by_kernel", "by_group", "by_line"] {
        let runs = summary[part].as_array().unwrap().iter().map(|part| part["runs"].as_u64().unwrap()).sum::<u64>();
        assert_eq!(runs, 150, "{part}");
    }
    for key in ["launches", "threads", "thread_instructions", "seconds"] {
        assert!(summary["golden"][key].as_f64().unwrap() > 0.0);
    }
    for tier in ["full", "delta", "lanes"] {
        assert!(summary["speed"]["tiers"][tier].is_u64());
    }
}

#[test]
fn the_same_seed_gives_the_same_rows_whatever_the_workers_and_shards() {
    let dir = TempDir::new().unwrap();
    let (one, _) = campaign(&dir, "one", &["--runs", "100", "--jobs", "1"]);
    let (three, _) = campaign(&dir, "three", &["--runs", "100", "--jobs", "3"]);
    let expected = rows(&one);
    assert_eq!(expected.len(), 100);
    assert_eq!(rows(&three), expected);
    let shards: Vec<PathBuf> = (1..=3)
        .map(|k| campaign(&dir, &format!("shard{k}"), &["--runs", "100", "--shard", &format!("{k}/3")]).0)
        .collect();
    let merged = dir.path().join("merged");
    let dirs: Vec<&str> = shards.iter().map(|dir| path(dir)).collect();
    json(&[&["merge", "--json", "--out", path(&merged)], &dirs[..]].concat());
    assert_eq!(rows(&merged), expected);
}

#[test]
fn another_seed_gives_other_faults() {
    let dir = TempDir::new().unwrap();
    let (a, _) = campaign(&dir, "a", &["--runs", "20"]);
    let b = dir.path().join("b");
    json(&["campaign", "reduce", "--seed", "8", "--runs", "20", "--json", "--out", path(&b)]);
    let ids = |dir: PathBuf| rows(&dir).into_iter().map(|row| row.site.intent).collect::<Vec<_>>();
    assert_ne!(ids(a), ids(b));
}

#[test]
fn a_row_s_id_given_to_inject_gives_the_same_observation() {
    let dir = TempDir::new().unwrap();
    let (out, _) = campaign(&dir, "a", &["--runs", "25"]);
    for row in rows(&out) {
        let injected = json(&["inject", "reduce", row.site.fault().unwrap(), "--json"]);
        let campaign::Finding::Seen { observation, .. } = &row.finding else { panic!("{row:?}") };
        assert_eq!(injected["observation"], serde_json::to_value(observation).unwrap(), "{:?}", row.site);
        assert_eq!(injected["site"], serde_json::to_value(row.site.named(&inject::site::LABELS)).unwrap());
    }
}

#[test]
fn a_margin_stops_the_campaign_when_every_rate_is_that_tight() {
    let dir = TempDir::new().unwrap();
    let (_, summary) = campaign(&dir, "a", &["--margin", "0.08", "--confidence", "0.9"]);
    for class in ["masked", "sdc", "due"] {
        let of = |key: &str| summary["outcomes"][class][key].as_f64().unwrap();
        assert!(of("high") - of("rate") <= 0.08 && of("rate") - of("low") <= 0.08, "{summary}");
    }
    assert!(summary["runs"]["planned"].as_u64().unwrap() < 500, "{}", summary["runs"]);
}

#[test]
fn a_selection_is_kept_to() {
    let dir = TempDir::new().unwrap();
    let choices = ["--runs", "30", "--kernel", "summarise", "--group", "int_add,load_global", "--blocks", "0-3"];
    let (out, summary) = campaign(&dir, "a", &choices);
    for row in rows(&out) {
        assert!(row.site.spot.kernel.contains("summarise"), "{row:?}");
        assert!(["int_add", "load_global"].contains(&row.site.spot.group.as_str()), "{row:?}");
        assert!(row.site.labels.number(1).unwrap() < 4, "{row:?}");
    }
    assert_eq!(summary["config"]["group"].as_array().unwrap().len(), 2);
    let (out, _) = campaign(&dir, "b", &["--runs", "20", "--target", "pred"]);
    assert!(rows(&out).iter().all(|row| row.site.labels.text(5) == Some("0")));
}

#[test]
fn the_configuration_file_says_the_same_words() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("c.toml");
    std::fs::write(&file, "capsule = \"reduce\"\nruns = 40\nseed = 7\ngroup = [\"int_add\"]\n").unwrap();
    let out = dir.path().join("from-file");
    json(&["campaign", "--config", path(&file), "--json", "--out", path(&out)]);
    let (same, _) = campaign(&dir, "from-line", &["--runs", "40", "--group", "int_add"]);
    assert_eq!(rows(&out), rows(&same));
}

#[test]
fn every_key_of_the_configuration_file_is_a_word_of_the_command_line_and_the_other_way_round() {
    let help = stdout(&run(&["campaign", "--help"]));
    let words = help.lines().filter_map(|line| line.trim_start().strip_prefix("--"));
    let words: BTreeSet<&str> = words.filter_map(|line| line.split([' ', '=']).next()).collect();
    let keys: BTreeSet<&str> = campaign::Choices::keys().into_iter().collect();
    // What to irradiate comes first and has no word, nor have the texts of files that a campaign keeps; where results go and how they are shown is nobody's choice but the
    // caller's.
    let beside = BTreeSet::from(["config", "out", "json"]);
    let missing: Vec<_> =
        keys.iter().filter(|key| !["capsule", "files"].contains(*key) && !words.contains(*key)).collect();
    let extra: Vec<_> = words.iter().filter(|word| !beside.contains(*word) && !keys.contains(*word)).collect();
    assert!(missing.is_empty() && extra.is_empty(), "only in files: {missing:?}; only on the command line: {extra:?}");
}

#[test]
fn a_report_shows_what_the_campaign_showed() {
    let dir = TempDir::new().unwrap();
    let (out, summary) = campaign(&dir, "a", &["--runs", "30"]);
    assert_eq!(json(&["report", path(&out), "--json"]), summary);
    let table = run(&["report", path(&out)]);
    assert!(table.status.success(), "{}", stderr(&table));
    let table = stdout(&table);
    for word in ["masked", "sdc", "due", "95 % interval", "30 runs planned", "summarise"] {
        assert!(table.contains(word), "no `{word}` in\n{table}");
    }
}

#[test]
fn all_faults_of_some_threads_come_to_the_same_by_every_engine() {
    let dir = TempDir::new().unwrap();
    let of = |name: &str, extra: &[&str]| {
        let out = dir.path().join(name);
        let args = ["campaign", "bfs", "--exhaustive", "--kernel", "expand#1", "--blocks", "0", "--threads", "0"];
        let mut summary = json(&[&args[..], &["--json", "--out", path(&out)], extra].concat());
        let tiers = summary["speed"]["tiers"].take();
        (out, summary, tiers)
    };
    let (out, lanes, tiers) = of("lanes", &[]);
    let (_, full, full_tiers) = of("full", &["--engine", "full"]);
    let faults = lanes["runs"]["planned"].as_u64().unwrap();
    assert!(faults > 0 && lanes["runs"]["landed"].as_u64() == Some(faults), "{}", lanes["runs"]);
    assert_eq!(full_tiers["full"].as_u64(), Some(faults));
    let by = |tier: &str| tiers[tier].as_u64().unwrap();
    assert!(by("lanes") > 0 && by("decided") > 0, "{tiers}");
    assert_eq!(by("lanes") + by("decided") + by("delta"), faults);
    for part in ["runs", "outcomes", "masked", "sdc", "due", "by_kernel", "by_group", "by_line", "exhaustive"] {
        assert_eq!(lanes[part], full[part], "{part}");
    }
    let rate = &lanes["outcomes"]["masked"];
    assert!(rate["low"] == rate["rate"] && rate["high"] == rate["rate"], "{rate}");
    assert_eq!(json(&["report", path(&out), "--json"])["outcomes"], lanes["outcomes"]);
}
