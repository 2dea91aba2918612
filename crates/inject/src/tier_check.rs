//! Equality of the tiers, fault by fault: what they observe, and what they leave in memory.

use crate::final_memory::FinalMemory;
use crate::run::InjectError;
use crate::runner::Runner;
use crate::strategy::Strategy;
use crate::target::CapsuleTarget;
use fault::Fault;

/// Runs faults by full re-execution and by the faster tiers.
#[derive(Debug)]
pub struct TierCheck<'g> {
    full: Runner<'g>,
    faster: [(Strategy, Runner<'g>); 2],
}

impl<'g> TierCheck<'g> {
    /// A check with runners of its own.
    #[must_use]
    pub fn new(target: &'g CapsuleTarget) -> Self {
        let faster = [Strategy::Delta, Strategy::Lanes].map(|strategy| (strategy, target.runner(strategy)));
        Self { full: target.runner(Strategy::Full), faster }
    }

    /// In what a faster tier disagrees with full re-execution on a fault, if one does.
    ///
    /// # Errors
    /// If the fault names a place that does not exist, or the capsule cannot be replayed.
    pub fn disagreement(&mut self, fault: &Fault) -> Result<Option<String>, InjectError> {
        let (expected, memory) = self.full.run_to_memory(fault)?;
        let expected = expected.seen();
        for (strategy, runner) in &mut self.faster {
            let (found, found_memory) = runner.run_to_memory(fault)?;
            let found = found.seen();
            if expected != found {
                return Ok(Some(format!("full re-execution observes {expected:?}, {strategy} {found:?}")));
            }
            if memory != found_memory {
                let bytes = |memory: &Option<FinalMemory>| memory.as_ref().map_or(0, FinalMemory::bytes);
                let (full, other) = (bytes(&memory), bytes(&found_memory));
                return Ok(Some(format!(
                    "other final memory: {full} bytes are not the golden run's, {other} for {strategy}"
                )));
            }
        }
        Ok(None)
    }
}
