//! `MUFU.EX2` and `MUFU.LG2`.

use super::interpolator::{Look, truncated};
use super::tables::{EX2, LG2};
use super::word::{INFINITY, SIGN, Word, from_24_bits, scale, select};
use crate::semantics::float::NAN32;

/// `MUFU.EX2`: 2 to the power x. Subnormals are zeros, of arguments and of results.
///
/// The argument goes to 23 bits behind the point, toward zero. Below zero its fraction is complemented, which is one
/// unit less than negated.
#[inline(always)]
#[must_use]
pub fn ex2(look: impl Look, x: f32) -> f32 {
    let word = Word::of(x);
    let fixed = fixed_point(word.significand(), word.exponent());
    let below = select(fixed & 0x7f_ffff == 0, fixed.wrapping_neg(), !fixed);
    let argument = select(word.sign == 0, fixed, below);
    let fraction = argument & 0x7f_ffff;
    let exponent = argument as i32 >> 23;
    let power = from_24_bits(127, EX2.sum::<8>(look, fraction >> 17, fraction & 0x1_ffff).upper >> 7);
    let number = scale(power, exponent);
    let large = word.biased >= 127 + 7;
    let end = select(word.sign == 0, INFINITY, 0);
    f32::from_bits(select(word.is_nan(), NAN32, select(large, end, number)))
}

/// A significand times 2 to the power `exponent`, toward zero, with 23 bits behind the point, modulo 2³².
#[inline(always)]
#[must_use]
pub(super) fn fixed_point(significand: u32, exponent: i32) -> u32 {
    // One of the two shifts is by 32 or more, unless both are by nothing.
    significand.unbounded_shl(exponent as u32) | significand.unbounded_shr(exponent.wrapping_neg() as u32)
}

/// `MUFU.LG2`: the logarithm to base 2. A subnormal is zero.
///
/// The logarithm of the significand has 36 bits behind the point. Where the exponent makes the sum negative, it is
/// complemented, which is one unit less than negated.
#[inline(always)]
#[must_use]
pub fn lg2(look: impl Look, x: f32) -> f32 {
    let word = Word::of(x);
    let negative = word.biased < 127;
    let magnitude = logarithm(look, word, select(negative, u32::MAX, 0));
    let number = select(word.biased << 23 | word.fraction == 127 << 23, 0, magnitude.to_bits());
    let number = number | select(negative, SIGN, 0);
    let positive = select(word.is_infinite(), INFINITY, number);
    let number = select(word.sign == 0, positive, NAN32);
    f32::from_bits(select(word.is_nan(), NAN32, select(word.is_zero(), INFINITY | SIGN, number)))
}

/// The magnitude of a logarithm, whose bits are turned by `complement`: of 43 bits those from the 12th, from the fifth
/// or the lowest, whichever have the leading one and 23 behind it.
#[inline(always)]
fn logarithm(look: impl Look, word: Word, complement: u32) -> f32 {
    let sum = LG2.sum::<7>(look, word.fraction >> 17, word.fraction & 0x1_ffff);
    let exponent = word.exponent() as u32;
    let upper = (exponent << 24).wrapping_add(sum.upper >> 7) ^ complement;
    let middle = (exponent << 31).wrapping_add(sum.upper) ^ complement;
    let lower = (sum.upper << 5 | sum.lower >> 2 & 31) ^ complement;
    let (large, small) = (upper >= 1 << 24, middle < 1 << 26);
    let number = select(large, upper, select(small, lower, middle));
    truncated(number, select(large, -24, select(small, -36, -31)))
}
