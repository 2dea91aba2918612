//! The paper's studies, each a function of capsules: what its heuristics cost, and what resilience goes with.

mod cells;
mod crashes;
mod groups;
pub(super) mod iterations;
mod mix;
mod popularity;
mod window;

use crate::method::StudyOffer;

pub use crashes::{COLUMNS as CAUSE_COLUMNS, plot as latencies, row as cause_row};
pub use groups::{
    COLUMNS as SPREAD_COLUMNS, Dispersion, LEAST, LEVEL, Spread, dispersion, rates as group_rates, row as spread_row,
};
pub use mix::{KernelMix as MixPoint, Model, classes, model_row, models, regressions, state_table};
pub use popularity::{popular, popularity, popularity_of};

/// The studies.
pub const STUDIES: [StudyOffer; 7] = [
    StudyOffer { name: "iterations", about: "what the loop-iteration cap costs", make: iterations::study },
    StudyOffer { name: "window", about: "what the activation window leaves out", make: window::study },
    StudyOffer { name: "groups", about: "whether threads of a group are alike", make: groups::study },
    StudyOffer { name: "mix", about: "whether the instruction mix goes with SDC rates", make: mix::study },
    StudyOffer { name: "dwarfs", about: "whether the algorithm class goes with SDC rates", make: mix::dwarfs },
    StudyOffer { name: "state", about: "how much of the state faults can reach", make: mix::state },
    StudyOffer { name: "crashes", about: "what crashes come from, and how late", make: crashes::study },
];
