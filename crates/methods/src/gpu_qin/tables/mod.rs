//! The paper's tables with our numbers beside its own, and what its heuristics cost.

mod figures;
mod heuristics;
mod orderings;
mod published;

use study::Cell;

use super::estimate::{Bounded, KernelEstimate, Rates};

pub use figures::{
    compilers, crashes, group_rates, latencies, popularity_plot, rates, rates_plot, regression, shares_of_state,
    spreads,
};
pub use heuristics::{errors, summary};
pub use orderings::orderings;
pub use published::{campaigns, categories, dwarfs, exceptions, kernels, monte};

/// A rate with the bounds of equation 3, or Wilson's.
fn rate(kernel: &KernelEstimate, pick: fn(&Rates) -> Bounded) -> Cell {
    kernel.rates.as_ref().map(pick).map_or(Cell::None, bounded)
}

fn bounded(it: Bounded) -> Cell {
    Cell::Rate { rate: it.rate, low: it.low, high: it.high }
}

fn share(share: Option<f64>) -> Cell {
    share.map_or(Cell::None, Cell::Share)
}
