//! Equality of the tiers, fault by fault: what they observe, and what they leave in memory.

use crate::final_memory::FinalMemory;
use crate::run::RunError;
use crate::target::{CapsuleTarget, Runner};
use campaign::TargetError;
use campaign::config::Engine;
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

    /// In what a faster tier disagrees with full re-execution on a fault, if one does.
    ///
    /// # Errors
    /// If the fault names a place that does not exist, or the capsule cannot be replayed.
    pub fn judge(&mut self, fault: &Fault) -> Result<Option<String>, RunError> {
        let (expected, memory) = self.full.run_to_memory(fault)?;
        let (found, found_memory) = self.delta.run_to_memory(fault)?;
        let (expected, found) = (expected.seen(), found.seen());
        if expected != found {
            return Ok(Some(format!("full re-execution observes {expected:?}, delta {found:?}")));
        }
        if memory != found_memory {
            let bytes = |memory: Option<FinalMemory>| memory.map_or(0, |memory| memory.bytes());
            let (full, delta) = (bytes(memory), bytes(found_memory));
            return Ok(Some(format!("other final memory: {full} bytes are not the golden run's, {delta} for delta")));
        }
        Ok(None)
    }
}
