//! What a planner aims at, for whoever says in words what was hit.

use crate::config::SelectionWords;

/// One of the things that the faults of a campaign do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Aim {
    /// What is hit, how it changes and in how many threads, as a campaign without a method would say it.
    pub words: SelectionWords,
    /// What is hit in words of the method's own, where those of a campaign do not say it exactly: it follows "in".
    pub place: Option<String>,
}

/// What a target system says of its faults, in whole sentences, where the words of programs on a GPU do not fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// What is hit, how it changes, and what each run is drawn from.
    pub faults: String,
    /// What is not hit.
    pub not_hit: String,
    /// What is to be known of what executed the runs, a sentence or some each.
    pub machine: Vec<String>,
}

impl From<SelectionWords> for Aim {
    fn from(words: SelectionWords) -> Self {
        Self { words, place: None }
    }
}
