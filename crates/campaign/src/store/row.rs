//! What is stored of one run.

use crate::failure::RunFailure;
use crate::site::{RunIndex, Site};
use outcome::Observation;
use outcome::{CLASSIFIER_VERSION, Class, Outcome};

/// What is stored of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Which run.
    pub run: RunIndex,
    /// What it was to hit.
    pub site: Site,
    /// What came of it.
    pub finding: Finding,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly every row is the large one")]
pub enum Finding {
    /// It was made.
    Seen {
        /// What was seen.
        observation: Observation,
        /// How that was classified when it was stored.
        outcome: Outcome,
        /// By which version of the classifier.
        classifier: u32,
    },
    /// It was given up when it was planned; its site says why.
    GivenUp,
    /// It could not be made.
    Failed(RunFailure),
}

impl Finding {
    /// What was seen, with its outcome by the present classifier.
    #[must_use]
    pub fn seen(observation: Observation, outcome: Outcome) -> Self {
        Self::Seen { observation, outcome, classifier: CLASSIFIER_VERSION }
    }

    /// The class of the row.
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Self::Seen { outcome, .. } => outcome.class(),
            Self::GivenUp => Class::NotLanded,
            Self::Failed(_) => Class::Failed,
        }
    }
}
