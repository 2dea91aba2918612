//! What an input executes, relative to the reference input.

use inject::{Golden, profile};
use std::collections::BTreeSet;

/// The static instructions that at least one thread executes: a kernel, and an index into the instructions of its program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Executed(BTreeSet<(String, u32)>);

impl Executed {
    /// Those of a golden run.
    pub(super) fn of(golden: &Golden) -> Self {
        let mut executed = BTreeSet::new();
        for launch in profile(golden) {
            let counted = (0..).zip(&launch.instructions).filter(|(_, count)| count.executed > 0);
            executed.extend(counted.map(|(number, _)| (launch.launch.program.name.clone(), number)));
        }
        Self(executed)
    }

    /// The share of the reference's instructions that are among these (thesis, Section 3.3.1: PC coverage).
    pub(super) fn coverage(&self, reference: &Self) -> f64 {
        let covered = reference.0.iter().filter(|pc| self.0.contains(*pc)).count();
        covered as f64 / reference.0.len().max(1) as f64
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
