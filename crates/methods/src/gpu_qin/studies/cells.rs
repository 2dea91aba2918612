//! Rates of the method as values of tables.

use study::Cell;

use crate::gpu_qin::estimate::Bounded;

/// A rate with the bounds of equation 3.
pub(super) fn rate(bounded: Option<Bounded>) -> Cell {
    bounded.map_or(Cell::None, |it| Cell::Rate { rate: it.rate, low: it.low, high: it.high })
}

/// What has to be said of rates among which so many trials are undecided, if any are.
pub(super) fn on_undecided(trials: u64) -> Option<String> {
    (trials > 0).then(|| {
        format!(
            "{trials} activated trials are undecided: bounds are those of rates of which none and all of them are part."
        )
    })
}
