//! The static instructions of a capsule: how often each is executed, and whether protection can execute it twice.

use crate::hardening::loads::{RacingKernels, reasons};
use crate::hardening::reading::{HardenError, modules};
use capsule::Capsule;
use facts::{Facts, Pc};
use inject::{Golden, profile};
use isa::FunctionId;
use rewrite::executed_twice;
use std::collections::{BTreeMap, BTreeSet};

/// Where a static instruction of a capsule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodePlace {
    /// The module, an index into those of the capsule.
    pub module: usize,
    /// The function of the module.
    pub function: FunctionId,
    /// The number of the instruction in the function.
    pub pc: Pc,
}

/// A static instruction of kernels that are launched.
#[derive(Clone, Debug)]
pub struct ExecutedInstruction {
    /// The kernels that it is a part of, by their names.
    pub kernels: BTreeSet<String>,
    /// The kernel whose own body it is in; none in a function that kernels call.
    pub body_of: Option<String>,
    /// Its facts.
    pub facts: Facts,
    /// How many threads executed it, over all launches.
    pub executed: u64,
    /// Whether protection can execute it twice.
    pub twice: bool,
}

/// The static instructions of all kernels that a capsule launches.
#[derive(Clone, Debug, Default)]
pub struct ExecutedCode {
    /// By their places.
    pub instructions: BTreeMap<CodePlace, ExecutedInstruction>,
}

impl ExecutedCode {
    /// Counts those of a golden run. `loads` says whether loads from memory that other threads write can be executed twice.
    ///
    /// # Errors
    /// If the PTX of its capsule cannot be read.
    pub fn of(golden: &Golden, loads: bool) -> Result<Self, HardenError> {
        let racing = loads.then(|| RacingKernels::of(golden));
        let twice = doubled(golden.capsule(), racing.as_ref())?;
        let mut code = Self::default();
        for launch in profile(golden) {
            let program = &launch.launch.program;
            let module = golden.recorded(launch.launch).module.0 as usize;
            let own = program.functions.first().map(|function| function.id);
            for (instruction, count) in program.instructions.iter().zip(&launch.instructions) {
                let Some(facts) = &instruction.facts else { continue };
                let place = CodePlace { module, function: FunctionId(instruction.function.0), pc: instruction.pc };
                let of = code.instructions.entry(place).or_insert_with(|| ExecutedInstruction {
                    kernels: BTreeSet::new(),
                    body_of: (own == Some(instruction.function)).then(|| program.name.clone()),
                    facts: facts.clone(),
                    executed: 0,
                    twice: twice.contains(&place),
                });
                of.kernels.insert(program.name.clone());
                of.executed += count.executed;
            }
        }
        Ok(code)
    }

    /// How many instructions all threads executed.
    #[must_use]
    pub fn executed(&self) -> u64 {
        self.instructions.values().map(|instruction| instruction.executed).sum()
    }
}

/// The instructions that protection can execute twice.
fn doubled(capsule: &Capsule, racing: Option<&RacingKernels>) -> Result<BTreeSet<CodePlace>, HardenError> {
    let mut doubled = BTreeSet::new();
    for (module, reading) in modules(capsule) {
        let read = reading?.module;
        let single = racing.map(|racing| reasons(&read, racing));
        for (function, id) in read.functions.iter().zip((0..).map(FunctionId)) {
            let loads = single.as_ref().is_some_and(|single| single.get(id.0 as usize) == Some(&None));
            let numbered = executed_twice(function, loads).into_iter().zip((0..).map(Pc));
            let places = numbered.filter(|(twice, _)| *twice);
            doubled.extend(places.map(|(_, pc)| CodePlace { module, function: id, pc }));
        }
    }
    Ok(doubled)
}
