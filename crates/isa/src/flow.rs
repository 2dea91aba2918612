//! Control flow within a function, and which registers are live.

use crate::module::{Function, Instruction, Operand, Pc, Reg};
use crate::op::Op;
use std::collections::BTreeSet;

/// A maximal run of instructions that is entered only at its first and left only after its last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// First instruction.
    pub start: Pc,
    /// One past the last.
    pub end: Pc,
    /// Blocks that may come next, by index.
    pub next: Vec<usize>,
}

/// The control-flow graph of a function. Block 0 is the entry.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// Blocks in the order of their instructions.
    pub blocks: Vec<Block>,
}

/// Where control may go from an instruction: the targets, and whether the next instruction is one.
fn targets(instruction: &Instruction) -> (Vec<Pc>, bool) {
    let guarded = instruction.guard.is_some();
    match &instruction.op {
        Op::Bra { target, .. } => (vec![*target], guarded),
        Op::BrxIdx { targets, .. } => (targets.clone(), guarded),
        Op::Ret { .. } | Op::Exit | Op::Trap => (Vec::new(), guarded),
        _ => (Vec::new(), true),
    }
}

impl Flow {
    /// The graph of a function's body.
    #[must_use]
    pub fn of(function: &Function) -> Self {
        let end = function.body.len() as u32;
        let mut leaders: BTreeSet<u32> = (end > 0).then_some(0).into_iter().collect();
        for (pc, instruction) in function.body.iter().enumerate() {
            let (targets, _) = targets(instruction);
            leaders.extend(targets.iter().map(|target| target.0));
            if instruction.op.ends_block() {
                leaders.insert(pc as u32 + 1);
            }
        }
        leaders.retain(|&pc| pc < end);
        let starts: Vec<u32> = leaders.into_iter().collect();
        let block_of = |pc: u32| starts.binary_search(&pc).ok();
        let blocks = starts.iter().enumerate().map(|(index, &start)| {
            let stop = starts.get(index + 1).copied().unwrap_or(end);
            let (targets, falls) = targets(&function.body[stop as usize - 1]);
            let mut next: Vec<usize> = targets.iter().filter_map(|target| block_of(target.0)).collect();
            if falls && stop < end {
                next.push(index + 1);
            }
            next.sort_unstable();
            next.dedup();
            Block { start: Pc(start), end: Pc(stop), next }
        });
        Self { blocks: blocks.collect() }
    }

    /// Registers live at the start of every block, each set sorted.
    ///
    /// A write under a guard does not end the life of the old value. A write into part of a register does not
    /// exist in PTX.
    #[must_use]
    pub fn live_in(&self, function: &Function) -> Vec<BTreeSet<Reg>> {
        let mut live: Vec<BTreeSet<Reg>> = vec![BTreeSet::new(); self.blocks.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for index in (0..self.blocks.len()).rev() {
                let block = &self.blocks[index];
                let mut now = self.live_out(index, &live);
                for pc in (block.start.0..block.end.0).rev() {
                    step_back(&function.body[pc as usize], &mut now);
                }
                if now != live[index] {
                    live[index] = now;
                    changed = true;
                }
            }
        }
        live
    }

    fn live_out(&self, block: usize, live: &[BTreeSet<Reg>]) -> BTreeSet<Reg> {
        self.blocks[block].next.iter().flat_map(|&next| live[next].iter().copied()).collect()
    }

    /// Registers that may be read before they are written: live at the entry.
    #[must_use]
    pub fn undefined_reads(&self, function: &Function) -> BTreeSet<Reg> {
        self.live_in(function).into_iter().next().unwrap_or_default()
    }
}

/// Turns the registers live after an instruction into those live before it.
fn step_back(instruction: &Instruction, live: &mut BTreeSet<Reg>) {
    if instruction.guard.is_none() {
        for (_, reg) in instruction.writes() {
            live.remove(&reg);
        }
    }
    live.extend(instruction.reads());
    // A call reads the register with the address, which is among the sources as well.
    debug_assert!(instruction.src.iter().filter_map(Operand::register).all(|reg| live.contains(&reg)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alu::Form;
    use crate::module::{Dst, Guard, Register};
    use crate::types::Type;

    fn instruction(op: Op, dst: &[u32], src: &[u32], guard: Option<u32>) -> Instruction {
        Instruction {
            guard: guard.map(|pred| Guard { pred: Reg(pred), negated: false }),
            op,
            dst: dst.iter().map(|&reg| Dst::Reg(Reg(reg))).collect(),
            src: src.iter().map(|&reg| Operand::Reg(Reg(reg))).collect(),
            loc: None,
        }
    }

    fn function(body: Vec<Instruction>) -> Function {
        let register = |i: u32| Register { name: format!("%r{i}"), ty: Type::B32 };
        Function { body, registers: (0..8).map(register).collect(), ..Function::default() }
    }

    fn add() -> Op {
        Op::Alu(Form::from_spelling("add.s32").unwrap())
    }

    fn bra(target: u32) -> Op {
        Op::Bra { target: Pc(target), uni: false }
    }

    #[test]
    fn a_loop_is_three_blocks_and_its_variable_is_live_around_it() {
        let f = function(vec![
            instruction(add(), &[1], &[2, 3], None),
            instruction(add(), &[1], &[1, 2], None),
            instruction(bra(1), &[], &[], Some(4)),
            instruction(Op::Ret { uni: false }, &[], &[], None),
        ]);
        let flow = Flow::of(&f);
        let next: Vec<_> = flow.blocks.iter().map(|block| block.next.clone()).collect();
        assert_eq!(next, [vec![1], vec![1, 2], vec![]]);
        let live = flow.live_in(&f);
        assert_eq!(live[1], [Reg(1), Reg(2), Reg(4)].into());
        assert_eq!(flow.undefined_reads(&f), [Reg(2), Reg(3), Reg(4)].into());
    }

    #[test]
    fn a_guarded_write_keeps_the_old_value_alive() {
        let f = function(vec![
            instruction(add(), &[1], &[2, 2], Some(4)),
            instruction(add(), &[5], &[1, 1], None),
            instruction(Op::Exit, &[], &[], None),
        ]);
        assert!(Flow::of(&f).undefined_reads(&f).contains(&Reg(1)));
    }

    #[test]
    fn an_empty_body_has_no_blocks() {
        let flow = Flow::of(&function(vec![]));
        assert!(flow.blocks.is_empty());
        assert!(flow.undefined_reads(&function(vec![])).is_empty());
    }
}
