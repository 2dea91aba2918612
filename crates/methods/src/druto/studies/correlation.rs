//! Rank correlations with their bounds, as cells and in documents.

use serde_json::{Value, json};
use stats::{Confidence, Interval, RankCorrelation, bootstrap, spearman};
use study::Cell;

/// A coefficient with its bounds at 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Coefficient {
    pub(super) value: f64,
    pub(super) bounds: Interval,
    /// The pairs, or the subjects of a mean.
    pub(super) count: usize,
}

impl Coefficient {
    /// Of pairs; none where a side has one value only.
    pub(super) fn of(pairs: &[(f64, f64)]) -> Option<Self> {
        let found = spearman(pairs)?;
        let RankCorrelation { coefficient, pairs, .. } = found;
        Some(Self { value: coefficient, bounds: found.bounds(Confidence::PERCENT_95), count: pairs })
    }

    /// The mean of the coefficients of several inputs; its bounds come of drawing inputs anew.
    pub(super) fn mean(values: &[f64], seed: u64) -> Option<Self> {
        let bounds = bootstrap(values, Confidence::PERCENT_95, seed)?;
        Some(Self { value: values.iter().sum::<f64>() / values.len() as f64, bounds, count: values.len() })
    }
}

/// As a cell.
pub(super) fn cell(it: Option<Coefficient>) -> Cell {
    it.map_or(Cell::None, |it| Cell::Quantity { value: it.value, low: it.bounds.low, high: it.bounds.high })
}

/// As documents have it.
pub(super) fn document(it: Option<Coefficient>) -> Value {
    it.map_or(
        Value::Null,
        |it| json!({ "value": it.value, "low": it.bounds.low, "high": it.bounds.high, "count": it.count }),
    )
}
