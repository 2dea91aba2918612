//! Sums of floating-point numbers whose order a GPU chooses: their last bits are one of several answers.

use crate::golden::{Golden, GoldenLaunch};
use facts::{Effect, Facts};
use simt::Program;
use std::collections::BTreeMap;

/// Threads of a warp, whose atomic accesses are done in ascending order of lanes.
const WARP: u64 = 32;

impl Golden {
    /// For each kernel that updates floating-point numbers in memory atomically, and that more than one warp executes, a
    /// sentence that says so.
    #[must_use]
    pub fn float_sums(&self) -> Vec<String> {
        let by_warps = |launch: &&GoldenLaunch| {
            let recorded = self.recorded(launch);
            recorded.blocks() > 1 || recorded.threads_per_block() > WARP
        };
        let kernels: BTreeMap<&str, &Program> = self
            .launches
            .iter()
            .filter(by_warps)
            .map(|launch| (launch.program.name.as_str(), &*launch.program))
            .collect();
        kernels.into_iter().filter_map(|(name, program)| sentence(name, program)).collect()
    }
}

fn sentence(name: &str, program: &Program) -> Option<String> {
    program.instructions.iter().filter_map(|it| it.facts.as_ref()).find(|facts| is_float_update(facts))?;
    Some(format!(
        "kernel {name} updates floating-point numbers atomically: a GPU takes warps in another order from run to run, so that last \
         bits of what comes out are one of several answers; a tolerance for such an output keeps them from counting as corruptions"
    ))
}

fn is_float_update(facts: &Facts) -> bool {
    facts.access.is_some_and(|access| access.effect == Effect::Update && access.element.is_float())
}
