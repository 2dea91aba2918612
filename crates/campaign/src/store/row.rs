//! A row and its columns.
//!
//! One table, [`COLUMNS`], gives the schema, the order in which rows are encoded and that in which they are decoded.
//! What results are grouped or filtered by has a column of its own; the comparisons of outputs are JSON.

use crate::target::{RunFailure, RunIndex, Site};
use outcome::{CLASSIFIER_VERSION, Class, Observation, Outcome};

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
            Self::Failed(_) => Class::Failed,
        }
    }
}

/// The columns of table `run`: name and declaration.
pub(crate) const COLUMNS: &[(&str, &str)] = &[
    ("run", "INTEGER PRIMARY KEY"),
    // The fault and its parts. `group` is a word of SQL.
    ("fault", "TEXT NOT NULL"),
    ("kernel", "TEXT NOT NULL"),
    ("launch", "INTEGER NOT NULL"),
    ("cta", "INTEGER NOT NULL"),
    ("thread", "INTEGER NOT NULL"),
    ("dynamic", "INTEGER NOT NULL"),
    ("pc", "INTEGER NOT NULL"),
    ("target", "TEXT NOT NULL"),
    ("model", "TEXT NOT NULL"),
    ("bits", "TEXT NOT NULL"),
    ("instruction_group", "TEXT NOT NULL"),
    ("opcode", "TEXT NOT NULL"),
    ("file", "TEXT"),
    ("line", "INTEGER"),
    // What it came to.
    ("outcome", "TEXT NOT NULL CHECK (outcome IN ('masked', 'sdc', 'due', 'not_landed', 'failed'))"),
    ("kind", "TEXT"),
    ("classifier", "INTEGER"),
    ("error", "TEXT CHECK ((error IS NOT NULL) = (outcome = 'failed'))"),
    // What was seen.
    ("landed_before", "TEXT"),
    ("landed_after", "TEXT"),
    ("landed_threads", "INTEGER"),
    ("first_use", "TEXT CHECK (first_use IN ('read', 'overwritten', 'never'))"),
    ("first_use_after", "INTEGER"),
    ("ended", "TEXT CHECK (ended IN ('completed', 'trapped', 'hang', 'detected', 'exited', 'signalled', 'timed_out'))"),
    ("ended_by", "TEXT"),
    ("ended_kernel", "TEXT"),
    ("ended_pc", "INTEGER"),
    ("ended_line", "INTEGER"),
    ("ended_after", "INTEGER"),
    ("outputs", "TEXT"),
    ("host_visible", "INTEGER"),
    ("strayed", "INTEGER"),
    ("instructions", "INTEGER"),
    ("tier", "TEXT"),
    // What the application did, as JSON, where it ran itself.
    ("host", "TEXT"),
];
