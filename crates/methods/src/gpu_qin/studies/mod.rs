//! The paper's studies, each a function of capsules: what its heuristics cost, and what resilience goes with.

mod crashes;
mod groups;
mod iterations;
mod mix;
mod popularity;
mod window;

use campaign::Subject as _;
use inject::CapsuleTarget;

use super::estimate::Bounded;
use super::measure::{Bench, StudyError};
use crate::study::{Cell, Study};

pub use crashes::{COLUMNS as CAUSE_COLUMNS, plot as latencies, row as cause_row};
pub use groups::{COLUMNS as SPREAD_COLUMNS, Spread, rates as group_rates, row as spread_row, spread};
pub use mix::{Point as MixPoint, classes, regressions, state_table};
pub use popularity::{popular, popularity, popularity_of};

/// What can be studied.
pub const NAMES: [&str; 7] = ["iterations", "window", "groups", "mix", "dwarfs", "state", "crashes"];

/// A capsule and what is known of it.
pub struct Subject<'t> {
    /// Its golden run is done.
    pub capsule: &'t CapsuleTarget,
    /// Its algorithm class, if it has one.
    pub class: Option<String>,
}

impl Subject<'_> {
    fn name(&self) -> &str {
        self.capsule.name()
    }
}

/// Makes a study.
///
/// # Errors
/// If there is none of this name, or its campaigns cannot be made.
pub fn study(name: &str, subjects: &[Subject<'_>], runs: u64, bench: &mut Bench<'_>) -> Result<Study, StudyError> {
    match name {
        "iterations" => iterations::study(subjects, runs, bench),
        "window" => window::study(subjects, runs, bench),
        "groups" => groups::study(subjects, runs, bench),
        "mix" => mix::study(subjects, runs, bench),
        "dwarfs" => mix::dwarfs(subjects, runs, bench),
        "state" => Ok(mix::state(subjects)),
        "crashes" => crashes::study(subjects, runs, bench),
        _ => Err(StudyError::Nothing("", format!("there is no `{name}`; there are {}", NAMES.join(", ")))),
    }
}

/// A rate with the bounds of equation 3.
fn rate(bounded: Option<Bounded>) -> Cell {
    bounded.map_or(Cell::None, |it| Cell::Rate { rate: it.rate, low: it.low, high: it.high })
}
