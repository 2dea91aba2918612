//! Whether the model without injections follows the input (the paper's second case study, Section VII).

use serde_json::json;
use study::{Cell, Table};

use super::super::bench::{Bench, seed_of};
use super::correlation::{self, Coefficient};
use super::kernels;
use super::studied::{Part, Studied};
use crate::kit::StudyError;

/// Predicted and measured rates of random inputs, their rank correlation, and how far apart they are.
pub(super) fn make(bench: &mut Bench<'_, '_>, studied: &Studied<'_>) -> Result<Part, StudyError> {
    let mut inputs = Vec::new();
    for point in &studied.subjects.points {
        let Ok(predicted) = bench.predicted(point)? else { continue };
        let seed = seed_of(studied.seed, point, kernels::STAGES[0]);
        let Ok(measured) = bench.sample_input(point, studied.runs, seed)? else { continue };
        inputs.push((point.to_string(), predicted, measured.all.sdc().rate()));
    }
    let pairs: Vec<(f64, f64)> = inputs.iter().map(|(_, predicted, measured)| (*predicted, *measured)).collect();
    let ranks = Coefficient::of(&pairs);
    let mean = |of: fn(&(f64, f64)) -> f64| {
        (!pairs.is_empty()).then(|| pairs.iter().map(of).sum::<f64>() / pairs.len() as f64)
    };
    let (error, bias) = (mean(|(one, other)| (one - other).abs()), mean(|(one, other)| one - other));
    let mut table = Table::new("Rates of random inputs by the model without injections", &["", "value"]);
    let points = |it: Option<f64>| it.map_or(Cell::None, |it| Cell::text(format!("{:.1} points", it * 100.0)));
    table.rows = vec![
        vec![Cell::text("rank correlation with the measured rates (Spearman)"), correlation::cell(ranks)],
        vec![Cell::text("mean absolute error"), points(error)],
        vec![Cell::text("predicted less measured, mean"), points(bias)],
    ];
    table.notes.push(format!("{} inputs; bounds at 95 %.", inputs.len()));
    let input = |(input, predicted, measured): &(String, f64, f64)| json!({ "input": input, "predicted": predicted, "measured": measured });
    let json = json!({
        "ranks": correlation::document(ranks),
        "mean_absolute_error": error,
        "bias": bias,
        "inputs": inputs.iter().map(input).collect::<Vec<_>>(),
    });
    Ok(Part { tables: vec![table], plots: Vec::new(), json })
}
