//! Rates that a model predicts without injections.

use crate::{json, path, run, stderr};
use serde_json::Value;
use tempfile::TempDir;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number, not {value}"))
}

#[test]
fn a_prediction_holds_probabilities_and_is_the_same_again() {
    for name in ["pathfinder", "sobel"] {
        let predicted = json(&["predict", name, "--json"]);
        assert_eq!(predicted["format"], "beamline.predict/1");
        let kernel = &predicted["kernels"][0];
        let of = |it: &Value| ["sdc", "due"].map(|key| number(&it[key]));
        let instructions = kernel["instructions"].as_array().unwrap();
        let mut weighted = [0.0; 2];
        for it in instructions {
            let [sdc, due] = of(it);
            assert!(sdc >= 0.0 && due >= 0.0 && sdc + due <= 1.0 + 1e-9, "{it}");
            weighted[0] += sdc * number(&it["executed"]);
            weighted[1] += due * number(&it["executed"]);
        }
        let executed: f64 = instructions.iter().map(|it| number(&it["executed"])).sum();
        let [sdc, due] = of(kernel);
        assert!((weighted[0] / executed - sdc).abs() < 1e-9 && (weighted[1] / executed - due).abs() < 1e-9);
        assert!((number(&kernel["masked"]) + sdc + due - 1.0).abs() < 1e-9);
        assert_eq!(json(&["predict", name, "--json", "--jobs", "3"]), predicted);
    }
    let wrong = |args: &[&str]| stderr(&run(&[&["predict", "sobel"], args].concat()));
    assert!(wrong(&["--threads", "0"]).contains("--threads takes 1 or more"));
    assert!(wrong(&["--kernel", "x"]).contains("find a kernel: none matches x"));
}

/// A campaign of 1,000 runs, of which each instruction has ten or so.
#[test]
fn a_prediction_ranks_instructions_as_a_campaign_does() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("c");
    let predicted = json(&["predict", "sobel", "--json", "--against", "1000", "--out", path(&out)]);
    let kernel = &predicted["kernels"][0];
    let landed = number(&kernel["measured"]["landed"]);
    let rate = number(&kernel["measured"]["sdc"]) / landed;
    assert!((number(&kernel["sdc"]) - rate).abs() < 0.15 && number(&kernel["absolute_error"]) < 0.15, "{rate}");
    assert!((number(&kernel["due"]) - number(&kernel["measured"]["due"]) / landed).abs() < 0.1);
    assert!(number(&kernel["mean_absolute_error"]) < number(&kernel["mean_absolute_error_of_the_rate"]));
    assert!(number(&kernel["spearman"]["low"]) > 0.5);
}
