//! The `.approx` functions, computed in double precision and rounded once.
//!
//! The PTX ISA gives these instructions error bounds, not bits. Ours are within 0.51 units in the last place of
//! the exact result (the polynomials below have relative error under 10⁻⁹; the angle of a sine is another, see there), use only IEEE operations, and so give
//! the same bits on every machine. Where a GPU's own table lookup differs, both are within the published bound.

use super::float::{NAN32, canonical, flush, nan_of, select};

/// `rcp.approx.f32`
#[inline(always)]
#[must_use]
pub fn rcp(x: f32) -> f32 {
    canonical(1.0 / x)
}

/// `sqrt.approx.f32`
#[inline(always)]
#[must_use]
pub fn sqrt(x: f32) -> f32 {
    canonical(x.sqrt())
}

/// `rsqrt.approx.f32`
#[inline(always)]
#[must_use]
pub fn rsqrt(x: f32) -> f32 {
    canonical((1.0 / f64::from(x).sqrt()) as f32)
}

/// `ex2.approx.f32`: 2 to the power x.
#[inline(always)]
#[must_use]
pub fn ex2(x: f32) -> f32 {
    canonical(exp2(f64::from(x)) as f32)
}

/// 2^x in double precision, within 10⁻¹⁰ relative, for the range of a single-precision result.
#[inline(always)]
fn exp2(x: f64) -> f64 {
    // Beyond these the single-precision result is 0 or infinite; NaN passes through the clamp.
    let x = select(x > 200.0, 200.0, x);
    let x = select(x < -200.0, -200.0, x);
    // Adding and subtracting 1.5·2^52 rounds to the nearest integer, and leaves that integer in the low bits.
    let shifted = x + ROUND;
    let n = shifted.to_bits() << 52;
    let r = (x - (shifted - ROUND)) * std::f64::consts::LN_2;
    // Taylor series of e^r for |r| ≤ ln2 / 2; the first dropped term is below 4·10⁻¹².
    let p = r.mul_add(1.0 / 362_880.0, 1.0 / 40_320.0);
    let p = r.mul_add(p, 1.0 / 5_040.0);
    let p = r.mul_add(p, 1.0 / 720.0);
    let p = r.mul_add(p, 1.0 / 120.0);
    let p = r.mul_add(p, 1.0 / 24.0);
    let p = r.mul_add(p, 1.0 / 6.0);
    let p = r.mul_add(p, 0.5);
    let p = r.mul_add(p, 1.0);
    let p = r.mul_add(p, 1.0);
    f64::from_bits(p.to_bits().wrapping_add(select(p.is_nan(), 0, n)))
}

const ROUND: f64 = 6_755_399_441_055_744.0;

/// `lg2.approx.f32`: the logarithm to base 2.
#[inline(always)]
#[must_use]
pub fn lg2(x: f32) -> f32 {
    let wide = f64::from(x);
    let bits = wide.to_bits();
    // m in [√½, √2): the exponent is rounded at √2 by adding the distance from √2's significand to the next power.
    let shifted = bits.wrapping_add(0x3ff0_0000_0000_0000 - 0x3fe6_a09e_667f_3bcd);
    let exponent = ((shifted >> 52) as i64 - 1023) as f64;
    let m = f64::from_bits((shifted & 0x000f_ffff_ffff_ffff) + 0x3fe6_a09e_667f_3bcd);
    // ln m = 2·atanh(t); the first dropped term is below 10⁻¹¹.
    let t = (m - 1.0) / (m + 1.0);
    let s = t * t;
    let p = s.mul_add(1.0 / 13.0, 1.0 / 11.0);
    let p = s.mul_add(p, 1.0 / 9.0);
    let p = s.mul_add(p, 1.0 / 7.0);
    let p = s.mul_add(p, 1.0 / 5.0);
    let p = s.mul_add(p, 1.0 / 3.0);
    let p = s.mul_add(p, 1.0);
    let value = ((2.0 * std::f64::consts::LOG2_E) * t).mul_add(p, exponent) as f32;
    let whole = select(x < f32::INFINITY, value.to_bits(), f32::INFINITY.to_bits());
    let none = select(x == 0.0, f32::NEG_INFINITY.to_bits(), NAN32);
    f32::from_bits(select(x > 0.0, whole, none))
}

/// `sin.approx.f32`
#[inline(always)]
#[must_use]
pub fn sin(x: f32) -> f32 {
    circular(x, 0)
}

