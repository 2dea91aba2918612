//! Which values of a program go only to stores of the basic block that makes them (thesis, Section 2.2).

use facts::{Control, Effect, Facts, Flow, Reg, RegSet, Role};
use inject::threads::StoreLists;
use simt::Program;
use std::collections::{BTreeMap, BTreeSet};

use super::operand::SiteOperand;

/// Instructions of a block that are looked at, at most: unrolled loops can be long.
const LONGEST: usize = 4_096;

/// The stores that values go to, and nothing else: how many instructions behind each they are, ascending.
pub(super) struct Feeds {
    /// By instruction, those that its results go to.
    results: Vec<Option<Vec<u32>>>,
    /// By instruction and register that it reads, those that the register goes to from there on.
    uses: BTreeMap<(u32, u32), Vec<u32>>,
}

impl Feeds {
    /// Those of a program.
    pub(super) fn of(program: &Program) -> Self {
        let mut all = Self { results: vec![None; program.instructions.len()], uses: BTreeMap::new() };
        let listed = StoreLists::listed(program);
        for code in &program.functions {
            let body: Vec<&Facts> = program.body(code.id);
            let numbers: Vec<usize> = (0..program.instructions.len())
                .filter(|&number| program.instructions[number].function == code.id)
                .filter(|&number| program.instructions[number].facts.is_some())
                .collect();
            if numbers.len() != body.len() {
                continue;
            }
            let (flow, registers) = (Flow::of(&body), code.declared.len());
            let live_in = flow.live_in(&body, registers);
            for (index, block) in flow.blocks.iter().enumerate() {
                if block.end.index() - block.start.index() > LONGEST {
                    continue;
                }
                let live_out = flow.live_out(index, &live_in, registers);
                let fed = |reached: BTreeSet<u32>, pc: usize, behind| {
                    stores_fed(&body, (reached, pc), behind, &live_out, |pc| listed[numbers[pc]])
                };
                for pc in block.start.index()..block.end.index() {
                    let end = block.end.index();
                    all.results[numbers[pc]] = fed(body[pc].writes().map(|it| it.0).collect(), pc, pc + 1..end);
                    for Reg(register) in body[pc].reads() {
                        let fed = fed([register].into(), pc, pc..end);
                        all.uses.extend(fed.map(|fed| ((numbers[pc] as u32, register), fed)));
                    }
                }
            }
        }
        all
    }

    /// Those of an operand of an instruction: how many instructions behind it each store is. `None` if it goes elsewhere, too.
    pub(super) fn get(&self, instruction: u32, operand: SiteOperand) -> Option<&[u32]> {
        match operand {
            SiteOperand::Destination(_) => self.results.get(instruction as usize)?.as_deref(),
            SiteOperand::Register(register) => self.uses.get(&(instruction, register)).map(Vec::as_slice),
        }
    }
}

/// The stores that registers go to within a block.
fn stores_fed(
    body: &[&Facts],
    (mut reached, pc): (BTreeSet<u32>, usize),
    behind: std::ops::Range<usize>,
    live_out: &RegSet,
    is_listed: impl Fn(usize) -> bool,
) -> Option<Vec<u32>> {
    let mut stores = Vec::new();
    for at in behind {
        if reached.is_empty() {
            break;
        }
        let facts = body[at];
        let reads = facts.reads().any(|register| reached.contains(&register.0));
        if reads {
            let guard = facts.guard.is_some_and(|guard| reached.contains(&guard.pred.0));
            match facts.access {
                _ if guard || facts.control != Control::Next => return None,
                Some(access) if access.effect == Effect::Write && is_listed(at) => stores.push((at - pc) as u32),
                Some(_) => return None,
                None if facts.stores || facts.of_role(Role::Destination).next().is_none() => return None,
                None => {}
            }
        }
        for Reg(register) in facts.writes() {
            if reads {
                reached.insert(register);
            } else if facts.guard.is_none() {
                reached.remove(&register);
            }
        }
    }
    let is_live = live_out.iter().any(|register| reached.contains(&register.0));
    (!stores.is_empty() && !is_live).then_some(stores)
}
