//! IEEE 754 arithmetic as the PTX ISA promises it: every rounding mode, flush to zero, saturation, NaN.
//!
//! A single-precision operation that yields NaN yields the canonical 0x7fffffff (PTX ISA, "NaN payloads").
//! Directed rounding is exact: the result is computed with its error term and moved by one unit where the mode asks.
//!
//! What both sides of a choice compute is computed, and then chosen by [`select`]: 32 branches are not a loop over
//! vectors, and a compiler that sees one side unused moves its work into a branch.

pub(super) use std::hint::select_unpredictable as select;

/// Directed rounding modes; round-to-nearest-even has its own, faster functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toward {
    /// `.rz`
    Zero,
    /// `.rm`
    Minus,
    /// `.rp`
    Plus,
}

/// The NaN that single-precision instructions produce.
pub const NAN32: u32 = 0x7fff_ffff;

/// Replaces any NaN by the canonical one.
///
/// It compares integers: to the compiler one NaN is as good as another, and it drops a choice between a NaN and a
/// float that may be one (it did so after a square root).
#[inline(always)]
#[must_use]
pub fn canonical(x: f32) -> f32 {
    let bits = x.to_bits();
    f32::from_bits(select(bits & 0x7fff_ffff > 0x7f80_0000, NAN32, bits))
}

/// `.ftz`: a subnormal becomes a zero of its sign.
#[inline(always)]
#[must_use]
pub fn flush(x: f32) -> f32 {
    let bits = x.to_bits();
    f32::from_bits(select(bits & 0x7f80_0000 == 0, bits & 0x8000_0000, bits))
}

/// `.ftz` of a product: zero where the result would be subnormal even if its exponent had no bound, which is one bit
/// finer than subnormals are (seen on an H100). Asked of factors that are 2¹² times as large.
#[inline(always)]
#[must_use]
pub fn ftz_mul(mul: impl Fn(f32, f32) -> f32, a: f32, b: f32) -> f32 {
    let (a, b) = (flush(a), flush(b));
    flush_by(mul(a * 4096.0, b * 4096.0), mul(a, b))
}

/// `.ftz` of `fma`, as of a product.
#[inline(always)]
#[must_use]
pub fn ftz_fma(fma: impl Fn(f32, f32, f32) -> f32, a: f32, b: f32, c: f32) -> f32 {
    let (a, b, c) = (flush(a), flush(b), flush(c));
    flush_by(fma(a * 4096.0, b * 4096.0, c * SCALE), fma(a, b, c))
}

/// `.ftz` of a quotient, as of a product.
#[inline(always)]
#[must_use]
pub fn ftz_div(div: impl Fn(f32, f32) -> f32, a: f32, b: f32) -> f32 {
    let (a, b) = (flush(a), flush(b));
    flush_by(div(a * SCALE, b), div(a, b))
}

/// How much larger a scaled result is.
const SCALE: f32 = 16_777_216.0;

/// Flushes a result where the scaled one says that it is tiny. One that overflows is not.
#[inline(always)]
fn flush_by(scaled: f32, result: f32) -> f32 {
    let bits = result.to_bits();
    f32::from_bits(select(scaled.abs() < f32::MIN_POSITIVE * SCALE, bits & 0x8000_0000, bits))
}

/// `.sat`: clamped to [0, 1], NaN to +0.
#[inline(always)]
#[must_use]
pub fn saturate(x: f32) -> f32 {
    select(x > 0.0, select(x < 1.0, x, 1.0), 0.0)
}

/// `.sat` of a double.
#[inline(always)]
#[must_use]
pub fn saturate64(x: f64) -> f64 {
    select(x > 0.0, select(x < 1.0, x, 1.0), 0.0)
}

/// `neg.f32`
#[inline(always)]
#[must_use]
pub fn neg(a: f32) -> f32 {
    canonical(f32::from_bits(a.to_bits() ^ 0x8000_0000))
}

/// `abs.f32`
#[inline(always)]
#[must_use]
pub fn abs(a: f32) -> f32 {
    canonical(f32::from_bits(a.to_bits() & 0x7fff_ffff))
}

/// `add.rn.f32`
#[inline(always)]
#[must_use]
pub fn add(a: f32, b: f32) -> f32 {
    canonical(a + b)
}

/// `sub.rn.f32`
#[inline(always)]
#[must_use]
pub fn sub(a: f32, b: f32) -> f32 {
    canonical(a - b)
}

/// `mul.rn.f32`
#[inline(always)]
#[must_use]
pub fn mul(a: f32, b: f32) -> f32 {
    canonical(a * b)
}

/// `fma.rn.f32`: one rounding.
#[inline(always)]
#[must_use]
pub fn fma(a: f32, b: f32, c: f32) -> f32 {
    canonical(a.mul_add(b, c))
}

