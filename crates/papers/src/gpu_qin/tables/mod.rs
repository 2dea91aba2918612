//! The paper's tables with our numbers beside its own, and what its heuristics cost.

mod figures;
mod heuristics;
mod lost;
mod published;

use methods::gpu_qin::{Bounded, KernelEstimate};
use study::Cell;

use super::errors::Rate;

pub use figures::{
    compilers, crashes, group_rates, latencies, popularity_plot, rates, rates_plot, regression, shares_of_state,
    sooner, spreads,
};
pub use heuristics::{caps, coverages, errors, summary};
pub use lost::{given_up, unread};
pub use published::{campaigns, categories, dwarfs, exceptions, kernels, monte};

/// A rate with Wilson's bounds, or those of the score interval of strata.
fn rate(kernel: &KernelEstimate, rate: Rate) -> Cell {
    rate.estimated(kernel).map_or(Cell::None, scored)
}

fn scored(it: Bounded) -> Cell {
    Cell::Rate { rate: it.rate, low: it.score_low, high: it.score_high }
}

fn share(share: Option<f64>) -> Cell {
    share.map_or(Cell::None, Cell::Share)
}
