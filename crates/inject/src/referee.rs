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
    faster: [(Engine, Runner<'g>); 2],
}

impl<'g> Referee<'g> {
    /// A referee with runners of its own.
    ///
    /// # Errors
    /// If a tier cannot be had.
    pub fn new(target: &'g CapsuleTarget) -> Result<Self, TargetError> {
        let runner = |engine| Ok((engine, target.runner(engine)?));
        Ok(Self { full: target.runner(Engine::Full)?, faster: [runner(Engine::Delta)?, runner(Engine::Lanes)?] })
    }

    /// In what a faster tier disagrees with full re-execution on a fault, if one does.
    ///
    /// # Errors
    /// If the fault names a place that does not exist, or the capsule cannot be replayed.
    pub fn judge(&mut self, fault: &Fault) -> Result<Option<String>, RunError> {
        let (expected, memory) = self.full.run_to_memory(fault)?;
        let expected = expected.seen();
        for (engine, runner) in &mut self.faster {
            let (found, found_memory) = runner.run_to_memory(fault)?;
            let found = found.seen();
            if expected != found {
                return Ok(Some(format!("full re-execution observes {expected:?}, {engine} {found:?}")));
            }
            if memory != found_memory {
                let bytes = |memory: &Option<FinalMemory>| memory.as_ref().map_or(0, FinalMemory::bytes);
                let (full, other) = (bytes(&memory), bytes(&found_memory));
                return Ok(Some(format!(
                    "other final memory: {full} bytes are not the golden run's, {other} for {engine}"
                )));
            }
        }
        Ok(None)
    }
}
