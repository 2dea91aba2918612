//! Several selections in one campaign, with as many runs each.

use crate::golden::Golden;
use crate::plan::{Planned, SamplingFrame};
use crate::target::CapsuleTarget;
use campaign::{RunIndex, SelectionWords, Site, TargetError};
use fault::Selection;

/// The selections that runs of a campaign are drawn from in turn: run i from selection i mod K of the K with members.
#[derive(Debug)]
pub struct SelectionCycle {
    frame: SamplingFrame,
    /// By part of the frame, the number of its selection.
    numbers: Vec<usize>,
}

impl SelectionCycle {
    /// The populations of selections; none for those that select nothing.
    pub(crate) fn of(golden: &Golden, selections: Vec<Selection>) -> Self {
        let (frame, numbers) = SamplingFrame::of_each(golden, selections);
        Self { frame, numbers }
    }

    /// The selections that have members, by their numbers: in this order runs take turns.
    #[must_use]
    pub fn numbers(&self) -> &[usize] {
        &self.numbers
    }

    /// The selection that a run is drawn from, by its number; none if there is nothing to draw from.
    #[must_use]
    pub fn of_run(&self, run: RunIndex) -> Option<usize> {
        let at = run.0.checked_rem(self.numbers.len() as u64)?;
        self.numbers.get(at as usize).copied()
    }

    /// The sites of runs, in their order.
    ///
    /// # Errors
    /// If the capsule is not the one that the cells are of.
    pub fn plan(&self, capsule: &CapsuleTarget, runs: &[RunIndex], seed: u64) -> Result<Vec<Site>, TargetError> {
        let planned = self.frame.draw(capsule.golden_run(), runs, seed)?;
        planned.into_iter().map(|planned: Planned| capsule.site_planned(&planned)).collect()
    }
}

impl CapsuleTarget {
    /// The populations of several selections, each as of a campaign of its own.
    ///
    /// # Errors
    /// If the words of one of them mean nothing.
    pub fn cells(&self, words: &[SelectionWords]) -> Result<SelectionCycle, TargetError> {
        let selections: Result<Vec<Selection>, TargetError> = words.iter().map(|words| self.selection(words)).collect();
        Ok(SelectionCycle::of(self.golden_run(), selections?))
    }
}
