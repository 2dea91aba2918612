//! Load duplication: which functions execute their loads twice, and which do not, and why.
//!
//! Loads stay single where threads share memory while they run: by an atomic or what else [`sharing`] finds in the code, or
//! because the golden run of the original has a data race in a kernel. A value that another thread changes between the two loads
//! would be noticed as a fault that there is not.

use inject::Golden;
use isa::{FunctionId, Module};
use rewrite::{connect, is_shared_load, sharing};
use serde::Serialize;
use std::collections::BTreeMap;

/// The kernels whose golden run has a data race, by name, each with the race.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RacingKernels(BTreeMap<String, String>);

impl RacingKernels {
    /// Those of a golden run.
    #[must_use]
    pub fn of(golden: &Golden) -> Self {
        let named = golden.races().iter().map(|race| (race.kernel.clone(), race.to_string()));
        // The first race of a kernel stands for all.
        Self(named.rev().collect())
    }
}

/// The loads from memory that other threads write, of functions that are protected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LoadCoverage {
    /// How many static ones are executed twice.
    pub twice: u64,
    /// How many are executed once.
    pub once: u64,
    /// The functions whose loads are executed once, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub single: Vec<SingleLoads>,
}

/// A function whose loads are executed once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SingleLoads {
    /// Its name.
    pub name: String,
    /// How many static loads it has.
    pub loads: u64,
    /// Why.
    pub reason: String,
}

/// By function of a module, why its loads are executed once; none where they are executed twice.
pub(super) fn reasons(module: &Module, racing: &RacingKernels) -> Vec<Option<String>> {
    let race = |function: &isa::Function| racing.0.get(&function.name).map(|race| format!("data race of {race}"));
    let mut races: Vec<Option<String>> = module.functions.iter().map(race).collect();
    connect(module, &mut races);
    let shared = sharing(module).into_iter().map(|instruction| {
        instruction.map(|instruction| format!("threads share memory while it runs, by {instruction}"))
    });
    shared.zip(races).map(|(shared, race)| shared.or(race)).collect()
}

impl LoadCoverage {
    /// Adds the chosen loads of a protected function.
    pub(super) fn add(
        &mut self,
        module: &Module,
        id: FunctionId,
        reason: Option<&String>,
        chosen: &dyn Fn(facts::Pc) -> bool,
    ) {
        let Some(function) = module.functions.get(id.0 as usize) else { return };
        let numbered = function.body.iter().zip((0..).map(facts::Pc));
        let loads = numbered.filter(|(instruction, pc)| is_shared_load(instruction) && chosen(*pc)).count() as u64;
        match reason {
            None => self.twice += loads,
            Some(_) if loads == 0 => {}
            Some(reason) => {
                self.once += loads;
                self.single.push(SingleLoads { name: function.name.clone(), loads, reason: reason.clone() });
            }
        }
    }
}
