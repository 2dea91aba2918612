//! Documents made by hand: each rule holds and fails where it should.

use serde_json::{Value, json};

use super::pieces;
use super::statements::statements;
use super::survey::{APPLICATIONS, Application, Measured, is_float};
use crate::checks::{are_in, is_whole};
use crate::page::Piece;
use crate::statements::{Statement, Verdict};

/// Error sites of an application.
const MILLION: u64 = 1_000_000;

/// Shares in percent: masked, good, maybe, bad, detectable; the rest is detected.
type Ends = [u64; 5];

/// Costs of protection are of all corruptions, of Bad and Maybe, and of these above the bins 0, 4 and 9.
fn document(ends: Ends, [run, all]: [u64; 2], costs: [f64; 5], best: f64) -> Value {
    let [masked, good, maybe, bad, detectable] = ends.map(|percent| percent * all / 100);
    let detected = all - masked - good - maybe - bad - detectable;
    let outcomes = json!({
        "masked": masked, "good": good, "maybe": maybe, "bad": bad, "detectable": detectable, "detected": detected,
        "undecided": 0, "not_covered": 0,
    });
    let curve = |name: &str, bin: Option<u64>, cost: f64| {
        let points = json!([{ "coverage": 0.0, "cost": 0.0 }, { "coverage": 1.0, "cost": cost }]);
        json!({ "protected": name, "accepted": { "bin": bin }, "points": points })
    };
    let above = |bin: u64, cost: f64| curve(&format!("SDC-Bad + SDC-Maybe above bin {bin}"), Some(bin), cost);
    let share = |share: f64| json!({ "share_of_static": share, "share_of_dynamic": share });
    let part = |least: f64, most: f64| json!({ "worst": share(least), "best": share(most) });
    json!({
        "sites": { "all": all, "pruned": 0, "represented": all - run, "run": run, "not_covered": 0,
                   "heuristics": { "stores": { "sites": 1000 } } },
        "classes": { "all": run },
        "quality": { "outcomes": outcomes,
                     "by_instruction": [{ "instruction": "fma.rn.f64", "outcomes": outcomes }] },
        "tuning": { "curves": [curve("all output corruptions", None, costs[0]), curve("SDC-Bad + SDC-Maybe", None, costs[1]),
                               above(0, costs[2]), above(4, costs[3]), above(9, costs[4])] },
        "approximable": { "fi": part(0.0, 0.0), "pi_fr": part(0.1, 0.2), "pi_32b": part(0.1, best), "pi_8b": part(0.5, 0.6) },
    })
}

/// Pilots that predict these shares of members: at all, and where outcomes are joined.
fn validation(any: f64, joined: f64) -> Value {
    let rate = |rate: f64| json!({ "rate": rate, "low": rate - 0.0002, "high": rate + 0.0002 });
    let deltas = |share: f64| json!({ "delta_0": rate(share), "delta_2": rate(share) });
    let accuracy = |any: f64, joined: f64| json!({ "any": deltas(any), "resilience": deltas(joined), "approximation": deltas(joined) });
    let of_heuristic = json!({ "all": { "pilots": 300, "accuracy": accuracy(any, joined) } });
    let pilot = json!({ "pilots": 9, "accuracy": accuracy(0.9995, 0.9995) });
    json!({
        "coverage": 0.9, "control": of_heuristic, "stores": of_heuristic, "all": of_heuristic,
        "by_pilot": { "masked": pilot, "good": pilot, "detected": pilot },
    })
}

