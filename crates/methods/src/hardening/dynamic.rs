//! The instructions that a hardened capsule executes, by where instructions come from (Figure 4.6).

use inject::{Golden, profile};
use serde::Serialize;

/// The instructions that all threads execute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DynamicCounts {
    /// Originals that have a duplicate.
    pub covered: u64,
    /// Originals that have none, and those of functions that are not protected.
    pub uncovered: u64,
    /// Duplicates.
    pub duplicate: u64,
    /// Copies into the shadow registers.
    pub copy: u64,
    /// Comparisons, tests of the signature, and notifications.
    pub verification: u64,
    /// Those at the entry of functions.
    pub entry: u64,
}

impl DynamicCounts {
    /// Those of a golden run.
    #[must_use]
    pub fn of(golden: &Golden) -> Self {
        let mut counts = Self::default();
        for launch in profile(golden) {
            for (instruction, count) in launch.launch.program.instructions.iter().zip(&launch.instructions) {
                let sets = instruction.facts.as_ref().map(|facts| facts.protection).unwrap_or_default();
                *match sets.names().last() {
                    Some("protection:covered") => &mut counts.covered,
                    Some("protection:duplicate") => &mut counts.duplicate,
                    Some("protection:copy") => &mut counts.copy,
                    Some("protection:check" | "protection:notify") => &mut counts.verification,
                    Some("protection:entry") => &mut counts.entry,
                    _ => &mut counts.uncovered,
                } += count.executed;
            }
        }
        counts
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.original() + self.duplicate + self.copy + self.verification + self.entry
    }

    /// Those that were there before.
    #[must_use]
    pub fn original(&self) -> u64 {
        self.covered + self.uncovered
    }
}
