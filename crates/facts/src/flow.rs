//! Control flow within a function, and which registers are live.

use crate::instruction::{Control, Facts, Pc, Reg};
use std::borrow::Borrow;
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

/// Where control may go from an instruction within its function: the targets, and whether the next one is one.
fn targets(facts: &Facts) -> (&[Pc], bool) {
    let guarded = facts.guard.is_some();
    match &facts.control {
        Control::Jump(targets) => (targets, guarded),
        Control::Return | Control::End | Control::Trap => (&[], guarded),
        Control::Next | Control::Call => (&[], true),
    }
}

impl Flow {
    /// The graph of a function's instructions.
    #[must_use]
    pub fn of(body: &[impl Borrow<Facts>]) -> Self {
        let end = body.len() as u32;
        let mut leaders: BTreeSet<u32> = (end > 0).then_some(0).into_iter().collect();
        for (pc, facts) in body.iter().enumerate() {
            let facts = facts.borrow();
            leaders.extend(targets(facts).0.iter().map(|target| target.0));
            if facts.control != Control::Next {
                leaders.insert(pc as u32 + 1);
            }
        }
        leaders.retain(|&pc| pc < end);
        let starts: Vec<u32> = leaders.into_iter().collect();
        let block_of = |pc: u32| starts.binary_search(&pc).ok();
        let blocks = starts.iter().enumerate().map(|(index, &start)| {
            let stop = starts.get(index + 1).copied().unwrap_or(end);
            let (targets, falls) = targets(body[stop as usize - 1].borrow());
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
    /// A write under a guard does not end the life of the old value. Registers are written whole.
    #[must_use]
    pub fn live_in(&self, body: &[impl Borrow<Facts>]) -> Vec<BTreeSet<Reg>> {
        let mut live: Vec<BTreeSet<Reg>> = vec![BTreeSet::new(); self.blocks.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for index in (0..self.blocks.len()).rev() {
                let block = &self.blocks[index];
                let mut now = self.live_out(index, &live);
                for pc in (block.start.index()..block.end.index()).rev() {
                    step_back(body[pc].borrow(), &mut now);
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
    pub fn undefined_reads(&self, body: &[impl Borrow<Facts>]) -> BTreeSet<Reg> {
        self.live_in(body).into_iter().next().unwrap_or_default()
    }
}

/// Turns the registers live after an instruction into those live before it.
fn step_back(facts: &Facts, live: &mut BTreeSet<Reg>) {
    if facts.guard.is_none() {
        for register in facts.writes() {
            live.remove(&register);
        }
    }
    live.extend(facts.reads());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::Group;
    use crate::instruction::{Guard, Operand, Role};

    fn facts(control: Control, written: &[u32], read: &[u32], guard: Option<u32>) -> Facts {
        let operands = |role, registers: &[u32]| {
            let of = |(&register, position): (&u32, u8)| Operand {
                role,
                position,
                register: Reg(register),
                bits: 32,
                offset: 0,
                ty: None,
            };
            registers.iter().zip(0..).map(of).collect::<Vec<_>>()
        };
        Facts {
            guard: guard.map(|pred| Guard { pred: Reg(pred), negated: false }),
            operands: [operands(Role::Destination, written), operands(Role::Source, read)].concat(),
            control,
            ..Facts::new("any", Group::Other)
        }
    }

    #[test]
    fn a_loop_is_three_blocks_and_its_variable_is_live_around_it() {
        let body = [
            facts(Control::Next, &[1], &[2, 3], None),
            facts(Control::Next, &[1], &[1, 2], None),
            facts(Control::Jump([Pc(1)].into()), &[], &[], Some(4)),
            facts(Control::Return, &[], &[], None),
        ];
        let flow = Flow::of(&body);
        let next: Vec<_> = flow.blocks.iter().map(|block| block.next.clone()).collect();
        assert_eq!(next, [vec![1], vec![1, 2], vec![]]);
        let live = flow.live_in(&body);
        assert_eq!(live[1], [Reg(1), Reg(2), Reg(4)].into());
        assert_eq!(flow.undefined_reads(&body), [Reg(2), Reg(3), Reg(4)].into());
    }

    #[test]
    fn a_guarded_write_keeps_the_old_value_alive() {
        let body = [
            facts(Control::Next, &[1], &[2, 2], Some(4)),
            facts(Control::Next, &[5], &[1, 1], None),
            facts(Control::End, &[], &[], None),
        ];
        assert!(Flow::of(&body).undefined_reads(&body).contains(&Reg(1)));
    }

    #[test]
    fn an_empty_body_has_no_blocks() {
        let body: [Facts; 0] = [];
        let flow = Flow::of(&body);
        assert!(flow.blocks.is_empty());
        assert!(flow.undefined_reads(&body).is_empty());
    }
}
