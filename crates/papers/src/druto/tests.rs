//! Whether statements and the template follow from the documents.

use super::*;
use crate::statements::Verdict;
use serde_json::json;

fn measured(name: &'static str, druto: f64, p: f64) -> Measured {
    let row = |searcher: &str, median: f64, better: Option<f64>| {
        json!({ "searcher": searcher, "median": median, "low": median, "high": median, "differs": p < 0.05 && better.is_some(),
            "better_than_random": better, "p_corrected": better.map(|_| p) })
    };
    let search =
        json!({ "comparison": [row("random", 0.02, None), row("druto", druto, Some(f64::from(druto > 0.02)))] });
    let coefficient = |value: f64| json!({ "value": value, "low": value - 0.1, "high": value + 0.1, "count": 30 });
    let studies = json!({ "kernel": "k", "studies": {
        "range": { "p_alike": 1e-9, "inputs": [{}, {}], "lowest": { "rate": 0.1, "low": 0.0, "high": 0.2 },
            "highest": { "rate": 0.5, "low": 0.4, "high": 0.6 } },
        "kernels": [{ "between": "dominant", "coefficient": coefficient(0.9) }],
        "threads": { "counts": coefficient(0.4) },
        "instructions": { "across_inputs": coefficient(0.6) },
        "launches": { "inputs": [{ "launches": 3, "spread": 0.25 }] },
        "pruning": { "p": 0.5, "variants": [{ "rates": [0.2, 0.3] }, { "rates": [0.26] }] } } });
    Measured { name, searches: [search.clone(), search], studies }
}

#[test]
fn statements_follow_from_the_documents() {
    let verdicts = |all: &[Measured]| -> Vec<Verdict> {
        let parts = statements::statements(all);
        parts.iter().flat_map(|part| &part.statements).map(|it| it.judged.verdict).collect()
    };
    use Verdict::{Fails, Holds, Open};
    let both = [measured("a", 1.6, 0.001), measured("b", 1.6, 0.001)];
    // Rates vary; O1 is above its number, O2 below; a search finds 80 times the rate; pruning is one point apart.
    assert_eq!(verdicts(&both), [Holds, Holds, Holds, Fails, Holds, Holds, Open, Holds]);
    let worse = [measured("a", 0.01, 0.001), measured("b", 1.6, 0.2)];
    assert_eq!(verdicts(&worse)[4..6], [Fails, Holds]);
}

#[test]
fn the_template_has_every_piece() {
    for (name, _) in pieces(&[measured("a", 1.6, 0.001)]) {
        assert!(PAGE.template.contains(&format!("{{{{{name}}}}}")), "{name}");
    }
}
