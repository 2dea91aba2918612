//! Several selections in one campaign, with as many runs each.

use crate::executions::check;
use crate::golden::Golden;
use crate::plan::{Planned, SamplingFrame};
use crate::sample::by_instruction;
use crate::target::CapsuleTarget;
use campaign::{RunIndex, SelectionWords, Site, TargetError};
use fault::{Narrowing, Selection};

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

/// The words of a selection, and a narrower selection than they say.
#[derive(Clone, Debug, Default)]
pub struct NarrowedWords {
    /// The words.
    pub words: SelectionWords,
    /// The narrower selection.
    pub narrowing: Narrowing,
}

impl From<SelectionWords> for NarrowedWords {
    fn from(words: SelectionWords) -> Self {
        Self { words, narrowing: Narrowing::default() }
    }
}

impl CapsuleTarget {
    /// The populations of several selections, each as of a campaign of its own.
    ///
    /// # Errors
    /// If the words of one of them mean nothing, or no kernel has a register that one asks for.
    pub fn cells(&self, selections: &[NarrowedWords]) -> Result<SelectionCycle, TargetError> {
        let selections: Result<Vec<Selection>, TargetError> = selections.iter().map(|it| self.narrowed(it)).collect();
        Ok(SelectionCycle::of(self.golden_run(), selections?))
    }

    /// How many dynamic instructions a selection draws from, by launch of the golden run and instruction of its program.
    ///
    /// # Errors
    /// If the words mean nothing, or no kernel has a register that is asked for.
    pub fn members_by_instruction(&self, selection: &NarrowedWords) -> Result<Vec<Vec<u64>>, TargetError> {
        Ok(by_instruction(self.golden_run(), &self.narrowed(selection)?))
    }

    fn narrowed(&self, selection: &NarrowedWords) -> Result<Selection, TargetError> {
        let NarrowedWords { words, narrowing } = selection;
        let programs = || self.golden_run().launches().iter().map(|launch| &launch.program);
        for condition in &narrowing.registers {
            check(condition, programs().map(AsRef::as_ref))
                .map_err(|why| TargetError::new(format!("decide `{condition}`: {why}")))?;
        }
        let mut found = self.selection(words)?;
        found.narrowing.clone_from(narrowing);
        Ok(found)
    }
}
