//! The instructions that a hardened capsule executes, by where instructions come from (Figure 4.6).

use capsule::InstructionOrigin;
use inject::{Golden, profile};
use serde::Serialize;
use std::collections::BTreeSet;

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
            let module = &golden.capsule().modules[golden.recorded(launch.launch).module.0 as usize];
            let mut doubled = BTreeSet::new();
            for function in &module.hardened {
                let duplicate = |origin: &InstructionOrigin| match origin {
                    InstructionOrigin::Duplicate(pc) => Some((function.function, *pc)),
                    _ => None,
                };
                doubled.extend(function.origins.iter().filter_map(duplicate));
            }
            for (instruction, count) in launch.launch.program.instructions.iter().zip(&launch.instructions) {
                let function = instruction.function.0;
                *match module.origin(function, instruction.pc.0) {
                    Some(InstructionOrigin::Original(pc)) if doubled.contains(&(function, pc)) => &mut counts.covered,
                    Some(InstructionOrigin::Original(_)) | None => &mut counts.uncovered,
                    Some(InstructionOrigin::Duplicate(_)) => &mut counts.duplicate,
                    Some(InstructionOrigin::Copy(_)) => &mut counts.copy,
                    Some(InstructionOrigin::Check(_) | InstructionOrigin::Notify) => &mut counts.verification,
                    Some(InstructionOrigin::Entry) => &mut counts.entry,
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
