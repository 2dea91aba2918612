//! Which instructions make something that matters: the assembler drops the others before it joins anything.

use super::regions::Region;
use crate::module::{Function, Instruction};
use crate::op::Op;
use facts::{Pc, Reg};
use std::collections::BTreeSet;

/// What matters in a function.
#[derive(Debug, Default)]
pub(super) struct Needed {
    pub(super) instructions: BTreeSet<Pc>,
    /// By region, the registers whose value matters behind it.
    pub(super) after: Vec<BTreeSet<Reg>>,
}

/// Follows values back from where they have an effect.
pub(super) fn of(function: &Function, regions: &[Region]) -> Needed {
    let mut before: Vec<BTreeSet<Reg>> = vec![BTreeSet::new(); regions.len()];
    loop {
        let mut found = Needed::default();
        let mut changed = false;
        for (number, region) in regions.iter().enumerate().rev() {
            let mut alive: BTreeSet<Reg> = region.next.iter().flat_map(|&next| before[next].iter().copied()).collect();
            found.after.push(alive.clone());
            for &pc in region.instructions.iter().rev() {
                if step_back(&function.body[pc.index()], &mut alive) {
                    found.instructions.insert(pc);
                }
            }
            if before[number] != alive {
                before[number] = alive;
                changed = true;
            }
        }
        if !changed {
            found.after.reverse();
            return found;
        }
    }
}

/// From the registers that matter behind an instruction to those that matter before it; whether it does itself.
fn step_back(instruction: &Instruction, alive: &mut BTreeSet<Reg>) -> bool {
    let mut writes = instruction.writes().map(|(_, register)| register);
    if !has_effect(&instruction.op) && !writes.any(|register| alive.contains(&register)) {
        return false;
    }
    if instruction.guard.is_none() {
        for (_, register) in instruction.writes() {
            alive.remove(&register);
        }
    }
    alive.extend(instruction.reads());
    true
}

/// Whether an operation does more than to write its destinations.
fn has_effect(op: &Op) -> bool {
    let pure = matches!(
        op,
        Op::Alu(_)
            | Op::Setp(_)
            | Op::Set(..)
            | Op::Lop3(_)
            | Op::MovVector(_)
            | Op::Ld(_)
            | Op::Cvta { .. }
            | Op::Isspacep(_)
    );
    !pure
}
