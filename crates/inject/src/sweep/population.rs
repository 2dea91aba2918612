//! Every fault that a selection names, in units: the share of one warp.

use crate::golden::{Golden, GoldenLaunch};
use crate::sample::{Weights, census, count, members};
use campaign::{Spot, Sweep, SweptOperand, TargetError};
use facts::Source;
use fault::{Isa, Selection, Target};
use simt::registers::LANES;
use std::collections::BTreeMap;

/// An operand that is hit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SweepOperand {
    /// Its number among the operands of the sweep.
    pub(crate) number: u32,
    /// Which operand of its instruction it is.
    pub(crate) target: Target,
    /// Its width.
    pub(crate) bits: u32,
}

/// The warp whose faults are a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnitAt {
    pub(crate) launch: u32,
    pub(crate) block: u64,
    pub(crate) warp: u32,
}

/// The faults of a selection.
#[derive(Debug)]
pub(crate) struct Population {
    pub(crate) sweep: Sweep,
    pub(crate) units: Vec<UnitAt>,
    pub(crate) selection: Selection,
    /// The instruction set of each launch.
    isas: Vec<Isa>,
    /// By launch and instruction.
    operands: Vec<Vec<Vec<SweepOperand>>>,
}

impl Population {
    /// Counts the faults of every warp by running the launches again.
    pub(crate) fn of(golden: &Golden, selection: Selection) -> Self {
        let mut population = Self {
            sweep: Sweep { operands: Vec::new(), unit_faults: Vec::new(), members: census(golden, &selection).total() },
            units: Vec::new(),
            isas: golden.launches.iter().map(|launch| launch.isa).collect(),
            operands: golden.launches.iter().map(|_| Vec::new()).collect(),
            selection,
        };
        // Launches of one kernel share its operands.
        let mut known = BTreeMap::new();
        for (launch, number) in golden.launches.iter().zip(0..) {
            if !population.selection.holds_launch(&launch.program.name, launch.number) {
                continue;
            }
            let kernel = (golden.recorded(launch).module.0, launch.program.name.clone());
            let operands = match known.get(&kernel) {
                Some(&known) => Vec::clone(&population.operands[known as usize]),
                None => population.add_operands(launch),
            };
            known.entry(kernel).or_insert(number);
            let faults = operands.iter().map(|operands| operands.iter().map(|operand| operand.bits).sum()).collect();
            population.operands[number as usize] = operands;
            population.add_units(golden, number, Weights(faults));
        }
        population
    }

    /// The instruction set of a launch.
    pub(crate) fn isa(&self, launch: u32) -> Isa {
        self.isas.get(launch as usize).copied().unwrap_or_default()
    }

    fn add_operands(&mut self, launch: &GoldenLaunch) -> Vec<Vec<SweepOperand>> {
        let program = &launch.program;
        let members = members(&self.selection, launch);
        let operands = &mut self.sweep.operands;
        let of = |(instruction, member): (&simt::program::StaticInstruction, bool)| {
            let Some(facts) = instruction.facts.as_ref().filter(|_| member) else { return Vec::new() };
            let elements = self.selection.operands(facts);
            let source = facts.source.as_ref();
            let mut number = |&fault::TargetOperand { target, bits, .. }: &fault::TargetOperand| {
                let spot = Spot {
                    kernel: program.name.clone(),
                    pc: instruction.pc.0,
                    target: target.to_string(),
                    group: facts.group.to_string(),
                    opcode: facts.mnemonic.to_string(),
                    file: source.and_then(Source::file).map(str::to_owned),
                    line: source.map(Source::line),
                };
                operands.push(SweptOperand { spot, elements: elements.len() as u32, bits, weight: 1 });
                SweepOperand { number: operands.len() as u32 - 1, target, bits }
            };
            elements.iter().map(&mut number).collect()
        };
        program.instructions.iter().zip(members).map(of).collect()
    }

    fn add_units(&mut self, golden: &Golden, launch: u32, faults: Weights) {
        let golden_launch = &golden.launches[launch as usize];
        let (threads, blocks) =
            (golden.threads_per_block(golden_launch) as u64, golden.recorded(golden_launch).blocks());
        let counts = count(golden, golden_launch, &self.selection, faults).threads;
        for block in 0..blocks {
            let end = (block + 1) * threads;
            for (first, warp) in (block * threads..end).step_by(LANES).zip(0..) {
                let faults: u64 = counts.view().range(first..end.min(first + LANES as u64)).sum();
                if faults > 0 {
                    self.units.push(UnitAt { launch, block, warp });
                    self.sweep.unit_faults.push(faults);
                }
            }
        }
    }

    /// The warp of a unit.
    pub(crate) fn unit(&self, unit: u64) -> Result<UnitAt, TargetError> {
        let at = usize::try_from(unit).ok().and_then(|unit| self.units.get(unit).copied());
        at.ok_or_else(|| TargetError::new(format!("find unit {unit}: there is none")))
    }

    /// The operands of an instruction of a launch that are hit.
    pub(crate) fn operands(&self, launch: u32, instruction: u32) -> &[SweepOperand] {
        self.operands[launch as usize].get(instruction as usize).map_or(&[], Vec::as_slice)
    }
}