/// `div.rn.f32`
#[inline(always)]
#[must_use]
pub fn div(a: f32, b: f32) -> f32 {
    canonical(a / b)
}

/// `sqrt.rn.f32`
#[inline(always)]
#[must_use]
pub fn sqrt(a: f32) -> f32 {
    canonical(a.sqrt())
}

/// `add` toward a direction.
#[inline(always)]
#[must_use]
pub fn add_toward(mode: Toward, a: f32, b: f32) -> f32 {
    sum_toward(mode, f64::from(a), f64::from(b))
}

/// `mul` toward a direction.
#[inline(always)]
#[must_use]
pub fn mul_toward(mode: Toward, a: f32, b: f32) -> f32 {
    // The product of two 24-bit significands is exact in 53 bits.
    narrow_toward(mode, f64::from(a) * f64::from(b), 0.0)
}

/// `fma` toward a direction.
#[inline(always)]
#[must_use]
pub fn fma_toward(mode: Toward, a: f32, b: f32, c: f32) -> f32 {
    sum_toward(mode, f64::from(a) * f64::from(b), f64::from(c))
}

/// The exact sum of two doubles, rounded once to single precision.
#[inline(always)]
fn sum_toward(mode: Toward, a: f64, b: f64) -> f32 {
    let sum = a + b;
    // Knuth's two-sum: `sum + error` is the exact sum.
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    // An exact zero from terms of opposite signs is −0 only toward −∞ (IEEE 754, §6.3).
    let opposite = a.is_sign_positive() != b.is_sign_positive();
    let zero = select((mode == Toward::Minus) & opposite, -0.0, sum as f32);
    select(sum == 0.0, zero, narrow_toward(mode, sum, error))
}

/// `div` toward a direction.
#[inline(always)]
#[must_use]
pub fn div_toward(mode: Toward, a: f32, b: f32) -> f32 {
    let (a, b) = (f64::from(a), f64::from(b));
    let quotient = a / b;
    // The remainder is exact, and with the sign of the divisor says on which side the exact quotient lies.
    let rest = (-quotient).mul_add(b, a);
    narrow_toward(mode, quotient, select(b < 0.0, -rest, rest))
}

/// `sqrt` toward a direction.
#[inline(always)]
#[must_use]
pub fn sqrt_toward(mode: Toward, a: f32) -> f32 {
    let a = f64::from(a);
    let root = a.sqrt();
    narrow_toward(mode, root, (-root).mul_add(root, a))
}

/// `hi + lo` rounded once to single precision, where `|lo|` is at most half a unit of `hi`.
#[inline(always)]
#[must_use]
pub fn narrow_toward(mode: Toward, hi: f64, lo: f64) -> f32 {
    let near = hi as f32;
    // Exact: `near` shares the leading bits of `hi`.
    let rest = hi - f64::from(near);
    let rest = select(rest == 0.0, lo, rest);
    let (below, above) = (rest < 0.0, rest > 0.0);
    let (down, up) = match mode {
        Toward::Zero => (below & (hi > 0.0), above & (hi < 0.0)),
        Toward::Minus => (below, false),
        Toward::Plus => (false, above),
    };
    let bits = near.to_bits();
    let negative = bits >> 31 == 1;
    // Neighbours in value are neighbours in bits, except across zero.
    let less = select(bits << 1 == 0, (bits ^ 0x8000_0000) | 1, bits.wrapping_sub(1));
    let more = bits.wrapping_add(1);
    let moved =
        select((down & !negative) | (up & negative), less, select((down & negative) | (up & !negative), more, bits));
    f32::from_bits(select(hi.is_finite(), moved, canonical(near).to_bits()))
}

/// `min.f32`: the number where one side is NaN; −0 is less than +0.
#[inline(always)]
#[must_use]
pub fn min(a: f32, b: f32) -> f32 {
    let first = (a < b) | ((a == b) & a.is_sign_negative());
    let least = select(first | b.is_nan(), a.to_bits(), b.to_bits());
    f32::from_bits(select(a.is_nan(), canonical(b).to_bits(), least))
}

/// `max.f32`: the number where one side is NaN; +0 is more than −0.
#[inline(always)]
#[must_use]
pub fn max(a: f32, b: f32) -> f32 {
    let first = (a > b) | ((a == b) & a.is_sign_positive());
    let most = select(first | b.is_nan(), a.to_bits(), b.to_bits());
    f32::from_bits(select(a.is_nan(), canonical(b).to_bits(), most))
}

/// `min.NaN.f32`: NaN where either side is.
#[inline(always)]
#[must_use]
pub fn min_nan(a: f32, b: f32) -> f32 {
    f32::from_bits(select(a.is_nan() | b.is_nan(), NAN32, min(a, b).to_bits()))
}

/// `max.NaN.f32`: NaN where either side is.
#[inline(always)]
#[must_use]
pub fn max_nan(a: f32, b: f32) -> f32 {
    f32::from_bits(select(a.is_nan() | b.is_nan(), NAN32, max(a, b).to_bits()))
}

