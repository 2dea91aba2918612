//! A statement of the paper.

use super::rules::Judged;

/// Something that the paper says.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it says.
    pub claim: String,
    /// Its numbers.
    pub paper: String,
    /// Ours.
    pub ours: String,
    /// What decides, and what is decided.
    pub judged: Judged,
}
