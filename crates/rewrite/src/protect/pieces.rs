//! A body in pieces: instructions that are treated together, because they hand each other the carry flag or an argument.

use crate::protect::eligible::{Treatment, treatment};
use crate::protect::place::leaders;
use crate::protect::refused::Unprotected;
use facts::Pc;
use isa::{Function, Instruction, Op, Space};
use std::ops::Range;

/// Instructions that are treated together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TreatedPiece {
    /// The instructions.
    pub(super) range: Range<usize>,
    /// What becomes of them.
    pub(super) treatment: Treatment,
    /// Whether one of them is chosen, and so all are.
    pub(super) chosen: bool,
}

/// Instructions that are treated together, in order. `chosen` says by instruction whether it is protected, `loads` whether loads
/// from memory that other threads write are executed twice.
pub(super) fn pieces(function: &Function, chosen: &[bool], loads: bool) -> Result<Vec<TreatedPiece>, Unprotected> {
    let (body, leaders) = (&function.body, leaders(function));
    let mut writers = vec![0_u32; function.registers.len()];
    let written = body.iter().flat_map(Instruction::writes).map(|(_, register)| register.index());
    written.for_each(|register| writers.get_mut(register).into_iter().for_each(|writers| *writers += 1));
    let treat = |pc: usize| {
        let mut destinations = body[pc].writes().filter_map(|(_, register)| writers.get(register.index()));
        match treatment(&body[pc], destinations.all(|writers| *writers == 1), loads) {
            Treatment::Refused(why) => Err(refused(body, pc, why)),
            treatment => Ok(treatment),
        }
    };
    let mut pieces = Vec::new();
    let mut pc = 0;
    while pc < body.len() {
        let stretch = pc + 1..(pc + 1..body.len()).find(|&next| leaders[next]).unwrap_or(body.len());
        let end = match &body[pc].op {
            Op::Extended(first) if first.reads => {
                return Err(refused(body, pc, "the carry flag that it reads is not written right before it"));
            }
            Op::Extended(_) => carried(body, stretch),
            op if passes(op) => stretch.clone().find(|&next| !passes(&body[next].op)).unwrap_or(stretch.end),
            _ => pc + 1,
        };
        let treatment = treat(pc)?;
        for inner in pc + 1..end {
            if treat(inner)? == Treatment::Alone && treatment != Treatment::Alone {
                return Err(refused(body, inner, "it stands between instructions that hand each other the carry flag"));
            }
        }
        let chosen = (pc..end).any(|at| chosen.get(at).copied().unwrap_or(false));
        let is_left = !chosen && matches!(treatment, Treatment::Duplicate | Treatment::Constant);
        let treatment = if is_left { Treatment::Alone } else { treatment };
        pieces.push(TreatedPiece { range: pc..end, treatment, chosen });
        pc = end;
    }
    Ok(pieces)
}

fn refused(body: &[Instruction], pc: usize, why: &'static str) -> Unprotected {
    Unprotected::Instruction { pc: Pc(pc as u32), instruction: body[pc].op.to_string(), why }
}

/// Behind the last of these instructions that reads the carry flag as it was handed on.
fn carried(body: &[Instruction], stretch: Range<usize>) -> usize {
    let extended = |at: &usize| matches!(body[*at].op, Op::Extended(_));
    let reads = |at: &usize| matches!(&body[*at].op, Op::Extended(extended) if extended.reads);
    let chain = stretch.clone().filter(extended).take_while(reads);
    chain.last().map_or(stretch.start, |last| last + 1)
}

/// Whether it passes an argument, or calls.
fn passes(op: &Op) -> bool {
    matches!(op, Op::Call(_)) || matches!(op, Op::St(access) if access.space == Space::Param)
}