/// `.xorsign.abs`: of the magnitudes, with the signs' exclusive or.
#[inline(always)]
#[must_use]
pub fn xorsign(choose: impl Fn(f32, f32) -> f32, a: f32, b: f32) -> f32 {
    let chosen = choose(a.abs(), b.abs()).to_bits();
    let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
    f32::from_bits(select(chosen > 0x7f80_0000, chosen, chosen | sign))
}

/// The NaN that double-precision instructions produce from numbers.
pub const NAN64: u64 = 0xfff8_0000_0000_0000;

#[inline(always)]
fn is_nan64(bits: u64) -> bool {
    bits & 0x7fff_ffff_ffff_ffff > 0x7ff0_0000_0000_0000
}

/// Replaces any NaN by the canonical double, as [`canonical`] does.
#[inline(always)]
#[must_use]
pub fn canonical64(x: f64) -> f64 {
    let bits = x.to_bits();
    f64::from_bits(select(is_nan64(bits), NAN64, bits))
}

/// The result of an operation on one double: a NaN stays what it is, and becomes quiet.
#[inline(always)]
#[must_use]
pub fn nan_of(a: f64, result: f64) -> f64 {
    let bits = a.to_bits();
    f64::from_bits(select(is_nan64(bits), bits | 0x0008_0000_0000_0000, canonical64(result).to_bits()))
}

/// The result of an operation on two doubles: a NaN of theirs, of `first` if both are, else `result`. Which operand
/// comes first was found on an H100.
#[inline(always)]
#[must_use]
pub fn nan_of_two(first: f64, second: f64, result: f64) -> f64 {
    let bits = select(is_nan64(first.to_bits()), first.to_bits(), second.to_bits());
    nan_of(f64::from_bits(bits), result)
}

/// As [`nan_of_two`], of three.
#[inline(always)]
#[must_use]
pub fn nan_of_three(first: f64, second: f64, third: f64, result: f64) -> f64 {
    let bits = select(is_nan64(second.to_bits()), second.to_bits(), third.to_bits());
    nan_of_two(first, f64::from_bits(bits), result)
}

/// `add.rn.f64`
#[inline(always)]
#[must_use]
pub fn add64(a: f64, b: f64) -> f64 {
    nan_of_two(b, a, a + b)
}

/// `sub.rn.f64`
#[inline(always)]
#[must_use]
pub fn sub64(a: f64, b: f64) -> f64 {
    nan_of_two(b, a, a - b)
}

/// `mul.rn.f64`
#[inline(always)]
#[must_use]
pub fn mul64(a: f64, b: f64) -> f64 {
    nan_of_two(b, a, a * b)
}

/// `fma.rn.f64`
#[inline(always)]
#[must_use]
pub fn fma64(a: f64, b: f64, c: f64) -> f64 {
    nan_of_three(b, c, a, a.mul_add(b, c))
}

/// A sum that is joined with a product: that of the unrounded one where the product's register holds its rounding, else
/// that of what it holds.
#[inline(always)]
#[must_use]
pub fn joined(held: f32, product: f32, unrounded: f32, of_held: f32) -> f32 {
    f32::from_bits(select(held.to_bits() == product.to_bits(), unrounded.to_bits(), of_held.to_bits()))
}

/// As [`joined`].
#[inline(always)]
#[must_use]
pub fn joined64(held: f64, product: f64, unrounded: f64, of_held: f64) -> f64 {
    f64::from_bits(select(held.to_bits() == product.to_bits(), unrounded.to_bits(), of_held.to_bits()))
}

/// `neg.f64`: a NaN keeps its sign.
#[inline(always)]
#[must_use]
pub fn neg64(a: f64) -> f64 {
    nan_of(a, f64::from_bits(a.to_bits() ^ 0x8000_0000_0000_0000))
}

/// `abs.f64`: a NaN keeps its sign.
#[inline(always)]
#[must_use]
pub fn abs64(a: f64) -> f64 {
    nan_of(a, f64::from_bits(a.to_bits() & 0x7fff_ffff_ffff_ffff))
}

/// `min.f64`
#[inline(always)]
#[must_use]
pub fn min64(a: f64, b: f64) -> f64 {
    let first = (a < b) | ((a == b) & a.is_sign_negative());
    let least = select(first | b.is_nan(), a.to_bits(), b.to_bits());
    f64::from_bits(select(a.is_nan(), nan_of(b, b).to_bits(), least))
}

/// `max.f64`
#[inline(always)]
#[must_use]
pub fn max64(a: f64, b: f64) -> f64 {
    let first = (a > b) | ((a == b) & a.is_sign_positive());
    let most = select(first | b.is_nan(), a.to_bits(), b.to_bits());
    f64::from_bits(select(a.is_nan(), nan_of(b, b).to_bits(), most))
}
