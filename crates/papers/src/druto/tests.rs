//! Whether statements and the template follow from the documents.

use super::*;
use crate::statements::Verdict;
use Verdict::{Fails, Holds, Open};
use serde_json::{Value, json};
use survey::Goal;

/// Ten values around one, all different.
fn around(value: f64) -> Vec<f64> {
    (0..10).map(|at| value * (1.0 + f64::from(at) * 1e-3)).collect()
}

fn search(random: f64, druto: f64, peppa: f64) -> Value {
    let row = |(searcher, value): (&str, f64)| {
        json!({ "searcher": searcher, "median": value, "low": value * 0.95, "high": value * 1.05, "values": around(value),
            "differs": value != random, "p_corrected": 0.5, "better_than_random": 0.5 })
    };
    let rows: Vec<Value> =
        [("random", random), ("druto", druto), ("peppa-x", peppa), ("trident", peppa), ("tpe", druto)]
            .map(row)
            .to_vec();
    json!({ "comparison": rows, "evaluations": 50, "command": "beamline search a",
        "searches": [{ "searcher": "random", "evaluations": 50 }, { "searcher": "druto", "evaluations": 200, "course": [null, 1.0, 2.0] }],
        "reference": { "sdc": { "rate": 0.2, "low": 0.18, "high": 0.22 } } })
}

fn measured(name: &'static str, proxy: Value, rate: Value) -> Measured {
    let coefficient = |value: f64| json!({ "value": value, "low": value - 0.05, "high": value + 0.05, "count": 30 });
    let rate_of = |rate: f64| json!({ "rate": rate, "low": rate - 0.05, "high": rate + 0.05 });
    let kernel = |between: &str, value: f64| json!({ "between": between, "coefficient": coefficient(value) });
    let studies = json!({ "kernel": "k", "studies": {
        "range": { "p_alike": 1e-9, "inputs": [{ "sdc": rate_of(0.1) }], "lowest": rate_of(0.1), "highest": rate_of(0.5) },
        "kernels": [kernel("dominant", 0.8), kernel("ceiling_dominant", 0.9), kernel("fitness", -0.5)],
        "threads": { "counts": coefficient(0.4), "ceiling": coefficient(0.9) },
        "instructions": { "across_inputs": coefficient(0.6), "ceiling": coefficient(0.9) },
        "model": { "ranks": coefficient(0.7), "mean_absolute_error": 0.1, "bias": -0.02, "inputs": [{}, {}] },
        "launches": { "inputs": [{ "launches": 3, "spread": 0.25 }] },
        "protection": { "levels": [
            { "budget": 0.3, "for_reference": { "reference": rate_of(0.8), "found": rate_of(0.5) }, "for_found": {} }] },
        "pruning": { "p": 0.5, "variants": [{ "rates": [0.204, 0.205, 0.204] }, { "rates": [0.205, 0.204, 0.205] }] } } });
    Measured {
        name,
        seed: 100,
        searches: vec![
            (Goal::Proxy, proxy.clone()),
            (Goal::Five, proxy.clone()),
            (Goal::FivePeppa, proxy.clone()),
            (Goal::Seconds, proxy),
            (Goal::Rate, rate),
        ],
        studies,
    }
}

/// The verdicts of a part.
fn verdicts(all: &[Measured], part: usize) -> Vec<Verdict> {
    statements::statements(all)[part].statements.iter().map(|it| it.judged.verdict).collect()
}

