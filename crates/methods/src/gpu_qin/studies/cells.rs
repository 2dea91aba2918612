//! Rates of the method as values of tables.

use study::Cell;

use crate::gpu_qin::estimate::Bounded;

/// A rate with the bounds of equation 3.
pub(super) fn rate(bounded: Option<Bounded>) -> Cell {
    bounded.map_or(Cell::None, |it| Cell::Rate { rate: it.rate, low: it.low, high: it.high })
}
