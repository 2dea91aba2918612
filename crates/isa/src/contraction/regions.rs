//! Stretches of code that are entered at their first instruction only and left after their last only.
//!
//! They are the assembler's basic blocks: a jump to a place that nothing else leads to does not end one, and an instruction
//! that the assembler makes branches of does, though it is none.

use super::part::parts_code;
use crate::module::{Function, Instruction};
use crate::op::Op;
use facts::Pc;
use std::collections::{BTreeMap, BTreeSet};

/// Instructions in the order in which they are executed, and where control may go from the last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) instructions: Vec<Pc>,
    /// Regions, by number.
    pub(super) next: Vec<usize>,
}

/// The regions of a function that control can reach.
pub(super) fn of(function: &Function) -> Vec<Region> {
    let body = &function.body;
    let from = predecessors(body);
    let goes_on = |pc: Pc| {
        let next = successors(body, pc);
        let only = next.first().copied().filter(|_| next.len() == 1 && !parts_code(&body[pc.index()]));
        only.filter(|next| from.get(next).is_some_and(|from| from.len() == 1) && *next != Pc(0))
    };
    let continued: BTreeSet<Pc> = from.keys().filter_map(|&pc| goes_on(pc)).collect();
    let starts: Vec<Pc> = from.keys().copied().filter(|pc| !continued.contains(pc)).collect();
    let number = |pc: &Pc| starts.binary_search(pc).ok();
    let region = |&start: &Pc| {
        let instructions: Vec<Pc> = std::iter::successors(Some(start), |&pc| goes_on(pc)).collect();
        let last = instructions[instructions.len() - 1];
        Region { instructions, next: successors(body, last).iter().filter_map(number).collect() }
    };
    starts.iter().map(region).collect()
}

/// The instructions that control can reach, and from where.
fn predecessors(body: &[Instruction]) -> BTreeMap<Pc, BTreeSet<Pc>> {
    let mut found: BTreeMap<Pc, BTreeSet<Pc>> = BTreeMap::new();
    let mut ahead: Vec<Pc> = (!body.is_empty()).then_some(Pc(0)).into_iter().collect();
    found.extend(ahead.iter().map(|&entry| (entry, BTreeSet::new())));
    while let Some(pc) = ahead.pop() {
        for next in successors(body, pc).into_iter().filter(|next| next.index() < body.len()) {
            let from = found.entry(next).or_insert_with(|| {
                ahead.push(next);
                BTreeSet::new()
            });
            from.insert(pc);
        }
    }
    found
}

/// Where control may go from an instruction, each place once. The place behind the last instruction stands for the end.
fn successors(body: &[Instruction], pc: Pc) -> Vec<Pc> {
    let instruction = &body[pc.index()];
    let (end, next) = (Pc(body.len() as u32), Pc(pc.0 + 1));
    let mut found = match &instruction.op {
        Op::Bra { target, .. } => vec![*target],
        Op::BrxIdx { targets, .. } => targets.clone(),
        Op::Ret { .. } | Op::Exit | Op::Trap => vec![end],
        _ => vec![next],
    };
    if instruction.guard.is_some() {
        found.push(next);
    }
    found.sort_unstable();
    found.dedup();
    found
}
