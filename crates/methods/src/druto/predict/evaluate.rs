//! An instruction computed again, of the registers of a thread with some bits flipped.

use facts::Role;
use isa::{Alu, Width};
use simt::program::{MicroKind, NOWHERE, PredOp, Program};
use simt::registers::{Registers, Slot};

/// A step of an instruction: what it computes, its destination and its sources.
struct Step {
    alu: StepKind,
    to: Option<Slot>,
    from: Vec<Slot>,
}

enum StepKind {
    Alu(Alu),
    Pred(PredOp),
}

/// A pure instruction, in steps.
pub(super) struct Evaluation {
    steps: Vec<Step>,
    /// Its destinations: the register and the mask of their bits.
    destinations: Vec<(Slot, u128)>,
}

impl Evaluation {
    /// Those of the instructions of a program; none where one does more than compute.
    pub(super) fn all(program: &Program) -> Vec<Option<Self>> {
        let mut all: Vec<Option<Self>> = (0..program.instructions.len() as u32)
            .map(|number| {
                let to = |it: &facts::Operand| Some((program.slot(number, it.register)?, mask(it.bits)));
                let destinations = program.facts(number)?.of_role(Role::Destination).map(to).collect::<Option<_>>()?;
                Some(Self { steps: Vec::new(), destinations })
            })
            .collect();
        for micro in &program.micros {
            let at = &mut all[micro.instruction as usize];
            match (step(micro), at.as_mut()) {
                (Some(step), Some(it)) => it.steps.push(step),
                _ => *at = None,
            }
        }
        all
    }

    /// The values that the destinations hold in a lane, and those that the instruction would write.
    pub(super) fn change(&self, registers: &Registers, lane: usize) -> (Vec<u128>, Vec<u128>) {
        let held = self.destinations.iter().map(|(slot, mask)| registers.get(*slot, lane) & mask).collect();
        let written = self.destinations.first().map(|(slot, _)| self.results(registers, lane, (*slot, 0)));
        (held, written.unwrap_or_default())
    }

    /// The values of the destinations in a lane if the register `flipped` had these bits changed.
    pub(super) fn results(&self, registers: &Registers, lane: usize, flipped: (Slot, u128)) -> Vec<u128> {
        let mut changed = vec![(flipped.0, registers.get(flipped.0, lane) ^ flipped.1)];
        let read = |changed: &[(Slot, u128)], slot: Slot| {
            let found = changed.iter().rev().find(|(of, _)| *of == slot);
            found.map_or_else(|| registers.get(slot, lane), |(_, value)| *value)
        };
        for step in &self.steps {
            let from: Vec<u128> = step.from.iter().map(|slot| read(&changed, *slot)).collect();
            let value = match step.alu {
                StepKind::Alu(alu) => alu.eval(&from),
                StepKind::Pred(PredOp::And) => from[0] & from[1],
                StepKind::Pred(PredOp::Or) => from[0] | from[1],
                StepKind::Pred(PredOp::Xor) => from[0] ^ from[1],
                StepKind::Pred(PredOp::Not) => !from[0] & 1,
            };
            changed.extend(step.to.map(|slot| (slot, value)));
        }
        self.destinations.iter().map(|(slot, mask)| read(&changed, *slot) & mask).collect()
    }
}

fn step(micro: &simt::program::Micro) -> Option<Step> {
    let (alu, widths, to) = match micro.kind {
        MicroKind::Alu(number) => {
            let alu = *Alu::ALL.get(usize::from(number))?;
            let widths = alu.sources().iter().map(|ty| ty.width()).collect();
            (StepKind::Alu(alu), widths, alu.destination().width())
        }
        MicroKind::Pred(op) => (StepKind::Pred(op), vec![Width::Pred; 2], Width::Pred),
        _ => return None,
    };
    let from = widths.iter().zip(micro.src).map(|(&width, index)| Slot { width, index }).collect();
    let to = (micro.dst != NOWHERE).then_some(Slot { width: to, index: micro.dst });
    Some(Step { alu, to, from })
}

/// The low bits of a register.
pub(super) fn mask(bits: u32) -> u128 {
    1u128.checked_shl(bits).map_or(u128::MAX, |bit| bit - 1)
}
