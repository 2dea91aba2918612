//! Plain micro-operations: those after which control goes on with the next, and for which no lane waits.

use crate::access::{Executing, LaneTrap, load, store};
use crate::collective;
use crate::program::{Micro, MicroKind, PredOp, Program};
use ::lanes::{Handlers, Loops};

/// Executes a plain micro-operation.
#[inline(always)]
pub(crate) fn plain<L: Handlers>(
    level: L,
    program: &Program,
    on: &mut Executing<'_>,
    micro: &Micro,
) -> Result<(), LaneTrap> {
    plain_by((level, L::loops(on.mask)), program, on, micro)
}

/// Executes one of many for the same lanes, with their loops.
#[inline(always)]
pub(super) fn plain_by<L: Handlers>(
    (level, loops): (L, &Loops<L>),
    program: &Program,
    on: &mut Executing<'_>,
    micro: &Micro,
) -> Result<(), LaneTrap> {
    match micro.kind {
        MicroKind::Alu(number) => {
            loops[usize::from(number)](level, on.registers, micro.dst, &micro.src, on.mask);
            Ok(())
        }
        MicroKind::Load(plan) => load(level, on, &program.accesses[plan as usize]),
        MicroKind::Store(plan) => store(level, on, &program.accesses[plan as usize]),
        MicroKind::Pred(op) => {
            predicate(on, micro, op);
            Ok(())
        }
        _ => unreachable!("plain micro-operations are those that Kind::is_plain says"),
    }
}

/// An operation on predicates.
#[inline(always)]
fn predicate(on: &mut Executing<'_>, micro: &Micro, op: PredOp) {
    let [a, b] = [micro.src[0], micro.src[1]].map(|row| on.registers.pred[usize::from(row)]);
    let bits = match op {
        PredOp::And => a & b,
        PredOp::Or => a | b,
        PredOp::Xor => a ^ b,
        PredOp::Not => !a,
    };
    collective::write_pred(on.registers, micro.dst, bits, on.mask);
}