/// `cos.approx.f32`
#[inline(always)]
#[must_use]
pub fn cos(x: f32) -> f32 {
    circular(x, 1)
}

/// The sine of x plus `quarter` quarter turns. As on a GPU, the angle is first turned into revolutions by one
/// multiplication toward zero; where these are whole, as all large ones are, nothing is left of it.
#[inline(always)]
fn circular(x: f32, quarter: u64) -> f32 {
    const REVOLUTIONS: f32 = f32::from_bits(0x3e22_f983);
    const WHOLE: f32 = 8_388_608.0;
    let turns = toward_zero(f64::from(x) * f64::from(REVOLUTIONS));
    let quarters = select(turns.abs() < WHOLE, 4.0 * f64::from(turns), 0.0);
    let shifted = quarters + ROUND;
    let quadrant = shifted.to_bits().wrapping_add(quarter);
    let r = (quarters - (shifted - ROUND)) * std::f64::consts::FRAC_PI_2;
    let s = r * r;
    let sine = s.mul_add(-1.0 / 39_916_800.0, 1.0 / 362_880.0);
    let sine = s.mul_add(sine, -1.0 / 5_040.0);
    let sine = s.mul_add(sine, 1.0 / 120.0);
    let sine = s.mul_add(sine, -1.0 / 6.0);
    let sine = (r * s).mul_add(sine, r);
    let cosine = s.mul_add(-1.0 / 3_628_800.0, 1.0 / 40_320.0);
    let cosine = s.mul_add(cosine, -1.0 / 720.0);
    let cosine = s.mul_add(cosine, 1.0 / 24.0);
    let cosine = s.mul_add(cosine, -0.5);
    let cosine = s.mul_add(cosine, 1.0);
    let value = select(quadrant & 1 == 0, sine, cosine);
    let value = select(quadrant & 2 == 0, value, -value) as f32;
    let value = select((x == 0.0) & (quarter == 0), x, value);
    f32::from_bits(select(x.is_finite(), value.to_bits(), NAN32))
}

/// The single nearest to a double on the side of zero.
#[inline(always)]
fn toward_zero(x: f64) -> f32 {
    let near = x as f32;
    let beyond = f64::from(near).abs() > x.abs();
    f32::from_bits(near.to_bits() - u32::from(beyond))
}

/// `tanh.approx.f32`
#[inline(always)]
#[must_use]
pub fn tanh(x: f32) -> f32 {
    let wide = f64::from(x);
    // 1 − 2/(e^2x + 1) loses the leading bits of a small x; its series does not need the exponential.
    let e = exp2((2.0 * std::f64::consts::LOG2_E) * wide.clamp(-20.0, 20.0));
    let s = wide * wide;
    let small = (wide * s).mul_add(s.mul_add(2.0 / 15.0, -1.0 / 3.0), wide);
    let large = (e - 1.0) / (e + 1.0);
    // The series turns −0 into +0.
    canonical(select(x == 0.0, x, select(wide.abs() < 0.02, small, large) as f32))
}

/// `div.approx.f32`: a times the reciprocal of b, which is flushed to zero where |b| is above 2^126 (§9.7.3.8).
#[inline(always)]
#[must_use]
pub fn div(a: f32, b: f32) -> f32 {
    const LARGE: f32 = f32::from_bits(0x7e80_0000);
    canonical(select((b.abs() > LARGE) & b.is_finite(), a * 0.0f32.copysign(b), a / b))
}

/// `rcp.approx.ftz.f64`: of the upper half of the operand, the upper half of the reciprocal.
#[inline(always)]
#[must_use]
pub fn rcp64(x: f64) -> f64 {
    gross(1.0 / upper_half(x))
}

/// `rsqrt.approx.ftz.f64`: of the upper half of the operand, the upper half of the reciprocal square root.
#[inline(always)]
#[must_use]
pub fn rsqrt64_ftz(x: f64) -> f64 {
    gross(1.0 / upper_half(x).sqrt())
}

/// `rsqrt.approx.f64`, which GPUs compute in software: within 1.5 units in the last place.
#[inline(always)]
#[must_use]
pub fn rsqrt64(x: f64) -> f64 {
    nan_of(x, 1.0 / x.sqrt())
}

