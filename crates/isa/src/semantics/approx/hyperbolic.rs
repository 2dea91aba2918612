//! `MUFU.TANH`.
//!
//! From 2⁻⁸ to 8 each binade is divided for itself, into one segment to sixteen, and has its own scale; of the
//! significand so many low bits are dropped that 17 are left in a segment. Below, the tangent is its argument; above, it
//! is one. The result is truncated.

use super::interpolator::{self, BITS, truncated};
use super::tables::TANH;
use super::word::{SIGN, Word, select};
use crate::semantics::float::NAN32;

/// How a binade is divided.
#[derive(Clone, Copy, Debug)]
pub struct Binade {
    /// Low bits of the significand that do not count.
    pub dropped: u32,
    /// The first of its segments.
    pub first: u32,
    /// Bits of a sum behind the point.
    pub fraction: u32,
}

/// The exponent of the first binade that is interpolated.
pub const FIRST: i32 = -8;

/// The binades that are interpolated, ascending.
pub const BINADES: [Binade; 11] = {
    const fn binade(dropped: u32, first: u32, fraction: u32) -> Binade {
        Binade { dropped, first, fraction }
    }
    [
        binade(6, 0, 39),
        binade(6, 1, 38),
        binade(6, 2, 37),
        binade(5, 3, 38),
        binade(5, 5, 37),
        binade(4, 7, 38),
        binade(4, 11, 37),
        binade(4, 15, 36),
        binade(3, 19, 37),
        binade(2, 27, 39),
        binade(3, 43, 37),
    ]
};

/// `MUFU.TANH`: the hyperbolic tangent.
#[inline(always)]
#[must_use]
pub fn tanh(x: f32) -> f32 {
    let word = Word::of(x);
    let at = word.exponent() - FIRST;
    let binade = BINADES[(at.max(0) as usize).min(BINADES.len() - 1)];
    let rest = word.fraction >> binade.dropped;
    let (number, exponent) = TANH.sum::<8>(interpolator::at, binade.first + (rest >> BITS), rest & 0x1_ffff).leading(8);
    let inside = truncated(number, exponent - binade.fraction as i32).to_bits();
    let number = select(at < BINADES.len() as i32, inside, 1f32.to_bits());
    let number = select(at < 0, x.to_bits() & !SIGN, number);
    f32::from_bits(select(word.is_nan(), NAN32, number | word.sign))
}
