//! `MUFU.RCP`, `.RSQ` and `.SQRT`, and the upper halves of doubles.

use super::interpolator::{Look, at};
use super::tables::{RCP, RSQ, SQRT};
use super::word::{INFINITY, SIGN, Word, from_24_bits, scale, select};
use crate::semantics::float::NAN32;

/// `MUFU.RCP`: 128 segments of a binade. Subnormals are zeros, of arguments and of results.
#[inline(always)]
#[must_use]
pub fn rcp(look: impl Look, x: f32) -> f32 {
    let word = Word::of(x);
    let scaled = scale(rcp_of(look, word.fraction), -word.exponent());
    let ends = select(word.is_zero(), INFINITY, select(word.is_infinite(), 0, scaled));
    f32::from_bits(select(word.is_nan(), NAN32, ends | word.sign))
}

/// 1/m in [½, 1] for m = 1 + fraction·2⁻²³.
#[inline(always)]
fn rcp_of(look: impl Look, fraction: u32) -> f32 {
    from_24_bits(126, RCP.sum::<9>(look, fraction >> 16, (fraction & 0xffff) << 1).upper >> 7)
}

/// `MUFU.RSQ`: 64 segments of each of two binades. A subnormal is zero.
#[inline(always)]
#[must_use]
pub fn rsq(look: impl Look, x: f32) -> f32 {
    let word = Word::of(x);
    let exponent = word.exponent();
    let scaled = scale(rsq_of(look, exponent, word.fraction), -(exponent >> 1));
    let positive = select(word.is_infinite(), 0, scaled);
    let number = select(word.sign == 0, positive, NAN32);
    f32::from_bits(select(word.is_nan(), NAN32, select(word.is_zero(), INFINITY | word.sign, number)))
}

/// 1/√m in [½, 1], of m·2 where the exponent is odd. The sum for one would be less than one.
#[inline(always)]
fn rsq_of(look: impl Look, exponent: i32, fraction: u32) -> f32 {
    let segment = (exponent as u32 & 1) << 6 | fraction >> 17;
    let root = from_24_bits(126, RSQ.sum::<9>(look, segment, fraction & 0x1_ffff).upper >> 7);
    select(segment | fraction == 0, 1.0, root)
}

/// `MUFU.SQRT`: 64 segments of each of two binades. A subnormal is zero.
#[inline(always)]
#[must_use]
pub fn sqrt(look: impl Look, x: f32) -> f32 {
    let word = Word::of(x);
    let exponent = word.exponent();
    let segment = (exponent as u32 & 1) << 6 | word.fraction >> 17;
    let root = from_24_bits(127, SQRT.sum::<9>(look, segment, word.fraction & 0x1_ffff).upper >> 8);
    let scaled = scale(root, exponent >> 1);
    let positive = select(word.is_infinite(), INFINITY, scaled);
    let number = select(word.sign == 0, positive, NAN32);
    f32::from_bits(select(word.is_nan(), NAN32, select(word.is_zero(), word.sign, number)))
}

/// `MUFU.RCP64H`: of the upper half of a double, the upper half of its reciprocal, which has the upper bits of that of
/// a single.
#[inline(always)]
#[must_use]
pub fn rcp64(x: f64) -> f64 {
    let word = Wide::of(x);
    let scaled = upper_scale(rcp_of(at, word.fraction << 3), -word.exponent());
    let ends = select(word.is_zero(), WIDE_INFINITY, select(word.is_infinite(), 0, scaled));
    whole(select(word.is_nan(), NAN32, ends | word.sign))
}

/// `MUFU.RSQ64H`, likewise.
#[inline(always)]
#[must_use]
pub fn rsq64(x: f64) -> f64 {
    let word = Wide::of(x);
    let exponent = word.exponent();
    let scaled = upper_scale(rsq_of(at, exponent, word.fraction << 3), -(exponent >> 1));
    let positive = select(word.is_infinite(), 0, scaled);
    let number = select(word.sign == 0, positive, NAN32);
    whole(select(word.is_nan(), NAN32, select(word.is_zero(), WIDE_INFINITY | word.sign, number)))
}

/// The parts of a double's upper half.
#[derive(Clone, Copy)]
struct Wide {
    sign: u32,
    biased: u32,
    fraction: u32,
}

const WIDE_INFINITY: u32 = 0x7ff0_0000;

/// The double with this upper half.
#[inline(always)]
fn whole(upper: u32) -> f64 {
    f64::from_bits(u64::from(upper) << 32)
}

impl Wide {
    #[inline(always)]
    fn of(x: f64) -> Self {
        let bits = (x.to_bits() >> 32) as u32;
        Self { sign: bits & SIGN, biased: bits >> 20 & 0x7ff, fraction: bits & 0xf_ffff }
    }

    #[inline(always)]
    fn exponent(self) -> i32 {
        self.biased as i32 - 1023
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        self.biased == 0
    }

    #[inline(always)]
    fn is_infinite(self) -> bool {
        (self.biased == 0x7ff) & (self.fraction == 0)
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        (self.biased == 0x7ff) & (self.fraction != 0)
    }
}

/// The upper half of `value`·2^`exponent`, truncated; zero where that is subnormal.
#[inline(always)]
fn upper_scale(value: f32, exponent: i32) -> u32 {
    let upper = (value.to_bits() >> 3) as i32 + ((exponent + 1023 - 127) << 20);
    select(upper < 1 << 20, 0, upper as u32)
}
