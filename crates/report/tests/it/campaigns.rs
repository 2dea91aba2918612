//! Campaigns of every kind have a report whose account adds up.

use crate::synthetic::{self, Synthetic};
use crate::{context, json, made, sampled};
use report::Report;
use serde_json::Value;
use std::sync::atomic::AtomicU64;

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no count"))
}

/// Everything that must hold of any report.
fn check(report: &Report) {
    let json = json(report);
    let runs = &json["summary"]["runs"];
    let done = number(&runs["landed"]) + number(&runs["not_landed"]) + number(&runs["failed"]);
    assert_eq!(number(&runs["planned"]), done + json["summary"]["remaining"].as_u64().unwrap_or(0));
    for part in ["kernels", "groups", "bits"] {
        let parts = json[part].as_array().unwrap();
        let sum: u64 = parts.iter().map(|part| number(&part["runs"])).sum();
        // A unit of an exhaustive campaign that failed does not say what it would have hit.
        assert_eq!(sum, done, "{part}");
    }
    for class in ["masked", "sdc", "due"] {
        let kinds = json["kinds"].as_array().unwrap().iter().filter(|kind| kind["class"] == class);
        let sum: u64 = kinds.map(|kind| number(&kind["count"])).sum();
        assert_eq!(sum, number(&json["summary"]["outcomes"][class]["count"]), "{class}");
    }
    every_rate(&json, &mut |rate| {
        let (low, high) = (rate["low"].as_f64().unwrap(), rate["high"].as_f64().unwrap());
        assert!((0.0..=1.0).contains(&low) && low <= high && high <= 1.0, "{rate}");
        if let Some(share) = rate["rate"].as_f64() {
            assert!(low <= share + 1e-12 && share <= high + 1e-12, "{rate}");
        }
    });
    for view in [report.to_html(), report.to_markdown(), report.to_sarif().unwrap()] {
        assert!(!view.contains("NaN %") && !view.contains("inf %"), "a number that is none in\n{view}");
    }
}

/// Calls `visit` for whatever has a rate: it must have bounds and a count.
fn every_rate(value: &Value, visit: &mut dyn FnMut(&Value)) {
    match value {
        Value::Object(fields) => {
            if fields.contains_key("rate") {
                assert!(["low", "high", "count"].iter().all(|key| fields.contains_key(*key)), "{value}");
                visit(value);
            }
            fields.values().for_each(|field| every_rate(field, visit));
        }
        Value::Array(values) => values.iter().for_each(|value| every_rate(value, visit)),
        _ => {}
    }
}

#[test]
fn a_finished_campaign() {
    let report = sampled(3000);
    check(&report);
    let json = json(&report);
    let sum = |list: &str| json[list]["rows"].as_array().unwrap().iter().map(|row| number(&row["runs"])).sum::<u64>();
    assert_eq!((sum("lines"), sum("instructions"), sum("launches")), (3000, 3000, 3000));
    let series = json["times"]["rows"].as_array().unwrap().iter();
    let bins = series.flat_map(|series| series["bins"].as_array().unwrap());
    assert_eq!(bins.map(|bin| number(&bin["runs"])).sum::<u64>(), 3000);
    let due = number(&json["summary"]["outcomes"]["due"]["count"]);
    let deaths = json["deaths"]["rows"].as_array().unwrap().iter().map(|row| number(&row["count"])).sum::<u64>();
    assert!(deaths + number(&json["deaths"]["left_out"]) >= due.min(deaths + 1), "{deaths} of {due}");
    assert_eq!(json["magnitudes"]["runs"], json["summary"]["outcomes"]["sdc"]["count"]);
}

#[test]
fn the_report_s_summary_is_the_campaign_s() {
    let (_dir, results, report) = made(synthetic::runs(500), &Synthetic::default());
    assert_eq!(report.summary, results.summary().unwrap());
    let kernels: Vec<(String, u64)> =
        report.kernels.iter().map(|part| (part.name.clone(), part.account.runs)).collect();
    for (name, runs) in kernels {
        let part = report.summary.by_kernel.iter().find(|part| part.name == name).unwrap();
        assert_eq!(part.account.runs, runs);
    }
}

#[test]
fn histograms_count_every_corruption_once() {
    let json = json(&sampled(2000));
    for name in ["max_relative", "l2", "elements", "share"] {
        let histogram = &json["magnitudes"][name];
        let decades: u64 = histogram["decades"].as_array().unwrap().iter().map(|decade| number(&decade["count"])).sum();
        let apart: u64 = ["zero", "infinite", "nan"].iter().map(|key| number(&histogram[*key]["count"])).sum();
        assert_eq!(decades + apart, number(&json["magnitudes"]["runs"]), "{name}");
    }
}