/// The upper 32 bits of a double, a subnormal flushed.
#[inline(always)]
fn upper_half(x: f64) -> f64 {
    let bits = x.to_bits() & 0xffff_ffff_0000_0000;
    let subnormal = bits & 0x7ff0_0000_0000_0000 == 0;
    f64::from_bits(select(subnormal, bits & 0x8000_0000_0000_0000, bits))
}

/// The result of a `gross approximation`: upper half, flushed; NaN has an encoding of its own (§9.7.3.14).
#[inline(always)]
fn gross(x: f64) -> f64 {
    f64::from_bits(select(x.is_nan(), 0x7fff_ffff_0000_0000, upper_half(x).to_bits()))
}

/// An approximate function of one argument with `.ftz`.
#[inline(always)]
#[must_use]
pub fn flushed(f: impl Fn(f32) -> f32, x: f32) -> f32 {
    flush(f(flush(x)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ulps(ours: f32, exact: f64) -> f64 {
        let near = exact as f32;
        let unit = f64::from(f32::from_bits((near.abs().to_bits()).max(0x0080_0000) + 1))
            - f64::from(f32::from_bits(near.abs().to_bits().max(0x0080_0000)));
        (f64::from(ours) - exact).abs() / unit
    }

    fn sweep(low: f32, high: f32) -> impl Iterator<Item = f32> {
        (0..200_000).map(move |i| low + (high - low) * (i as f32 / 200_000.0))
    }

    #[test]
    fn results_are_within_the_stated_bound() {
        let worst = |f: fn(f32) -> f32, g: fn(f64) -> f64, low: f32, high: f32| {
            sweep(low, high).map(|x| ulps(f(x), g(f64::from(x)))).fold(0.0, f64::max)
        };
        assert!(worst(ex2, f64::exp2, -126.0, 127.0) < 0.51);
        assert!(worst(lg2, f64::log2, 1e-30, 4.0) < 0.51);
        assert!(worst(lg2, f64::log2, 0.9, 1.1) < 0.51);
        assert!(worst(rsqrt, |x| 1.0 / x.sqrt(), 1e-3, 1e3) < 0.51);
        assert!(worst(tanh, f64::tanh, -12.0, 12.0) < 0.51);
    }

    #[test]
    fn angles_lose_what_their_revolutions_cannot_hold() {
        let worst = |f: fn(f32) -> f32, g: fn(f64) -> f64, reach: f32| {
            let error = |x: f32| (f64::from(f(x)) - g(f64::from(x))).abs();
            sweep(-reach, reach).map(error).fold(0.0, f64::max)
        };
        // The ISA allows 2^-20.5 within a turn.
        assert!(worst(sin, f64::sin, 3.15).max(worst(cos, f64::cos, 3.15)) < 2f64.powf(-20.6));
        assert!(worst(sin, f64::sin, 100.0) < 2f64.powi(-16));
        assert_eq!([sin(1e12), cos(1e12)], [0.0, 1.0]);
    }

    #[test]
    fn special_values_are_those_of_the_isa() {
        assert_eq!(ex2(f32::INFINITY), f32::INFINITY);
        assert_eq!(ex2(f32::NEG_INFINITY), 0.0);
        assert_eq!(ex2(0.0), 1.0);
        assert_eq!(lg2(0.0), f32::NEG_INFINITY);
        assert_eq!(lg2(-0.0), f32::NEG_INFINITY);
        assert_eq!(lg2(f32::INFINITY), f32::INFINITY);
        assert_eq!(lg2(1.0), 0.0);
        assert_eq!(rcp(-0.0), f32::NEG_INFINITY);
        assert_eq!(rsqrt(0.0), f32::INFINITY);
        assert_eq!(tanh(f32::NEG_INFINITY), -1.0);
        assert_eq!(sin(-0.0).to_bits(), 0x8000_0000);
        for f in [ex2, lg2, rcp, rsqrt, sin, cos, tanh, sqrt] {
            assert_eq!(f(f32::NAN).to_bits(), 0x7fff_ffff);
        }
        assert_eq!(lg2(-1.0).to_bits(), 0x7fff_ffff);
        assert_eq!(cos(f32::INFINITY).to_bits(), 0x7fff_ffff);
    }

    #[test]
    fn logarithms_of_subnormals_are_exact_enough() {
        assert_eq!(lg2(f32::from_bits(1)), -149.0);
        assert_eq!(flushed(lg2, f32::from_bits(1)), f32::NEG_INFINITY);
    }
}
