//! Equality of the tiers, fault by fault: what they observe, and what they leave in memory.

use crate::run::RunError;
use crate::target::{CapsuleTarget, Runner};
use campaign::config::Engine;
use campaign::{Observation, TargetError};
use fault::Fault;

/// Runs faults by full re-execution and by the faster tiers.
#[derive(Debug)]
pub struct Referee<'g> {
    full: Runner<'g>,
    delta: Runner<'g>,
}

impl<'g> Referee<'g> {
    /// A referee with runners of its own.
    ///
    /// # Errors
    /// If a tier cannot be had.
    pub fn new(target: &'g CapsuleTarget) -> Result<Self, TargetError> {
        Ok(Self { full: target.runner(Engine::Full)?, delta: target.runner(Engine::Delta)? })
    }

    /// What full re-execution observes of a fault, and in what a faster tier disagrees, if one does.
    ///
    /// # Errors
    /// If the fault names a place that does not exist, or the capsule cannot be replayed.
    pub fn judge(&mut self, fault: &Fault) -> Result<(Observation, Option<String>), RunError> {
        let (expected, memory) = self.full.run_to_memory(fault)?;
        let (found, found_memory) = self.delta.run_to_memory(fault)?;
        let said = if expected.clone().seen() != found.clone().seen() {
            Some(format!("full re-execution observes {expected:?}, delta {found:?}"))
        } else if memory != found_memory {
            let bytes = |memory: Option<crate::FinalMemory>| memory.map_or(0, |memory| memory.bytes());
            let (full, delta) = (bytes(memory), bytes(found_memory));
            Some(format!("the final memory differs from the golden run's in {full} bytes, for delta in {delta} others"))
        } else {
            None
        };
        Ok((expected, said))
    }
}
