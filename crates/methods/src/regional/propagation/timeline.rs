//! One fault, launch by launch, with the bytes of every variable that it corrupts.

use campaign::TargetError;
use fault::Fault;
use inject::{Array, CapsuleTarget, Change, Corruption, Keep, Strategy, Tracker};
use outcome::{Outcome, classify};

use crate::kit::StudyError;

/// A variable that differs after a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The launch, and the place of the variable, and what its bytes are.
    pub change: Change,
    /// How bad that is.
    pub corruption: Corruption,
}

/// The effects of one fault, launch by launch.
pub struct FaultTimeline<'c> {
    tracker: Tracker<'c>,
    /// The fault.
    pub fault: Fault,
    /// What came of it.
    pub outcome: Outcome,
    /// What differed, in the order of launches.
    pub steps: Vec<Step>,
}

impl<'c> FaultTimeline<'c> {
    /// Runs a fault.
    ///
    /// # Errors
    /// If it names no place.
    pub fn of(capsule: &'c CapsuleTarget, arrays: &[Array], fault: &Fault) -> Result<Self, StudyError> {
        let mut tracker = capsule.tracker(Strategy::Auto, arrays);
        let tracked = tracker.run(fault, Keep::Every).map_err(|error| TargetError::from_error(&error))?;
        let outcome = classify(&tracked.observation, &capsule.criteria());
        let step = |change: Change| Step { corruption: tracker.corruption(&change), change };
        let steps = tracked.changes.into_iter().map(step).collect();
        Ok(Self { tracker, fault: fault.clone(), outcome, steps })
    }

    /// The arrays, by their places.
    #[must_use]
    pub fn arrays(&self) -> &[Array] {
        self.tracker.arrays()
    }

    /// The values of an array after a launch, in the golden run and in this one.
    #[must_use]
    pub fn values(&self, launch: u32, array: usize) -> (Vec<f64>, Vec<f64>) {
        let golden = self.tracker.golden(launch, array);
        let mut found = golden.clone();
        let of = |step: &&Step| step.change.launch == launch && step.change.array == array;
        for (offset, bytes) in self.steps.iter().filter(of).flat_map(|step| &step.change.runs) {
            let from = *offset as usize;
            found[from..from + bytes.len()].copy_from_slice(bytes);
        }
        let array = &self.arrays()[array];
        (array.values(&golden), array.values(&found))
    }
}