#[test]
fn statements_about_inputs_and_ranks_follow_from_the_documents() {
    let one = ["a", "b", "c"].map(|name| measured(name, search(0.5, 0.2, 0.1), search(0.5, 0.5, 0.1)));
    // Rates vary, and random search finds more than the reference has.
    assert_eq!(verdicts(&one, 0), [Holds, Holds]);
    // Instructions change ranks by more than noise; O1 holds; O2 lies below though its ceiling is high; the fitness ranks the other way.
    assert_eq!(verdicts(&one, 1), [Holds, Holds, Fails, Fails]);
    // What is found by few inputs says nothing of protection.
    assert_eq!(verdicts(&one, 3), [Open]);
    let mut other = measured("b", search(0.5, 0.2, 0.1), search(0.2, 0.2, 0.1));
    other.studies["studies"]["range"]["p_alike"] = json!(0.4);
    other.studies["studies"]["instructions"]["ceiling"] = json!({ "value": 0.6, "low": 0.5, "high": 0.7 });
    other.studies["studies"]["threads"] = json!({ "counts": null, "ceiling": null });
    other.studies["studies"]["kernels"][0]["coefficient"] = json!({ "value": 0.7, "low": 0.5, "high": 0.8 });
    other.studies["studies"]["protection"]["levels"][0]["for_reference"]["found"] =
        json!({ "rate": 0.7, "low": 0.6, "high": 0.9 });
    let only = [other];
    assert_eq!(verdicts(&only, 0), [Open, Open]);
    assert_eq!(verdicts(&one[..2], 3), [Open]);
    // Nothing is said of threads that all execute alike.
    assert_eq!(verdicts(&only, 1), [Open, Open, Open, Fails]);
    assert_eq!(verdicts(&only, 3), [Open]);
    assert_eq!(verdicts(&[], 1), [Open; 4]);
}

#[test]
fn statements_about_searches_follow_from_the_documents() {
    // DRUTO finds less than random search and more than PEPPA-X, but not 74 times as much; the measured rate decides nothing.
    let less = |name| measured(name, search(0.5, 0.2, 0.1), search(0.5, 0.5, 0.1));
    assert_eq!(
        verdicts(&["a", "b", "c"].map(less), 2),
        [Fails, Holds, Fails, Fails, Holds, Holds, Open, Open, Holds, Fails, Holds, Fails]
    );
    // It finds 80 times as much, also if the others search five times as long.
    let more = |name| measured(name, search(0.01, 0.9, 0.1), search(0.1, 0.5, 0.1));
    assert_eq!(
        verdicts(&["a", "b", "c"].map(more), 2),
        [Holds, Holds, Holds, Holds, Holds, Holds, Holds, Open, Holds, Holds, Holds, Fails]
    );
    // One kernel each way: not more than half, and the contrary for half.
    assert_eq!(verdicts(&[less("a"), less("b"), more("c"), more("d")], 2)[..4], [Fails, Holds, Holds, Fails]);
    // Two kernels are not most of many.
    assert_eq!(
        verdicts(&["a", "b"].map(less), 2),
        [Open, Open, Fails, Open, Open, Open, Open, Open, Holds, Open, Open, Open]
    );
    // Searches shorter than the paper's decide nothing about it.
    let mut short = search(0.5, 0.2, 0.1);
    short["searches"][1]["evaluations"] = json!(199);
    let short = |name| measured(name, short.clone(), search(0.5, 0.5, 0.1));
    assert_eq!(verdicts(&[less("a"), less("b"), short("c")], 2)[..6], [Open, Open, Fails, Open, Open, Open]);
    let unsearched = Measured { searches: Vec::new(), ..less("a") };
    assert_eq!(verdicts(&[unsearched], 2)[..8], [Open; 8]);
    // A model that ranks no inputs, in three kernels of three.
    let mut blind = ["a", "b", "c"].map(less);
    for it in &mut blind {
        it.studies["studies"]["model"]["ranks"] = json!({ "value": 0.1, "low": -0.2, "high": 0.4 });
    }
    assert_eq!(verdicts(&blind, 2)[11], Holds);
}

#[test]
fn the_template_has_every_piece() {
    for (name, _) in pieces(&[measured("a", search(0.5, 0.2, 0.1), search(0.5, 0.5, 0.1))]) {
        assert!(PAGE.template.contains(&format!("{{{{{name}}}}}")), "{name}");
    }
}

#[test]
fn courses_end_at_the_last_value() {
    let plot = tables::plot_of_courses(&[measured("a", search(0.5, 0.2, 0.1), search(0.5, 0.5, 0.1))]);
    let values: Vec<f64> = plot.series[0].points.iter().map(|point| point.y).collect();
    assert_eq!(values, [0.0, 0.5, 1.0]);
}
