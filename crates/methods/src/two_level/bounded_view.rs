//! Quantities with their bounds, as parts of documents and tables.

use serde::Serialize;
use serde_json::{Value, json};
use stats::Bounded;
use study::Cell;

#[derive(Serialize)]
struct BoundedDocument {
    rate: f64,
    low: f64,
    high: f64,
}

/// A rate and its bounds as a document.
pub(super) fn document(it: Bounded) -> Value {
    json!(BoundedDocument { rate: it.value, low: it.low, high: it.high })
}

/// A quantity and its bounds as a cell.
pub(super) fn quantity(it: Bounded) -> Cell {
    Cell::Quantity { value: it.value, low: it.low, high: it.high }
}

/// A probability and its bounds as a cell.
pub(super) fn probability(it: Bounded) -> Cell {
    Cell::Rate { rate: it.value, low: it.low, high: it.high }
}