/// Applications as the chapter has them.
fn as_in_the_chapter() -> Vec<Measured> {
    let of = |name: &str| match name {
        "blackscholes" => document([40, 5, 5, 5, 35], [2100, 4000], [0.5, 0.3, 0.3, 0.3, 0.3], 0.3),
        "swaptions" => document([70, 12, 1, 1, 1], [1000, MILLION], [0.28, 0.03, 0.015, 0.01, 0.01], 0.6),
        "lud" => document([20, 0, 0, 70, 0], [900, MILLION], [0.9; 5], 0.2),
        "water" => document([40, 30, 5, 5, 5], [800, MILLION], [0.7, 0.5, 0.1, 0.05, 0.05], 0.3),
        "fft" => document([50, 5, 20, 5, 5], [700, MILLION], [0.6, 0.6, 0.45, 0.3, 0.3], 0.4),
        _ => document([60, 0, 20, 5, 5], [10, MILLION], [0.4; 5], 0.4),
    };
    let validation = |name: &str| match name {
        "blackscholes" => validation(0.90, 0.90),
        "swaptions" => validation(0.79, 0.99),
        "water" => validation(0.71, 0.98),
        "sobel" => validation(0.9995, 0.9995),
        _ => validation(0.99, 0.99),
    };
    let measured = |it: Application| {
        let Application { name, paper, coverage, decisions } = it;
        let mut document = of(name);
        document["validation"] = validation(name);
        Measured { name, paper, coverage, decisions, runs_of_chapter: 1_000_000, document, curve: None }
    };
    APPLICATIONS.into_iter().map(measured).collect()
}

fn all(measured: &[Measured]) -> Vec<Statement> {
    statements(measured).into_iter().flat_map(|part| part.statements).collect()
}

#[test]
fn what_is_as_in_the_chapter_holds() {
    for it in all(&as_in_the_chapter()) {
        let undecidable = ["the chapter does not say", "these campaigns do not tell"];
        let undecidable = undecidable.iter().any(|words| it.judged.rule.starts_with(words));
        let expected = if undecidable { Verdict::Open } else { Verdict::Holds };
        assert_eq!(it.judged.verdict, expected, "{}: {}", it.claim, it.ours);
    }
}

#[test]
fn the_page_has_these_statements_and_rules() {
    are_in(include_str!("../../../../docs/methods/approxilyzer.md"), &statements(&as_in_the_chapter()));
}

#[test]
fn what_is_the_other_way_round_fails_and_what_is_missing_is_open() {
    let mut other = as_in_the_chapter();
    for it in &mut other {
        it.document = match it.name {
            "lud" => document([60, 1, 1, 0, 0], [500_000, MILLION], [0.5, 0.2, 0.1, 0.1, 0.1], 0.0),
            "blackscholes" => document([10, 1, 80, 1, 1], [20, MILLION], [0.5, 0.5, 0.4, 0.4, 0.4], 0.0),
            _ => document([10, 1, 80, 1, 1], [500_000, MILLION], [0.5, 0.4, 0.35, 0.34, 0.34], 0.0),
        };
        it.document["validation"] = validation(0.9, if it.name == "blackscholes" { 0.9 } else { 0.8 });
    }
    let failed = all(&other).iter().filter(|it| it.judged.verdict == Verdict::Fails).count();
    assert!(failed >= 20, "{failed}");
    let alone: Vec<Measured> = as_in_the_chapter().into_iter().filter(|it| it.name == "fft").collect();
    let open = all(&alone).iter().filter(|it| it.judged.verdict == Verdict::Open).count();
    assert!(open >= 8, "{open}");
}

#[test]
fn every_piece_that_the_page_names_is_made() {
    let made = pieces(&as_in_the_chapter());
    let template = include_str!("page.md");
    let named: Vec<&str> = template.split("{{").skip(1).filter_map(|text| Some(text.split_once("}}")?.0)).collect();
    for name in named.iter().filter(|name| !name.starts_with("plot-")) {
        assert!(made.iter().any(|(it, _)| it == name), "{name}");
    }
    for (name, piece) in &made {
        assert!(named.contains(&name.as_str()), "{name}");
        if let Piece::Table(table) = piece {
            is_whole(name, table);
        }
    }
}

#[test]
fn the_type_of_an_instruction_says_what_it_computes() {
    for (instruction, is) in [("fma.rn.f32", true), ("add.bf16x2", true), ("add.s32", false), ("cvt.f32.s32", false)] {
        assert_eq!(is_float(&json!({ "instruction": instruction })), is, "{instruction}");
    }
}
