//! `MUFU.SIN` and `MUFU.COS`, and the multiplication before them.

use super::exponential::fixed_point;
use super::interpolator::{Look, truncated};
use super::tables::SIN;
use super::word::{Word, select};
use crate::semantics::float::NAN32;

/// The sine of x turns, of which two bits are the quarter and 23 bits the part of it, toward zero.
#[inline(always)]
#[must_use]
pub fn sin(look: impl Look, turns: f32) -> f32 {
    let word = Word::of(turns);
    circular(look, word, quarters(word), word.sign)
}

/// The cosine of x turns.
#[inline(always)]
#[must_use]
pub fn cos(look: impl Look, turns: f32) -> f32 {
    let word = Word::of(turns);
    circular(look, word, quarters(word).wrapping_add(1 << 23), 0)
}

/// Quarter turns with 23 bits behind the point, of which all but the lowest two whole bits are of no interest.
#[inline(always)]
fn quarters(word: Word) -> u32 {
    fixed_point(word.significand(), word.exponent() + 2)
}

#[inline(always)]
fn circular(look: impl Look, word: Word, quarters: u32, sign: u32) -> f32 {
    let (segment, x) = segment(quarters);
    let sign = sign ^ (quarters >> 24 & 1) << 31;
    let (number, exponent) = SIN.sum::<8>(look, segment, x).leading(8);
    let number = truncated(number, exponent - 37).to_bits() | sign;
    f32::from_bits(select(word.biased == 0xff, NAN32, number))
}

/// The segment of a quarter, and x; odd quarters go backward.
#[inline(always)]
#[must_use]
pub fn segment(quarters: u32) -> (u32, u32) {
    let part = quarters ^ (quarters >> 23 & 1).wrapping_neg();
    (part >> 17 & 0x3f, part & 0x1_ffff)
}

/// An angle in turns: times 1/2π, toward zero (`FMUL.RZ`). Of turns below 2⁻¹⁰⁰ the last bits do not matter.
#[inline(always)]
#[must_use]
pub fn turns(x: f32) -> f32 {
    const TURNS: f32 = f32::from_bits(0x3e22_f983);
    let near = x * TURNS;
    // Exact, and of the other sign where the product was rounded away from zero.
    let rest = x.mul_add(TURNS, -near);
    let away = (rest * near) < 0.0;
    f32::from_bits(near.to_bits() - u32::from(away))
}
