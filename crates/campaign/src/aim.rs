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

impl From<SelectionWords> for Aim {
    fn from(words: SelectionWords) -> Self {
        Self { words, place: None }
    }
}
