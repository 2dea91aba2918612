//! Markdown as it is kept, SARIF by its rules, comparisons, and Parquet read back.

use crate::synthetic::{self, Synthetic};
use crate::{made, sampled};
use expect_test::expect_file;
use report::CampaignComparison;
use serde_json::Value;

#[test]
fn the_markdown_is_as_it_was() {
    expect_file!["golden.md"].assert_eq(&sampled(600).to_markdown());
}

#[test]
fn the_markdown_of_an_exhaustive_campaign_is_as_it_was() {
    let (_dir, _, report) = made(synthetic::exhaustive(), &Synthetic::default());
    expect_file!["golden_exhaustive.md"].assert_eq(&report.to_markdown());
}

/// The rules of SARIF 2.1.0 that readers such as GitHub insist on.
#[test]
fn the_sarif_log_keeps_the_rules_of_its_standard() {
    let log: Value = serde_json::from_str(&sampled(3000).to_sarif().unwrap()).unwrap();
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().ends_with("sarif-2.1.0.json"));
    let runs = log["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1);
    let driver = &runs[0]["tool"]["driver"];
    assert!(driver["name"].is_string());
    let rules = driver["rules"].as_array().unwrap();
    for rule in rules {
        for key in ["shortDescription", "fullDescription", "help"] {
            assert!(rule[key]["text"].as_str().is_some_and(|text| !text.is_empty()), "{rule}");
        }
    }
    let results = runs[0]["results"].as_array().unwrap();
    assert!(results.len() > 20);
    for result in results {
        let rule = &rules[result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        assert!((0.0..=100.0).contains(&result["rank"].as_f64().unwrap()));
        let location = &result["locations"][0]["physicalLocation"];
        let uri = location["artifactLocation"]["uri"].as_str().unwrap();
        assert!(!uri.starts_with('/') && !uri.contains(':') && !uri.contains(".."), "{uri}");
        assert!(location["region"]["startLine"].as_u64().unwrap() >= 1);
    }
}

#[test]
fn a_campaign_is_no_different_from_itself_and_another_is_where_it_is() {
    let dirs = || ["a".to_owned(), "b".to_owned()];
    let (a, b) = (
        sampled(2000),
        made(synthetic::runs(2000), &Synthetic { shares: [300, 500, 150, 30], ..Synthetic::default() }).2,
    );
    let same = CampaignComparison::new(&a, &a, dirs());
    let all = || same.outcomes.iter().chain(&same.kinds).chain(&same.kernels).chain(&same.groups).chain(&same.lines);
    assert!(all().count() > 40);
    assert!(all().all(|contrast| !contrast.clear && contrast.difference == Some(0.0)));
    let other = CampaignComparison::new(&a, &b, dirs());
    let sdc = other.outcomes.iter().find(|contrast| contrast.class == "sdc").unwrap();
    assert!(sdc.clear && sdc.low.unwrap() > 0.2 && sdc.p_value.unwrap() < 1e-6, "{sdc:?}");
    let due = other.outcomes.iter().find(|contrast| contrast.class == "due").unwrap();
    assert!(!due.clear, "{due:?}");
    for text in [other.to_text(), other.to_markdown()] {
        assert!(text.contains("more in B") && text.contains("not told apart"), "{text}");
    }
    let json: Value = serde_json::from_str(&other.to_json().unwrap()).unwrap();
    assert_eq!(json["format"], "beamline.comparison/1");
}

#[test]
fn kinds_of_corruptions_are_compared_only_where_both_campaigns_judge_alike() {
    let of = |choices| made(choices, &Synthetic::default()).2;
    let plain = || of(synthetic::runs(2000));
    let judged = || of(synthetic::judged(2000, "out:tolerance=0.1,bad=10"));
    // The same criteria in other words, and others.
    let alike = || of(synthetic::judged(2000, "out:metric=max-rel,tolerance=0.1,bad=10,element=f32"));
    let stricter = || of(synthetic::judged(2000, "out:tolerance=0.01,bad=10"));
    for (a, b, why, sentence) in [
        (judged(), plain(), "B was not judged", "The second campaign was not judged"),
        (plain(), judged(), "A was not judged", "The first campaign was not judged"),
        (judged(), stricter(), "criteria differ", "The criteria of outputs are not the same"),
    ] {
        let comparison = CampaignComparison::new(&a, &b, ["a".into(), "b".into()]);
        let (of_sdc, others): (Vec<_>, Vec<_>) = comparison.kinds.iter().partition(|kind| kind.class == "sdc");
        assert!(of_sdc.len() > 3 && of_sdc.iter().any(|kind| kind.name == "bad"), "{of_sdc:#?}");
        for kind in of_sdc {
            assert_eq!((kind.a.rate, kind.b.rate, kind.difference), (None, None, None), "{kind:?}");
            assert_eq!((kind.p_value, kind.adjusted, kind.clear), (None, None, false), "{kind:?}");
            assert_eq!(kind.not_comparable, Some(why));
        }
        assert!(others.iter().chain(&comparison.outcomes.iter().collect::<Vec<_>>()).all(|it| it.difference.is_some()));
        let (text, html, markdown) = (comparison.to_text(), comparison.to_html("0"), comparison.to_markdown());
        for view in [&text, &html, &markdown, &comparison.to_json().unwrap()] {
            assert!(view.contains(why) && view.contains(sentence), "{view}");
        }
        let line = text.lines().find(|line| line.starts_with("bad ")).unwrap();
        assert!(!line.contains('%') && line.ends_with(why), "{line}");
    }
    for other in [judged(), alike()] {
        let comparison = CampaignComparison::new(&judged(), &other, ["a".into(), "b".into()]);
        assert!(comparison.kinds.iter().all(|kind| kind.difference.is_some() && kind.not_comparable.is_none()));
        assert!(!comparison.warnings.iter().any(|warning| warning.contains("criteria")), "{:?}", comparison.warnings);
    }
}

#[test]
fn an_exact_rate_is_compared_by_the_bounds_of_the_other() {
    let (_dir, _, exact) = made(synthetic::exhaustive(), &Synthetic::default());
    let sample = sampled(1000);
    for (a, b, sign) in [(&sample, &exact, 1.0), (&exact, &sample, -1.0)] {
        let comparison = CampaignComparison::new(a, b, ["a".into(), "b".into()]);
        let sdc = comparison.outcomes.iter().find(|contrast| contrast.class == "sdc").unwrap();
        assert_eq!((sdc.p_value, sdc.adjusted), (None, None));
        let (exact, sampled) = if sign > 0.0 { (sdc.b, sdc.a) } else { (sdc.a, sdc.b) };
        let bounds = [sign * (exact.low - sampled.high), sign * (exact.low - sampled.low)];
        assert!((sdc.low.unwrap() - bounds[0].min(bounds[1])).abs() < 1e-12, "{sdc:?}");
        assert!((sdc.high.unwrap() - bounds[0].max(bounds[1])).abs() < 1e-12, "{sdc:?}");
    }
}

#[cfg(feature = "parquet")]
mod parquet_rows {
    use super::*;
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::RowAccessor;
    use campaign::Results;

    fn written(results: &Results) -> SerializedFileReader<std::fs::File> {
        let mut file = tempfile::tempfile().unwrap();
        report::write_parquet(results, &mut file).unwrap();
        SerializedFileReader::new(file).unwrap()
    }

    #[test]
    fn every_row_and_column_is_in_the_file() {
        let (_dir, results, _) = made(synthetic::runs(700), &Synthetic::default());
        let reader = written(&results);
        let columns = reader.metadata().file_metadata().schema_descr().columns().to_vec();
        let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
        let columns = results.columns();
        let expected: Vec<&str> = columns.iter().map(|column| column.name.as_ref()).collect();
        assert_eq!(names, expected);
        let at = |name: &str| names.iter().position(|other| *other == name).unwrap();
        let mut expected = Vec::new();
        results
            .visit(&mut |row| {
                expected.push((
                    row.run.0 as i64,
                    row.site.fault().unwrap().to_owned(),
                    row.finding.class().to_string(),
                ));
            })
            .unwrap();
        let rows = reader.get_row_iter(None).unwrap().map(|row| row.unwrap());
        let found: Vec<(i64, String, String)> = rows
            .map(|row| {
                let text = |name: &str| row.get_string(at(name)).unwrap().clone();
                (row.get_long(at("run")).unwrap(), text("fault"), text("outcome"))
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_exhaustive_campaign_gives_its_counts() {
        let (_dir, results, report) = made(synthetic::exhaustive(), &Synthetic::default());
        let reader = written(&results);
        let columns = reader.metadata().file_metadata().schema_descr().columns().to_vec();
        let at = |name: &str| columns.iter().position(|column| column.name() == name).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(|row| row.unwrap()).collect();
        let sum: i64 = rows.iter().map(|row| row.get_long(at("count")).unwrap()).sum();
        assert_eq!(sum as u64, report.summary.runs.landed);
    }

    #[test]
    fn a_sheet_is_read_back_as_it_was() {
        use study::{Sheet, SheetColumn, SheetValue};
        let column = |name, integer, required| SheetColumn { name, integer, required };
        let columns = vec![column("kernel", false, true), column("line", true, false), column("kind", false, false)];
        let rows: Vec<Vec<SheetValue>> = vec![
            vec!["k".into(), SheetValue::from(7), "bad".into()],
            vec!["".into(), SheetValue::Absent, SheetValue::Absent],
        ];
        let mut file = tempfile::tempfile().unwrap();
        let visits = move |each: &mut dyn FnMut(&[SheetValue]) -> bool| {
            let _ = rows.iter().all(|row| each(row));
        };
        let sheet = Sheet::of_visits("classes", columns, visits);
        assert_eq!(report::write_sheet(&sheet, &mut file).unwrap(), 2);
        let reader = SerializedFileReader::new(file).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        assert_eq!(rows, [r#"{kernel: "k", line: 7, kind: "bad"}"#, r#"{kernel: "", line: null, kind: null}"#]);
    }
}