#[test]
fn an_example_is_a_run_that_was_corrupted_there() {
    let (_dir, results, report) = made(synthetic::runs(1500), &Synthetic::default());
    let mut corrupted = std::collections::BTreeMap::new();
    let visit = &mut |row: campaign::Row| {
        if row.finding.class() == outcome::Class::Sdc {
            let bits = row.site.labels.text(5).unwrap().to_owned();
            corrupted.insert(row.site.fault().unwrap().to_owned(), (row.site.spot.kernel, row.site.spot.pc, bits));
        }
    };
    results.visit(visit).unwrap();
    for site in report.most_corrupting.rows.iter().chain(&report.surest_corrupting.rows) {
        let fault = site.example.as_ref().unwrap();
        assert_eq!(corrupted[fault], (site.kernel.clone(), site.pc, site.bit.to_string()));
        assert_eq!(site.command.as_deref(), Some(format!("beamline inject synthetic {fault} --explain").as_str()));
    }
}

#[test]
fn a_campaign_of_which_nothing_was_run() {
    let target = Synthetic { stop: true.into(), ..Synthetic::default() };
    let (_dir, _, report) = made(synthetic::runs(100), &target);
    check(&report);
    assert_eq!(report.summary.remaining, Some(100));
    assert!(report.to_html().contains("No fault has landed"));
}

#[test]
fn a_campaign_in_which_every_run_failed() {
    let (_dir, _, report) = made(synthetic::runs(80), &Synthetic { shares: [0; 4], ..Synthetic::default() });
    check(&report);
    assert_eq!(report.failures.rows[0].count, 80);
    assert!(report.to_html().contains("replay the run: &lt;out of luck&gt;"));
}

#[test]
fn a_campaign_that_was_interrupted_says_what_is_to_go_and_how() {
    let target = Synthetic { stop_after: AtomicU64::new(150), ..Synthetic::default() };
    let (_dir, _, report) = made(synthetic::runs(5000), &target);
    check(&report);
    let html = report.to_html();
    assert!(html.contains("The campaign is not finished") && html.contains("beamline resume out.campaign"));
}

#[test]
fn a_campaign_without_a_silent_corruption() {
    let (_dir, _, report) = made(synthetic::runs(300), &Synthetic { shares: [900, 0, 100, 0], ..Synthetic::default() });
    check(&report);
    assert!(report.most_corrupting.rows.is_empty());
    // Zero of 300 is not zero for sure.
    assert!(report.summary.outcomes.sdc.high > 0.01);
    assert!(report.to_html().contains("No run was silently corrupted"));
}

#[test]
fn an_exhaustive_campaign_has_exact_rates_and_says_so() {
    let (_dir, _, report) = made(synthetic::exhaustive(), &Synthetic::default());
    check(&report);
    every_rate(&json(&report), &mut |rate| assert!(rate["rate"].is_null() || rate["low"] == rate["high"], "{rate}"));
    let html = report.to_html();
    assert!(html.contains("rates are exact") && !html.contains("95 % interval"), "{html}");
    assert!(report.launches.is_none() && report.magnitudes.is_none());
    // The rates of the parts, weighed, are that of the whole.
    let all: f64 = report.kernels.iter().filter_map(|part| part.account.outcomes.sdc.rate).sum();
    assert!((all - report.summary.outcomes.sdc.rate.unwrap()).abs() < 1e-12);
}

#[test]
fn an_unfinished_exhaustive_campaign_is_no_sample() {
    let target = Synthetic { stop_after: AtomicU64::new(2), ..Synthetic::default() };
    let (_dir, _, report) = made(synthetic::exhaustive(), &target);
    check(&report);
    assert!(report.to_html().contains("no random sample"));
}

#[test]
fn a_report_without_a_capsule_says_why() {
    let dir = tempfile::TempDir::new().unwrap();
    let results = synthetic::campaign(&dir.path().join("c"), synthetic::runs(50), &Synthetic::default());
    let context = report::Context {
        sources: Vec::new(),
        listing: Vec::new(),
        without_source: Some("the capsule <x> is gone".into()),
        ..context()
    };
    let html = Report::new(&results, context).unwrap().to_html();
    assert!(html.contains("The source is not shown: the capsule &lt;x&gt; is gone."));
}
