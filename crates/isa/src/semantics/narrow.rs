//! Arithmetic on floats of 16 bits and pairs of them, conversion to them, to 8 bits and to TF32.
//!
//! Operands are widened exactly, computed as doubles and rounded once. The product of two numbers of 16 bits is an
//! exact double. A sum is rounded to odd, which is to say that the lowest bit of an inexact one is set; a double has so
//! many more bits than these formats that rounding it again is rounding the exact sum (Boldo and Melquiond, "Emulation
//! of a FMA and correctly rounded sums", IEEE Trans. Comput. 57, 2008). Every NaN result is the canonical one of its
//! format.

use super::float::NAN32;
use super::format::{F16x2, FloatFormat, Narrow, Pair, Rounding, TF32};

/// The number as a single, exactly.
#[inline(always)]
#[must_use]
pub fn single<T: Narrow>(x: T) -> f32 {
    T::FORMAT.decode(x.bits())
}

#[inline(always)]
fn double<T: Narrow>(x: T) -> f64 {
    f64::from(single(x))
}

/// A double, rounded once.
#[inline(always)]
#[must_use]
pub fn from_f64<T: Narrow>(rounding: Rounding, x: f64) -> T {
    T::from_bits(T::FORMAT.encode(rounding, x))
}

/// `cvt` from a double, rounded once: a NaN keeps its sign and its upper bits.
#[inline(always)]
#[must_use]
pub fn of_f64<T: Narrow>(rounding: Rounding, x: f64) -> T {
    let (format, bits) = (T::FORMAT, x.to_bits());
    let payload = (bits >> (52 - format.fraction)) as u32 & (format.sign - 1);
    let nan = format.infinity | 1 << (format.fraction - 1) | payload;
    let sign = if x.is_sign_negative() { format.sign } else { 0 };
    if x.is_nan() { T::from_bits(nan | sign) } else { from_f64(rounding, x) }
}

/// `cvt` to a double: a NaN keeps its sign and payload.
#[inline(always)]
#[must_use]
pub fn to_f64<T: Narrow>(x: T) -> f64 {
    let format = T::FORMAT;
    let payload = u64::from(x.bits() & (format.sign - 1)) << (52 - format.fraction);
    let sign = if x.bits() & format.sign == 0 { 0 } else { 1 << 63 };
    if is_nan(x) { f64::from_bits(0x7ff8_0000_0000_0000 | payload | sign) } else { double(x) }
}

/// A single, rounded once.
#[inline(always)]
#[must_use]
pub fn from_f32<T: Narrow>(rounding: Rounding, x: f32) -> T {
    from_f64(rounding, f64::from(x))
}

/// A single, rounded once, with `.satfinite`.
#[inline(always)]
#[must_use]
pub fn finite_from_f32<T: Narrow>(rounding: Rounding, x: f32) -> T {
    T::from_bits(T::FORMAT.saturating().encode(rounding, f64::from(x)))
}

/// A signed integer, rounded once.
#[inline(always)]
#[must_use]
pub fn from_s64<T: Narrow>(rounding: Rounding, x: i64) -> T {
    // Ten bits are too many for a double: they leave a trace in the lowest that is kept, which rounds to odd.
    let odd = (x & !0x3ff) | if x & 0x3ff == 0 { 0 } else { 0x400 };
    from_f64(rounding, (if x.unsigned_abs() >> 53 == 0 { x } else { odd }) as f64)
}

/// An unsigned integer, rounded once.
#[inline(always)]
#[must_use]
pub fn from_u64<T: Narrow>(rounding: Rounding, x: u64) -> T {
    let odd = (x & !0x7ff) | if x & 0x7ff == 0 { 0 } else { 0x800 };
    from_f64(rounding, (if x >> 53 == 0 { x } else { odd }) as f64)
}

/// Two numbers of 8 bits, as `.satfinite` rounds them; `.relu` makes negative ones +0.
#[inline(always)]
#[must_use]
pub fn pack(format: FloatFormat, relu: bool, high: f32, low: f32) -> u16 {
    let byte = |x: f32| {
        let bits = format.saturating().encode(Rounding::Nearest, f64::from(x));
        if relu && bits & format.sign != 0 { 0 } else { bits }
    };
    (byte(high) << 8 | byte(low)) as u16
}

/// Two numbers of 8 bits as halves, which hold every one of them.
#[inline(always)]
#[must_use]
pub fn unpack(format: FloatFormat, bits: u16) -> F16x2 {
    let half = |byte: u16| from_f32(Rounding::Nearest, format.decode(u32::from(byte)));
    Pair { low: half(bits & 0xff), high: half(bits >> 8) }
}

/// A single with a significand of 11 bits, rounded once.
#[inline(always)]
#[must_use]
pub fn tf32(rounding: Rounding, x: f32) -> u32 {
    TF32.encode(rounding, f64::from(x)) << TF32_LOW
}

