//! Atomic accesses: lane by lane in ascending order, each a read, a computation and a write.

use crate::access::{Executing, LaneTrap, Word, exchange_one, read_row, write_row};
use crate::memory::window::{LOCAL_BASE, PARAM_BASE, SHARED_BASE, within};
use crate::program::AtomicPlan;
use crate::trap::TrapKind;
use ::lanes::registers::{LANES, lanes};
use isa::op::AtomOp;
use isa::semantics::format::{Bf16, F16, Narrow};
use isa::semantics::{float, narrow};
use isa::{Space, Type};

/// Does an atomic access for every lane that executes it.
pub(crate) fn atomic(on: &mut Executing<'_>, plan: &AtomicPlan) -> Result<(), LaneTrap> {
    match (plan.access.bytes, plan.operands.len()) {
        (4, 1) => elements::<u32, 1>(on, plan),
        (8, 1) => elements::<u64, 1>(on, plan),
        (2, _) => elements::<u16, MOST>(on, plan),
        (4, _) => elements::<u32, MOST>(on, plan),
        (8, _) => elements::<u64, MOST>(on, plan),
        _ => elements::<u128, MOST>(on, plan),
    }
}

/// The most elements of a vector.
const MOST: usize = 8;

/// Does it for at most `COUNT` elements of one type; a vector is that of each lane in turn.
fn elements<W: Word, const COUNT: usize>(on: &mut Executing<'_>, plan: &AtomicPlan) -> Result<(), LaneTrap> {
    let at = on.addresses(&plan.access);
    // All operands are read before any register is written: a destination may be an operand.
    let mut elements = [[W::default(); LANES]; COUNT];
    for (words, operand) in elements.iter_mut().zip(&plan.operands) {
        *words = read_row(on.registers, *operand);
    }
    let swap = plan.swap.map_or([W::default(); LANES], |slot| read_row(on.registers, slot));
    // A vector has a power of two of elements.
    let unaligned = (W::BYTES * plan.operands.len()) as u64 - 1;
    for lane in lanes(on.mask) {
        let (space, address) = resolve(plan.access.space, at[lane]);
        if address & unaligned != 0 {
            return Err(LaneTrap::at(TrapKind::MisalignedAddress, lane, address));
        }
        for (index, words) in elements.iter_mut().enumerate().take(plan.operands.len()) {
            let operand = words[lane].to_u128();
            let new =
                |old: W| W::from_u128(apply(plan.op, plan.ty, space, old.to_u128(), operand, swap[lane].to_u128()));
            words[lane] = exchange_one(&mut on.memories, space, address + (index * W::BYTES) as u64, lane, new)?;
        }
    }
    for (value, words) in plan.access.values.iter().zip(&elements) {
        if let Some(slot) = *value {
            write_row(on.registers, slot, words, false, on.mask);
        }
    }
    Ok(())
}

/// The space that an address lies in, and where there.
pub(crate) fn resolve(space: Space, address: u64) -> (Space, u64) {
    match space {
        Space::Generic if within(address, SHARED_BASE) => (Space::Shared, address - SHARED_BASE),
        Space::Generic if within(address, LOCAL_BASE) => (Space::Local, address - LOCAL_BASE),
        Space::Generic if within(address, PARAM_BASE) => (Space::Param, address - PARAM_BASE),
        Space::Generic => (Space::Global, address),
        other => (other, address),
    }
}

/// The new value in memory; bits above the type's are dropped.
fn apply(op: AtomOp, ty: Type, space: Space, old: u128, operand: u128, swap: u128) -> u128 {
    let (old32, operand32) = (old as u32, operand as u32);
    match op {
        AtomOp::Add | AtomOp::Min | AtomOp::Max if ty.is_float() => float(op, ty, space, old as u64, operand as u64),
        AtomOp::Add => old.wrapping_add(operand),
        AtomOp::Min => extreme(ty, old, operand, true),
        AtomOp::Max => extreme(ty, old, operand, false),
        AtomOp::Inc => u128::from(if old32 >= operand32 { 0 } else { old32 + 1 }),
        AtomOp::Dec => u128::from(if old32 == 0 || old32 > operand32 { operand32 } else { old32 - 1 }),
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

/// A sum or extreme of floats, or of each of a pair of them.
fn float(op: AtomOp, ty: Type, space: Space, old: u64, operand: u64) -> u128 {
    match ty {
        Type::F16 => half::<F16>(op, old, operand, 0),
        Type::Bf16 => half::<Bf16>(op, old, operand, 0),
        Type::F16x2 => half::<F16>(op, old, operand, 0) | half::<F16>(op, old, operand, 16),
        Type::Bf16x2 => half::<Bf16>(op, old, operand, 0) | half::<Bf16>(op, old, operand, 16),
        Type::F32 => u128::from(add_f32(space, old as u32, operand as u32)),
        _ => u128::from(float::canonical64(f64::from_bits(old) + f64::from_bits(operand)).to_bits()),
    }
}

/// A sum or extreme of the 16 bits from a bit on.
fn half<T: Narrow>(op: AtomOp, old: u64, operand: u64, at: u32) -> u128 {
    let [a, b] = [old, operand].map(|bits| T::from_bits((bits >> at) as u32 & 0xffff));
    let result = match op {
        AtomOp::Min => narrow::min(a, b),
        AtomOp::Max => narrow::max(a, b),
        _ => narrow::add(a, b),
    };
    u128::from(result.bits()) << at
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

fn extreme(ty: Type, a: u128, b: u128, least: bool) -> u128 {
    let a_is_less = match ty {
        Type::S32 => (a as u32 as i32) < (b as u32 as i32),
        Type::S64 => (a as i64) < (b as i64),
        Type::U32 => (a as u32) < (b as u32),
        _ => (a as u64) < (b as u64),
    };
    if a_is_less == least { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(op: AtomOp, ty: Type, old: u64, operand: u64) -> u64 {
        apply(op, ty, Space::Global, old.into(), operand.into(), 77) as u64
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
    fn halves_are_added_and_compared_each_for_itself() {
        // 1 + 2 and 65504 + 65504; a subnormal is kept.
        assert_eq!(on(AtomOp::Add, Type::F16x2, 0x7bff_3c00, 0x7bff_4000), 0x7c00_4200);
        assert_eq!(on(AtomOp::Add, Type::F16, 0x0001, 0x0001), 0x0002);
        assert_eq!(on(AtomOp::Add, Type::Bf16x2, 0x3f80_3f80, 0x3f80_bf80), 0x4000_0000);
        assert_eq!(on(AtomOp::Min, Type::F16, 0x8000, 0x0000), 0x8000);
        assert_eq!(on(AtomOp::Max, Type::Bf16, 0x7fc0, 0x3f80), 0x3f80);
    }

    #[test]
    fn a_float_sum_in_global_memory_flushes_subnormals_and_in_shared_memory_keeps_them() {
        assert_eq!(add_f32(Space::Global, 1, 1), 0);
        assert_eq!(add_f32(Space::Shared, 1, 1), 2);
    }
}
