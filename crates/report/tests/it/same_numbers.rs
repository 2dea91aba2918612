//! The page, the Markdown and the JSON say the same.

use crate::{json, sampled};
use serde_json::Value;

/// The text of markup.
fn text(markup: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for c in markup.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            c if !inside => text.push(c),
            _ => {}
        }
    }
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// The rows of a table: for each cell what it is sorted by, and its text.
fn rows(html: &str, id: &str) -> Vec<Vec<(Option<String>, String)>> {
    let table = html.split(&format!("<table id=\"{id}\">")).nth(1).unwrap_or_else(|| panic!("no table {id}"));
    let body = table.split("<tbody>").nth(1).unwrap().split("</tbody>").next().unwrap();
    let cells = |row: &str| {
        let cells = row.split("<t").skip(1).filter(|cell| cell.starts_with(['d', 'h']) && !cell.starts_with("itle"));
        cells
            .map(|cell| {
                let (attributes, rest) = cell.split_once('>').unwrap();
                let value =
                    attributes.split("data-v=\"").nth(1).map(|value| value.split('"').next().unwrap().to_owned());
                (value, text(rest))
            })
            .collect()
    };
    body.split("<tr>").skip(1).map(cells).collect()
}

#[test]
fn the_races_of_the_golden_run_stand_in_every_view() {
    let report = sampled(600);
    let part = "Data races were looked for in 1 of 2 launches";
    let expected = "loop: warps of a block race in shared memory at synthetic.cu:12 and synthetic.cu:14 (1 096 words)";
    let views = [report.to_markdown(), text(&report.to_html())];
    views.iter().for_each(|view| assert!(view.contains(expected) && view.contains(part)));
    let text = report::text::summary(&report.summary, |name| {
        name.strip_suffix("Pf").and_then(|name| name.get(3..)).unwrap_or(name)
    });
    assert!(text.contains(expected) && text.contains(part), "{text}");
    assert_eq!(json(&report)["summary"]["races"][0]["accesses"][1]["line"], 14);
}

/// Written again, independently of the program: two digits, four where those say nothing.
fn percent(value: f64) -> String {
    let percent = value * 100.0;
    if percent == 0.0 || percent >= 0.005 { format!("{percent:.2}") } else { format!("{percent:.4}") }
}

/// The cells from the number of runs on are those of the account.
fn same_account(cells: &[(Option<String>, String)], account: &Value) {
    assert_eq!(cells[0].0.as_deref(), Some(account["runs"].to_string().as_str()));
    assert_eq!(cells[0].1.replace('\u{202f}', ""), account["runs"].to_string());
    for (class, at) in [("sdc", 1), ("due", 4), ("masked", 7)] {
        let rate = &account[class];
        match rate["rate"].as_f64() {
            None => assert_eq!(cells[at].1, "–"),
            Some(share) => {
                assert_eq!(cells[at].0.as_ref().unwrap().parse::<f64>().unwrap(), share);
                assert_eq!(cells[at].1, format!("{} %", percent(share)));
                let bounds = [&rate["low"], &rate["high"]].map(|bound| percent(bound.as_f64().unwrap()));
                assert_eq!(cells[at + 1].1, bounds.join("–"));
            }
        }
    }
    assert_eq!(cells[9].1.replace('\u{202f}', ""), account["not_landed"].to_string());
    assert_eq!(cells[10].1.replace('\u{202f}', ""), account["failed"].to_string());
}

#[test]
fn every_number_of_the_page_s_tables_is_that_of_the_document() {
    let report = sampled(4000);
    let (html, json) = (report.to_html(), json(&report));
    let list = |value: &Value| value.as_array().or_else(|| value["rows"].as_array()).unwrap().clone();
    // Where the account begins, after the names, and after the share of all SDC with its interval.
    let tables = [
        ("kernels", &json["kernels"], 1),
        ("groups", &json["groups"], 1),
        ("lines", &json["lines"], 1),
        ("instructions", &json["instructions"], 4),
        ("bits-table", &json["bits"], 1),
        ("launches", &json["launches"], 2),
        ("most", &json["most_corrupting"], 8),
        ("surest", &json["surest_corrupting"], 8),
    ];
    for (id, parts, from) in tables {
        let (found, expected) = (rows(&html, id), list(parts));
        assert_eq!(found.len(), expected.len(), "{id}");
        assert!(!found.is_empty(), "{id}");
        for (cells, part) in found.iter().zip(&expected) {
            same_account(&cells[from..], part);
            if from == 8 {
                let share = part["share_of_sdc"]["rate"].as_f64().unwrap();
                assert_eq!(cells[6].0.as_ref().unwrap().parse::<f64>().unwrap(), share);
            }
        }
    }
    for (cells, death) in rows(&html, "deaths").iter().zip(list(&json["deaths"])) {
        assert_eq!(cells[5].0.as_ref().unwrap(), &death["count"].to_string());
        assert_eq!(cells[6].1, format!("{} %", percent(death["rate"].as_f64().unwrap())));
    }
}

#[test]
fn the_tiles_and_the_account_are_the_summary_s() {
    let report = sampled(4000);
    let (html, json) = (report.to_html(), json(&report));
    for class in ["sdc", "due", "masked"] {
        let tile = html.split(&format!("id=\"tile-{class}\"")).nth(1).unwrap().split("</div>").next().unwrap();
        let rate = &json["summary"]["outcomes"][class];
        let share = rate["rate"].as_f64().unwrap();
        let tile = text(tile).replace('\u{202f}', "");
        let expected = [format!("{} %", percent(share)), format!("{} runs", rate["count"])];
        assert!(expected.iter().all(|expected| tile.contains(expected)), "{expected:?} in {tile}");
        for kind in json["kinds"].as_array().unwrap().iter().filter(|kind| kind["class"] == class && kind["count"] != 0)
        {
            let word = kind["kind"].as_str().unwrap().replace('_', " ");
            let expected = format!("{word}{}", percent(kind["rate"].as_f64().unwrap()));
            assert!(tile.contains(&expected), "{expected} in {tile}");
        }
    }
    let runs = &json["summary"]["runs"];
    let account = text(html.split("id=\"account\"").nth(1).unwrap().split("</p>").next().unwrap());
    let words: Vec<String> =
        ["planned", "landed", "not_landed", "failed"].iter().map(|key| runs[*key].to_string()).collect();
    let numbers: Vec<String> = account
        .replace("planned =", "+")
        .split('+')
        .map(|part| part.chars().filter(char::is_ascii_digit).collect())
        .collect();
    assert_eq!(numbers, words, "{account}");
}

#[test]
fn the_markdown_has_the_rates_of_the_document() {
    let report = sampled(4000);
    let (markdown, json) = (report.to_markdown(), json(&report));
    for part in json["groups"].as_array().unwrap() {
        let name = part["name"].as_str().unwrap().replace('_', "\\_");
        let line = markdown.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap();
        for class in ["sdc", "due", "masked"] {
            let of = |key: &str| percent(part[class][key].as_f64().unwrap());
            assert!(line.contains(&format!("{} % ({}–{})", of("rate"), of("low"), of("high"))), "{line}");
        }
    }
}
