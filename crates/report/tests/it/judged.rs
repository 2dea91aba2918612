//! Where outputs are judged, what no criterion accepts counts, and good corruptions do not.

use crate::synthetic::{self, Synthetic};
use crate::{json, made, sampled};
use report::Report;
use serde_json::Value;

fn judged(runs: u64, quality: &str) -> Report {
    made(synthetic::judged(runs, quality), &Synthetic::default()).2
}

/// Corruptions of every quality.
fn mixed() -> Report {
    judged(4000, "out:tolerance=0.1,bad=10,bins=1")
}

fn count(value: &Value) -> u64 {
    value["count"].as_u64().unwrap_or_else(|| panic!("no count in {value}"))
}

#[test]
fn parts_are_ranked_by_bad_corruptions_and_every_one_has_their_rate() {
    let report = mixed();
    let (json, kinds) = (json(&report), &report.summary.sdc);
    assert!(kinds["good"] > 0 && kinds["maybe_0"] > 0 && kinds["bad"] > 0 && kinds["detectable"] > 0, "{kinds:?}");
    let bad = kinds["bad"] + kinds["detectable"];
    assert_eq!((count(&json["summary"]["bad"]), count(&json["bad_of_sdc"])), (bad, bad));
    assert_eq!(json["ranked_by"], "bad");
    for part in ["by_kernel", "by_group", "by_line"] {
        let parts = json["summary"][part].as_array().unwrap();
        assert_eq!(parts.iter().map(|part| count(&part["bad"])).sum::<u64>(), bad, "{part}");
    }
    for part in ["kernels", "groups", "lines", "instructions", "bits"] {
        let parts = json[part].as_array().or_else(|| json[part]["rows"].as_array()).unwrap();
        let counts: Vec<u64> = parts.iter().map(|part| count(&part["bad"])).collect();
        assert_eq!(counts.iter().sum::<u64>(), bad, "{part}");
        assert!(part == "bits" || counts.iter().rev().is_sorted(), "{part}: {counts:?}");
        for part in parts {
            let (bad, sdc) = (&part["bad"], &part["sdc"]);
            assert!(count(bad) <= count(sdc) && bad["low"].as_f64() <= sdc["low"].as_f64(), "{part}");
        }
    }
    let by_sdc: Vec<u64> = report.lines.rows.iter().map(|line| line.account.outcomes.sdc.count).collect();
    assert!(!by_sdc.iter().rev().is_sorted(), "good corruptions made no difference");
    let shares: u64 = json["lines"]["rows"].as_array().unwrap().iter().map(|line| count(&line["share_of_bad"])).sum();
    assert_eq!(shares, bad);
}

#[test]
fn every_view_says_which_corruptions_are_bad() {
    let report = mixed();
    let (markdown, html) = (report.to_markdown(), report.to_html());
    let headline = markdown.lines().nth(2).unwrap();
    assert!(headline.contains(" silently corrupted the output (of these, ") && headline.contains(") are bad), "));
    assert!(markdown.contains("| line | runs | SDC (95 % interval) | bad (95 % interval) | DUE (95 % interval) |"));
    assert!(html.contains("By source line, most bad corruptions first") && html.contains("the rate of ● bad"));
    // The gutter of the first line in the table has its rate of bad corruptions.
    let line = report.lines.rows.iter().find(|line| line.line.is_some()).unwrap();
    let gutter = html.split(&format!("id=\"L{}\"", line.line.unwrap())).nth(1).unwrap();
    let gutter = gutter.split("</summary>").next().unwrap();
    let percent = |share: f64| format!("{:.2}", share * 100.0);
    let bad = line.account.bad.unwrap();
    let expected = [percent(bad.rate.unwrap()) + " %", format!("{}–{}", percent(bad.low), percent(bad.high))];
    assert!(expected.iter().all(|expected| gutter.contains(expected)), "{expected:?} in {gutter}");
    let text = report::text::summary(&report.summary, |name| name);
    assert!(text.lines().any(|line| line.starts_with("  bad ")), "{text}");
    let lines = text.lines().skip_while(|line| !line.starts_with("line ")).collect::<Vec<_>>();
    assert!(
        lines[0].contains(" sdc ") && lines[0].contains(" bad ") && lines[1].starts_with("synthetic.cu:"),
        "{text}"
    );
    assert!(lines[1].starts_with(&format!("synthetic.cu:{} ", line.line.unwrap())), "{text}");
}

#[test]
fn the_first_examples_are_bad_corruptions() {
    let (_dir, results, report) =
        made(synthetic::judged(4000, "out:tolerance=0.1,bad=10,bins=1"), &Synthetic::default());
    let mut bad = std::collections::BTreeSet::new();
    let visit = &mut |row: campaign::Row| {
        if let campaign::Finding::Seen { outcome, .. } = &row.finding
            && ["bad", "detectable"].contains(&outcome.kind().unwrap_or_default().as_ref())
        {
            bad.insert(row.site.fault().unwrap().to_owned());
        }
    };
    results.visit(visit).unwrap();
    assert!(report.most_corrupting.rows.iter().all(|site| bad.contains(site.example.as_ref().unwrap())));
    assert!(bad.contains(&report.examples(3)[0]));
}

/// Levels of the results of a log about silent corruptions, each with its properties.
fn levels(report: &Report) -> Vec<(String, Value)> {
    let log: Value = serde_json::from_str(&report.to_sarif().unwrap()).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap().iter().filter(|it| it["ruleId"] == "beamline/sdc");
    results.map(|it| (it["level"].as_str().unwrap().to_owned(), it["properties"].clone())).collect()
}

#[test]
fn a_line_with_good_corruptions_alone_is_a_note() {
    // All are good but those with a NaN.
    let report = judged(4000, "out:metric=differing,tolerance=1e6");
    let (levels, plain) = (levels(&report), levels(&sampled(4000)));
    assert!(levels.len() > 15 && levels.iter().all(|(level, _)| level != "error"), "{levels:?}");
    assert!(
        levels.iter().any(|(level, it)| level == "note" && count(&it["bad"]) == 0 && it["low"].as_f64() > Some(0.05))
    );
    assert!(plain.iter().any(|(level, it)| level == "warning" && it.get("bad").is_none()), "{plain:?}");
}

#[test]
fn corruptions_that_the_criteria_do_not_reach_count_with_the_bad_ones_and_are_named() {
    let report = judged(1000, "other:tolerance=0.1");
    assert_eq!(report.summary.bad.unwrap().count, report.summary.outcomes.sdc.count);
    let text = report::text::summary(&report.summary, |name| name);
    for view in [report.to_markdown(), report.to_html(), text] {
        assert!(
            view.contains("bad or unjudged") && view.contains("corrupted an output that has no criterion"),
            "{view}"
        );
    }
}

#[test]
fn without_criteria_nothing_is_called_bad() {
    let report = sampled(600);
    let json = json(&report);
    assert_eq!((&json["ranked_by"], json.get("bad_of_sdc")), (&Value::from("sdc"), None));
    assert!(json["lines"]["rows"][0].get("bad").is_none() && json["summary"]["by_line"][0].get("bad").is_none());
    assert!(!report.to_markdown().contains("bad"));
}
