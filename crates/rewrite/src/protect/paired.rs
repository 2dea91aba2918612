//! The treatment of each instruction where two lanes of a warp compute the same.

use isa::op::{BarrierMode, Reduction};
use isa::{Function, Instruction, Op, Space, Special, Src};

/// The treatment of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pairing {
    /// Both lanes execute it.
    Both,
    /// The even lane alone writes, what it writes is compared first.
    Written,
}

const LANES: &str = "it speaks of the lanes of its warp, of which two compute the same";

/// The treatment of an instruction of a function, or why a pair of lanes cannot execute it.
pub(super) fn pairing(function: &Function, instruction: &Instruction) -> Result<Pairing, &'static str> {
    instruction.src.iter().try_for_each(place)?;
    let ordered = "another thread may write between the loads of its two lanes";
    match &instruction.op {
        Op::Alu(_)
        | Op::Setp(_)
        | Op::Set(..)
        | Op::Lop3(_)
        | Op::Extended(_)
        | Op::MovVector(_)
        | Op::Cvta { .. }
        | Op::Isspacep(_)
        | Op::CreatePolicy(_)
        | Op::Prefetch(_)
        | Op::Fetch(_)
        | Op::Fence(_)
        | Op::Bra { .. }
        | Op::BrxIdx { .. }
        | Op::Ret { .. }
        | Op::Exit
        | Op::Trap
        | Op::Alloca(_)
        | Op::StackSave(_)
        | Op::StackRestore(_)
        | Op::Brkpt
        | Op::Nanosleep
        | Op::Event(_) => Ok(Pairing::Both),
        Op::Ld(access) if access.order.is_some_and(|order| order != isa::op::MemoryOrder::Weak) => Err(ordered),
        Op::Ld(_) => Ok(Pairing::Both),
        Op::St(access) => match access.space {
            Space::Local => Ok(Pairing::Both),
            Space::Global | Space::Shared => Ok(Pairing::Written),
            Space::Generic if !has_local_addresses(function) => Ok(Pairing::Written),
            Space::Generic => Err("it may store to local memory, which each of its two lanes has"),
            _ => Err("it passes an argument to a function"),
        },
        Op::Atom(_) | Op::Red(_) => {
            let narrow = |(_, register): (usize, facts::Reg)| {
                let bits = function.registers.get(register.index()).map(|register| register.width().bits());
                matches!(bits, Some(32 | 64))
            };
            if instruction.writes().all(narrow) && instruction.dst.len() <= 1 {
                Ok(Pairing::Written)
            } else {
                Err("its result has neither 32 nor 64 bits")
            }
        }
        Op::Barrier(barrier) => match (barrier.mode, instruction.src.len()) {
            (BarrierMode::Sync, 0 | 1) | (BarrierMode::Reduce(Reduction::And | Reduction::Or), 2) => Ok(Pairing::Both),
            _ => Err("it counts threads of the block, of which there are twice as many"),
        },
        Op::Call(_) => Err("it calls a function"),
        Op::Mapa(_) | Op::Getctarank(_) => Err("it speaks of the blocks of a cluster"),
        Op::CopyAsync(_) | Op::Mbarrier(_) | Op::Surface(_) => Err("what it writes cannot be compared before"),
        Op::Matrix(_)
        | Op::Shfl(_)
        | Op::Vote(_)
        | Op::Match { .. }
        | Op::Redux(..)
        | Op::Activemask
        | Op::Elect
        | Op::WarpSync => Err(LANES),
    }
}

/// Whether a source means the same in two lanes, or half of it does.
fn place(source: &Src) -> Result<(), &'static str> {
    let Src::Special(special) = source else { return Ok(()) };
    match special {
        special if special.is_counter() => Err("it reads a clock, which its two lanes may read at two times"),
        Special::Laneid
        | Special::Warpid
        | Special::Nwarpid
        | Special::LanemaskEq
        | Special::LanemaskLe
        | Special::LanemaskLt
        | Special::LanemaskGe
        | Special::LanemaskGt => Err(LANES),
        _ => Ok(()),
    }
}

/// Whether a generic address may be one of local memory.
fn has_local_addresses(function: &Function) -> bool {
    let makes = |op: &Op| matches!(op, Op::Cvta { to: false, space: Space::Local, .. } | Op::Alloca(_));
    function.body.iter().any(|instruction| makes(&instruction.op))
}
