//! `d = a * b + c`.
//!
//! Hardware does not say in which order it adds. Here every product is exact, products are added to `c` in double
//! precision from the first column of `a` to the last, and the sum is rounded once to the type of `d`, to the nearest.
//! Integers are exact in doubles; their sums are wrapped or clamped at the end.

use super::layout::place;
use ::lanes::registers::{LANES, Registers, Slot, lanes};
use isa::op::matrix::{MatrixElement, MatrixRole, MatrixShape, Multiply};
use isa::semantics::float::{canonical, canonical64};
use isa::semantics::format::{Bf16, F16, Rounding};
use isa::semantics::narrow;

/// Elements of the largest matrix.
const MOST: usize = 512;

/// Executes the multiplication.
pub(super) fn multiply(registers: &mut Registers, it: &Multiply, to: &[Option<Slot>], from: [&[Slot]; 3], mask: u32) {
    let [d, a, b, c] = it.elements;
    let shape = it.shape;
    let (n, k) = (usize::from(shape.n), usize::from(shape.k));
    let left = gather(registers, shape, MatrixRole::A, a, from[0]);
    let right = gather(registers, shape, MatrixRole::B, b, from[1]);
    let mut sums = gather(registers, shape, MatrixRole::C, c, from[2]);
    for (at, sum) in sums.iter_mut().enumerate().take(usize::from(shape.m) * n) {
        let (row, column) = (at / n, at % n);
        for step in 0..k {
            let (x, y) = (left[row * k + step], right[step * n + column]);
            // The product of doubles alone has more digits than a double.
            *sum = if a == MatrixElement::F64 { x.mul_add(y, *sum) } else { x * y + *sum };
        }
    }
    for (register, slot) in to.iter().enumerate() {
        let Some(slot) = *slot else { continue };
        for lane in lanes(mask) {
            let mut bits = 0;
            for part in 0..usize::from(d.per_register()) {
                let (row, column) = place(shape, MatrixRole::D, d, register, part, lane);
                bits |= encode(d, sums[row * n + column], it.saturate) << (16 * part);
            }
            registers.set(slot, lane, bits.into());
        }
    }
}

/// A matrix by rows.
fn gather(
    registers: &Registers,
    shape: MatrixShape,
    role: MatrixRole,
    element: MatrixElement,
    slots: &[Slot],
) -> [f64; MOST] {
    let mut matrix = [0.0; MOST];
    let columns = usize::from(shape.of(role).1);
    // Registers beyond these hold the same elements again.
    for (register, slot) in slots.iter().enumerate().take(shape.registers(role, element).into()) {
        for lane in 0..LANES {
            let bits = registers.get(*slot, lane) as u64;
            for part in 0..usize::from(element.per_register()) {
                let (row, column) = place(shape, role, element, register, part, lane);
                matrix[row * columns + column] = decode(element, bits, part as u32);
            }
        }
    }
    matrix
}

fn decode(element: MatrixElement, bits: u64, part: u32) -> f64 {
    match element {
        MatrixElement::F16 => narrow::single(F16((bits >> (16 * part)) as u16)).into(),
        MatrixElement::Bf16 => narrow::single(Bf16((bits >> (16 * part)) as u16)).into(),
        // The lowest 13 bits are not looked at.
        MatrixElement::Tf32 => f64::from(f32::from_bits(bits as u32 & !0x1fff)),
        MatrixElement::F32 => f64::from(f32::from_bits(bits as u32)),
        MatrixElement::F64 => f64::from_bits(bits),
        MatrixElement::U8 => f64::from((bits >> (8 * part)) as u8),
        MatrixElement::S8 => f64::from((bits >> (8 * part)) as u8 as i8),
        MatrixElement::S32 => f64::from(bits as u32 as i32),
    }
}

fn encode(element: MatrixElement, value: f64, saturate: bool) -> u64 {
    match element {
        MatrixElement::F16 => narrow::from_f64::<F16>(Rounding::Nearest, value).0.into(),
        MatrixElement::F32 => canonical(value as f32).to_bits().into(),
        MatrixElement::F64 => canonical64(value).to_bits(),
        _ if saturate => u64::from(value as i32 as u32),
        // Integers; no other element is a result.
        _ => u64::from(value as i64 as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_rounded_wrapped_or_clamped_at_the_end() {
        assert_eq!(encode(MatrixElement::S32, 2_147_483_648.0, true), 0x7fff_ffff);
        assert_eq!(encode(MatrixElement::S32, 2_147_483_648.0, false), 0x8000_0000);
        assert_eq!(encode(MatrixElement::S32, -2_147_483_649.0, true), 0x8000_0000);
        assert_eq!(encode(MatrixElement::F16, 1e6, false), 0x7c00);
        assert_eq!(encode(MatrixElement::F32, f64::NAN, false), 0x7fff_ffff);
        assert_eq!(decode(MatrixElement::Tf32, 0x3f80_1fff, 0), 1.0);
        assert_eq!(decode(MatrixElement::S8, 0x80ff_0102, 3), -128.0);
    }
}