/// As [`tf32`], with `.satfinite`.
#[inline(always)]
#[must_use]
pub fn tf32_finite(rounding: Rounding, x: f32) -> u32 {
    if x.is_nan() { NAN32 } else { TF32.saturating().encode(rounding, f64::from(x)) << TF32_LOW }
}

/// `cvt.rna.tf32.f32`: NaN loses its low bits and nothing else, on an H100.
#[inline(always)]
#[must_use]
pub fn tf32_away(x: f32) -> u32 {
    if x.is_nan() { x.to_bits() >> TF32_LOW << TF32_LOW } else { tf32(Rounding::Away, x) }
}

/// `cvt.rna.satfinite.tf32.f32`: an H100 takes NaN for infinity, and goes one step down.
#[inline(always)]
#[must_use]
pub fn tf32_away_finite(x: f32) -> u32 {
    if x.is_nan() { tf32_away(x) - (1 << TF32_LOW) } else { tf32_finite(Rounding::Away, x) }
}

/// Bits of a single that TF32 does not have.
const TF32_LOW: u32 = 13;

/// `.relu` of TF32.
#[inline(always)]
#[must_use]
pub fn tf32_relu(bits: u32) -> u32 {
    if bits >> 31 == 0 { bits } else { 0 }
}

/// The sum of two doubles, rounded to odd.
#[inline(always)]
fn sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // Knuth's two-sum: `sum + error` is the exact sum.
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    let bits = sum.to_bits();
    let away = (error > 0.0) == (sum > 0.0);
    let odd = if away { bits + 1 } else { bits.wrapping_sub(1) };
    // Not where the error is NaN: there the sum is infinite or NaN.
    f64::from_bits(if (error.abs() > 0.0) & (bits & 1 == 0) { odd } else { bits })
}

/// `add`
#[inline(always)]
#[must_use]
pub fn add<T: Narrow>(a: T, b: T) -> T {
    from_f64(Rounding::Nearest, sum(double(a), double(b)))
}

/// `sub`
#[inline(always)]
#[must_use]
pub fn sub<T: Narrow>(a: T, b: T) -> T {
    from_f64(Rounding::Nearest, sum(double(a), -double(b)))
}

/// `mul`
#[inline(always)]
#[must_use]
pub fn mul<T: Narrow>(a: T, b: T) -> T {
    from_f64(Rounding::Nearest, double(a) * double(b))
}

/// `fma`: one rounding.
#[inline(always)]
#[must_use]
pub fn fma<T: Narrow>(a: T, b: T, c: T) -> T {
    from_f64(Rounding::Nearest, sum(double(a) * double(b), double(c)))
}

/// `mul` with `.ftz`
#[inline(always)]
#[must_use]
pub fn ftz_mul<T: Narrow>(a: T, b: T) -> T {
    round_ftz(double(flush(a)) * double(flush(b)))
}

/// `fma` with `.ftz`
#[inline(always)]
#[must_use]
pub fn ftz_fma<T: Narrow>(a: T, b: T, c: T) -> T {
    round_ftz(sum(double(flush(a)) * double(flush(b)), double(flush(c))))
}

/// A double, rounded once; zero where it would be subnormal even if its exponent had no bound, as in
/// [`float::ftz_mul`](super::float::ftz_mul).
#[inline(always)]
fn round_ftz<T: Narrow>(x: f64) -> T {
    let format = T::FORMAT;
    // Half a unit of the unbounded format below the least normal number, where ties go to it.
    let least = f64::from_bits(((1024 - format.bias) as u64) << 52);
    let bound = least - least * f64::from_bits(((1023 - 2 - format.fraction) as u64) << 52);
    let rounded = from_f64::<T>(Rounding::Nearest, x);
    if x.abs() < bound { T::from_bits(rounded.bits() & format.sign) } else { rounded }
}

/// `neg`
#[inline(always)]
#[must_use]
pub fn neg<T: Narrow>(x: T) -> T {
    T::from_bits(if is_nan(x) { T::FORMAT.nan } else { x.bits() ^ T::FORMAT.sign })
}

/// `abs`
#[inline(always)]
#[must_use]
pub fn abs<T: Narrow>(x: T) -> T {
    T::from_bits(if is_nan(x) { T::FORMAT.nan } else { x.bits() & !T::FORMAT.sign })
}

/// `.ftz`: a subnormal becomes a zero of its sign.
#[inline(always)]
#[must_use]
pub fn flush<T: Narrow>(x: T) -> T {
    let is_subnormal = x.bits() & T::FORMAT.infinity == 0;
    T::from_bits(if is_subnormal { x.bits() & T::FORMAT.sign } else { x.bits() })
}

/// `.sat`: clamped to [0, 1], NaN to +0.
#[inline(always)]
#[must_use]
pub fn saturate<T: Narrow>(x: T) -> T {
    let one = (T::FORMAT.bias as u32) << T::FORMAT.fraction;
    // Negative numbers and NaN without a sign lie above infinity.
    T::from_bits(if x.bits() > T::FORMAT.infinity { 0 } else { x.bits().min(one) })
}

