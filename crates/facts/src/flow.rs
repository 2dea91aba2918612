//! Control flow within a function.

use crate::instruction::{Control, Facts, Pc};
use std::borrow::Borrow;
use std::collections::BTreeSet;

/// A maximal run of instructions that is entered only at its first and left only after its last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BasicBlock {
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
    pub blocks: Vec<BasicBlock>,
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
            BasicBlock { start: Pc(start), end: Pc(stop), next }
        });
        Self { blocks: blocks.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::Group;
    use crate::instruction::{Guard, Reg};

    fn facts(control: Control, guard: Option<u32>) -> Facts {
        let guard = guard.map(|pred| Guard { pred: Reg(pred), negated: false });
        Facts { guard, control, ..Facts::new("any", Group::Other) }
    }

    #[test]
    fn a_loop_is_three_blocks() {
        let body = [
            facts(Control::Next, None),
            facts(Control::Next, None),
            facts(Control::Jump([Pc(1)].into()), Some(4)),
            facts(Control::Return, None),
        ];
        let next: Vec<_> = Flow::of(&body).blocks.into_iter().map(|block| block.next).collect();
        assert_eq!(next, [vec![1], vec![1, 2], vec![]]);
    }

    #[test]
    fn an_empty_body_has_no_blocks() {
        assert!(Flow::of(&[] as &[Facts]).blocks.is_empty());
    }
}
