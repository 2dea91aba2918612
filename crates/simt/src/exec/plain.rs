//! Plain micro-operations: those after which control goes on with the next, and for which no lane waits.

use super::{Surroundings, Warp, trap};
use crate::access::{self, Memories};
use crate::collective;
use crate::program::{Kind, Micro, PredOp};
use crate::registers::Registers;
use crate::trap::Trap;
use ::lanes::Handlers;

/// Executes a plain micro-operation.
#[inline(always)]
pub(super) fn plain<L: Handlers>(
    level: L,
    warp: &mut Warp,
    around: &mut Surroundings<'_>,
    frame: u32,
    executing: u32,
    micro: &Micro,
) -> Result<(), Trap> {
    let program = around.program;
    let done = match micro.kind {
        Kind::Alu(number) => {
            L::table()[usize::from(number)](level, &mut warp.registers, micro.dst, &micro.src, executing);
            return Ok(());
        }
        Kind::Load(plan) => {
            let (registers, mut memories, base) = split(warp, around, frame);
            access::load(level, registers, &mut memories, &program.accesses[plan as usize], base, executing)
        }
        Kind::Store(plan) => {
            let (registers, mut memories, base) = split(warp, around, frame);
            access::store(level, registers, &mut memories, &program.accesses[plan as usize], base, executing)
        }
        Kind::Pred(op) => {
            predicate(&mut warp.registers, micro, op, executing);
            return Ok(());
        }
        _ => return Ok(()),
    };
    done.map_err(|fault| trap(fault, micro, warp.index, around.block))
}

/// An operation on predicates.
#[inline(always)]
fn predicate(registers: &mut Registers, micro: &Micro, op: PredOp, executing: u32) {
    let [a, b] = [micro.src[0], micro.src[1]].map(|row| registers.pred[usize::from(row)]);
    let bits = match op {
        PredOp::And => a & b,
        PredOp::Or => a | b,
        PredOp::Xor => a ^ b,
        PredOp::Not => !a,
    };
    collective::write_pred(registers, micro.dst, bits, executing);
}

/// The registers of a warp, the memories that it sees, and where the frame of a call starts.
#[inline(always)]
pub(super) fn split<'w>(
    warp: &'w mut Warp,
    around: &'w mut Surroundings<'_>,
    frame: u32,
) -> (&'w mut Registers, Memories<'w>, u32) {
    let base = warp.frames[frame as usize].base;
    let memories = Memories {
        global: &mut *around.global,
        shared: &mut *around.shared,
        local: &mut warp.local,
        local_limit: around.local_limit,
        params: around.params,
    };
    (&mut warp.registers, memories, base)
}