/// `.relu`: what is negative becomes +0.
#[inline(always)]
#[must_use]
pub fn relu<T: Narrow>(x: T) -> T {
    T::from_bits(if x.bits() & T::FORMAT.sign == 0 { x.bits() } else { 0 })
}

#[inline(always)]
fn is_nan<T: Narrow>(x: T) -> bool {
    x.bits() & !T::FORMAT.sign > T::FORMAT.infinity
}

/// An integer in the order of the numbers, -0 below +0.
#[inline(always)]
fn order<T: Narrow>(x: T) -> i16 {
    let bits = x.bits() as i16;
    if bits < 0 { bits ^ i16::MAX } else { bits }
}

/// Of a choice between two: the number where one is NaN, NaN where both are.
#[inline(always)]
fn number_of<T: Narrow>(a: T, b: T, chosen: T) -> T {
    let chosen = if is_nan(a) {
        b
    } else if is_nan(b) {
        a
    } else {
        chosen
    };
    if is_nan(chosen) { T::from_bits(T::FORMAT.nan) } else { chosen }
}

/// `min`
#[inline(always)]
#[must_use]
pub fn min<T: Narrow>(a: T, b: T) -> T {
    number_of(a, b, if order(a) < order(b) { a } else { b })
}

/// `max`
#[inline(always)]
#[must_use]
pub fn max<T: Narrow>(a: T, b: T) -> T {
    number_of(a, b, if order(a) > order(b) { a } else { b })
}

/// `min.NaN`: NaN where either is.
#[inline(always)]
#[must_use]
pub fn min_nan<T: Narrow>(a: T, b: T) -> T {
    if is_nan(a) | is_nan(b) { T::from_bits(T::FORMAT.nan) } else { min(a, b) }
}

/// `max.NaN`: NaN where either is.
#[inline(always)]
#[must_use]
pub fn max_nan<T: Narrow>(a: T, b: T) -> T {
    if is_nan(a) | is_nan(b) { T::from_bits(T::FORMAT.nan) } else { max(a, b) }
}

/// `.xorsign.abs`: of the magnitudes, with the signs' exclusive or.
#[inline(always)]
#[must_use]
pub fn xorsign<T: Narrow>(choose: impl Fn(T, T) -> T, a: T, b: T) -> T {
    let chosen = choose(abs(a), abs(b));
    let sign = (a.bits() ^ b.bits()) & T::FORMAT.sign;
    if is_nan(chosen) { chosen } else { T::from_bits(chosen.bits() | sign) }
}

#[cfg(test)]
mod tests {
    use super::super::format::{Bf16, E4M3, E5M2, F16};
    use super::*;

    fn survive<T: Narrow + PartialEq + std::fmt::Debug>() {
        for x in (0..=0xffff).map(T::from_bits).filter(|&x| !is_nan(x)) {
            assert_eq!(from_f64::<T>(Rounding::Nearest, double(x)), x);
        }
    }

    #[test]
    fn every_number_survives_the_way_through_a_double() {
        survive::<F16>();
        survive::<Bf16>();
        for format in [E4M3, E5M2] {
            for byte in (0..=0xff).filter(|byte| byte & 0x7f <= format.largest) {
                assert_eq!(format.encode(Rounding::Nearest, f64::from(format.decode(byte))), byte);
            }
        }
    }

    #[test]
    fn a_term_too_small_for_a_double_decides_a_tie() {
        // (1 + 2^-7) · 1.5 lies between two numbers of bfloat16.
        let near = |c: u16| fma(Bf16(0x3f81), Bf16(0x3fc0), Bf16(c)).0;
        assert_eq!([near(0x0001), near(0x8001), near(0)], [0x3fc2, 0x3fc1, 0x3fc2]);
        let near = |c: u16| fma(Bf16(0x3f83), Bf16(0x3fc0), Bf16(c)).0;
        assert_eq!([near(0x0001), near(0x8001), near(0)], [0x3fc5, 0x3fc4, 0x3fc4]);
    }

    #[test]
    fn wide_integers_are_rounded_once() {
        let tie = (1i64 << 62) + (1 << 54);
        let rounded = |x: i64| from_s64::<Bf16>(Rounding::Nearest, x).0;
        assert_eq!([rounded(tie), rounded(tie + 1), rounded(-tie - 1)], [0x5e80, 0x5e81, 0xde81]);
        assert_eq!(from_u64::<Bf16>(Rounding::Zero, u64::MAX).0, 0x5f7f);
    }

    #[test]
    fn satfinite_keeps_what_is_no_number() {
        assert_eq!(finite_from_f32::<F16>(Rounding::Nearest, -1e9).0, 0xfbff);
        assert_eq!(finite_from_f32::<F16>(Rounding::Nearest, f32::NAN).0, 0x7fff);
        assert_eq!(pack(E4M3, false, f32::INFINITY, f32::NAN), 0x7e7f);
    }
}
