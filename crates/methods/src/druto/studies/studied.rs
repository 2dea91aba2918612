//! The question of a study and its answer.

use serde_json::Value;
use space::Point;
use study::{Plot, Table};

use super::super::bench::{Bench, Ready};
use super::super::contest::{Rules, enter};
use super::super::searchers::SEARCHERS;
use super::subjects::Subjects;
use crate::kit::StudyError;

/// The question as studies see it.
pub(super) struct Studied<'s> {
    /// The application.
    pub(super) name: String,
    /// Random inputs.
    pub(super) subjects: &'s Subjects,
    /// The reference.
    pub(super) capsule: &'s Ready,
    /// Runs of the kernel in an input.
    pub(super) runs: u64,
    /// Faults in a static instruction or a thread.
    pub(super) faults: u64,
    /// The settings of searches.
    pub(super) rules: Rules,
    /// Seeds of searches that are compared.
    pub(super) repeat: u64,
    pub(super) seed: u64,
    /// The input to protect against, if it is named.
    pub(super) input: Option<Point>,
}

/// The answer of one study.
pub(super) struct Part {
    pub(super) tables: Vec<Table>,
    pub(super) plots: Vec<Plot>,
    pub(super) json: Value,
}

impl Studied<'_> {
    /// The input that is named, or that the genetic search finds.
    pub(super) fn found(&self, bench: &mut Bench<'_, '_>) -> Result<Point, StudyError> {
        if let Some(point) = &self.input {
            return Ok(point.clone());
        }
        let none =
            || StudyError::Nothing("inputs", format!("none of {} inputs could be run", self.rules.budget.inputs));
        let offer = SEARCHERS.iter().find(|offer| offer.name == "druto").ok_or_else(none)?;
        let entry = enter(bench, offer, &self.rules, self.capsule, self.seed)?;
        entry.found.best.ok_or_else(none)
    }
}
