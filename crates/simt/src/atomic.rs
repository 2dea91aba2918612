//! Atomic accesses: lane by lane in ascending order, each a read, a computation and a write.

use crate::access::{Fault, Memories, Word, addresses, read_one, write_one};
use crate::memory::window::{LOCAL_BASE, PARAM_BASE, SHARED_BASE, within};
use crate::program::AtomicPlan;
use crate::registers::{Registers, lanes};
use crate::trap::TrapKind;
use isa::op::AtomOp;
use isa::semantics::float;
use isa::{Space, Type};

/// Does an atomic access for every lane of the mask.
pub(crate) fn atomic(
    registers: &mut Registers,
    memories: &mut Memories<'_>,
    plan: &AtomicPlan,
    frame_base: u32,
    mask: u32,
) -> Result<(), Fault> {
    let at = addresses(registers, &plan.access, frame_base);
    for lane in lanes(mask) {
        let (space, address) = resolve(plan.access.space, at[lane]);
        let operand = registers.get(plan.operand, lane) as u64;
        let swap = plan.swap.map_or(0, |slot| registers.get(slot, lane) as u64);
        let size = u64::from(plan.access.bytes);
        if !address.is_multiple_of(size) {
            return Err(Fault::at(TrapKind::MisalignedAddress, lane, address));
        }
        let old = if size == 8 {
            exchange::<u64>(memories, plan, space, address, lane, operand, swap)?
        } else {
            exchange::<u32>(memories, plan, space, address, lane, operand, swap)?
        };
        if let Some(slot) = plan.access.values.first().copied().flatten() {
            registers.set(slot, lane, u128::from(old));
        }
    }
    Ok(())
}

fn resolve(space: Space, address: u64) -> (Space, u64) {
    match space {
        Space::Generic if within(address, SHARED_BASE) => (Space::Shared, address - SHARED_BASE),
        Space::Generic if within(address, LOCAL_BASE) => (Space::Local, address - LOCAL_BASE),
        Space::Generic if within(address, PARAM_BASE) => (Space::Param, address - PARAM_BASE),
        Space::Generic => (Space::Global, address),
        other => (other, address),
    }
}

fn exchange<W: Word>(
    memories: &mut Memories<'_>,
    plan: &AtomicPlan,
    space: Space,
    address: u64,
    lane: usize,
    operand: u64,
    swap: u64,
) -> Result<u64, Fault> {
    let old = read_one::<W>(memories, space, address, lane)?.to_u64();
    let new = W::from_u64(apply(plan.op, plan.ty, space, old, operand, swap));
    write_one(memories, space, address, lane, new)?;
    Ok(old)
}

/// The new value in memory.
fn apply(op: AtomOp, ty: Type, space: Space, old: u64, operand: u64, swap: u64) -> u64 {
    let (old32, operand32) = (old as u32, operand as u32);
    match op {
        AtomOp::Add => match ty {
            Type::F32 => u64::from(add_f32(space, old32, operand32)),
            Type::F64 => float::canonical64(f64::from_bits(old) + f64::from_bits(operand)).to_bits(),
            _ => old.wrapping_add(operand),
        },
        AtomOp::Min => extreme(ty, old, operand, true),
        AtomOp::Max => extreme(ty, old, operand, false),
        AtomOp::Inc => u64::from(if old32 >= operand32 { 0 } else { old32 + 1 }),
        AtomOp::Dec => u64::from(if old32 == 0 || old32 > operand32 { operand32 } else { old32 - 1 }),
        AtomOp::And => old & operand,
        AtomOp::Or => old | operand,
        AtomOp::Xor => old ^ operand,
        AtomOp::Exch => operand,
        AtomOp::Cas => {
            if old == operand {
                swap
            } else {
                old
            }
        }
    }
}

/// In global memory, subnormal operands and results are flushed (PTX ISA, `atom`); in shared memory they are not.
fn add_f32(space: Space, old: u32, operand: u32) -> u32 {
    let (a, b) = (f32::from_bits(old), f32::from_bits(operand));
    let sum = if space == Space::Shared {
        float::add(a, b)
    } else {
        float::flush(float::add(float::flush(a), float::flush(b)))
    };
    sum.to_bits()
}

fn extreme(ty: Type, a: u64, b: u64, least: bool) -> u64 {
    let a_is_less = match ty {
        Type::S32 => (a as u32 as i32) < (b as u32 as i32),
        Type::S64 => (a as i64) < (b as i64),
        Type::U32 => (a as u32) < (b as u32),
        _ => a < b,
    };
    if a_is_less == least { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(op: AtomOp, ty: Type, old: u64, operand: u64) -> u64 {
        apply(op, ty, Space::Global, old, operand, 77)
    }

    #[test]
    fn each_operation_is_what_the_isa_says() {
        assert_eq!(on(AtomOp::Add, Type::U32, 0xffff_ffff, 1) as u32, 0);
        assert_eq!(on(AtomOp::Min, Type::S32, 0xffff_ffff, 1) as u32, 0xffff_ffff);
        assert_eq!(on(AtomOp::Min, Type::U32, 0xffff_ffff, 1), 1);
        assert_eq!(on(AtomOp::Max, Type::S64, u64::MAX, 1), 1);
        assert_eq!(on(AtomOp::Inc, Type::U32, 5, 5), 0);
        assert_eq!(on(AtomOp::Inc, Type::U32, 4, 5), 5);
        assert_eq!(on(AtomOp::Dec, Type::U32, 0, 5), 5);
        assert_eq!(on(AtomOp::Dec, Type::U32, 9, 5), 5);
        assert_eq!(on(AtomOp::Cas, Type::B32, 5, 5), 77);
        assert_eq!(on(AtomOp::Cas, Type::B32, 6, 5), 6);
        assert_eq!(on(AtomOp::Exch, Type::B64, 6, 5), 5);
    }

    #[test]
    fn a_float_sum_in_global_memory_flushes_subnormals_and_in_shared_memory_keeps_them() {
        assert_eq!(add_f32(Space::Global, 1, 1), 0);
        assert_eq!(add_f32(Space::Shared, 1, 1), 2);
    }
}
