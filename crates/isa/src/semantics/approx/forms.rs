//! The `.approx` instructions of PTX, as the sequences of machine instructions that `ptxas` makes of them for sm_90.
//!
//! Without `.ftz` an argument that the unit would take for zero is scaled before it, and the result after it; both are
//! ordinary multiplications. What has no form of its own here is the unit's function itself.

use super::circular::{self, turns};
use super::exponential;
use super::interpolator::Look;
use super::reciprocal::{self, rsq64};
use super::word::select;
use crate::semantics::float::{self, NAN64};
use crate::semantics::format::{Narrow, Rounding};
use crate::semantics::narrow;

/// 2⁻¹²⁶, the least normal number.
const TINY: f32 = f32::MIN_POSITIVE;
/// 2²⁴, which makes every subnormal a normal number.
const UP: f32 = 16_777_216.0;
/// 2¹²⁶; the reciprocal of what is larger is subnormal.
const LARGE: f32 = f32::from_bits(0x7e80_0000);

/// `f` of x, of x·2²⁴ where x is subnormal; then `undo` of the result.
#[inline(always)]
fn lifted(f: impl FnOnce(f32) -> f32, undo: impl Fn(f32) -> f32, x: f32) -> f32 {
    let subnormal = x.abs() < TINY;
    let result = f(float::mul(x, select(subnormal, UP, 1.0)));
    select_bits(subnormal, undo(result), result)
}

/// A choice between floats that keeps the bits of NaNs.
#[inline(always)]
fn select_bits(choice: bool, yes: f32, no: f32) -> f32 {
    f32::from_bits(select(choice, yes.to_bits(), no.to_bits()))
}

/// `rcp.approx.f32`
#[inline(always)]
#[must_use]
pub fn rcp(look: impl Look, x: f32) -> f32 {
    let scale = select(x.abs() > LARGE, 0.25, select(x.abs() < TINY, UP, 1.0));
    float::mul(scale, reciprocal::rcp(look, float::mul(x, scale)))
}

/// `sqrt.approx.f32`
#[inline(always)]
#[must_use]
pub fn sqrt(look: impl Look, x: f32) -> f32 {
    lifted(|x| reciprocal::sqrt(look, x), |root| float::mul(root, 1.0 / 4096.0), x)
}

/// `rsqrt.approx.f32`
#[inline(always)]
#[must_use]
pub fn rsqrt(look: impl Look, x: f32) -> f32 {
    lifted(|x| reciprocal::rsq(look, x), |root| float::mul(root, 4096.0), x)
}

/// `lg2.approx.f32`
#[inline(always)]
#[must_use]
pub fn lg2(look: impl Look, x: f32) -> f32 {
    let subnormal = x.abs() < TINY;
    let logarithm = exponential::lg2(look, float::mul(x, select(subnormal, UP, 1.0)));
    // No logarithm is -0: adding nothing changes none.
    float::add(logarithm, select(subnormal, -24.0, 0.0))
}

/// `ex2.approx.f32`: where the result is subnormal, the square of that of half the argument.
#[inline(always)]
#[must_use]
pub fn ex2(look: impl Look, x: f32) -> f32 {
    let small = x < -126.0;
    let result = exponential::ex2(look, float::mul(x, select(small, 0.5, 1.0)));
    select_bits(small, float::mul(result, result), result)
}

/// `sin.approx.f32`, with and without `.ftz`
#[inline(always)]
#[must_use]
pub fn sin(look: impl Look, x: f32) -> f32 {
    circular::sin(look, turns(x))
}

/// `cos.approx.f32`, with and without `.ftz`
#[inline(always)]
#[must_use]
pub fn cos(look: impl Look, x: f32) -> f32 {
    circular::cos(look, turns(x))
}

/// `div.approx.f32`
#[inline(always)]
#[must_use]
pub fn div(look: impl Look, a: f32, b: f32) -> f32 {
    let scale = select(b.abs() < TINY, UP, 1.0);
    float::mul(reciprocal::rcp(look, float::mul(b, scale)), float::mul(a, scale))
}

/// `div.approx.ftz.f32`
#[inline(always)]
#[must_use]
pub fn div_ftz(look: impl Look, a: f32, b: f32) -> f32 {
    float::ftz_mul(float::mul, a, reciprocal::rcp(look, b))
}

/// `div.full.f32`
#[inline(always)]
#[must_use]
pub fn div_full(look: impl Look, a: f32, b: f32) -> f32 {
    let scale = select(b.abs() > LARGE, 0.25, select(b.abs() < TINY, UP, 1.0));
    float::mul(reciprocal::rcp(look, float::mul(b, scale)), float::mul(a, scale))
}

/// `div.full.ftz.f32`
#[inline(always)]
#[must_use]
pub fn div_full_ftz(look: impl Look, a: f32, b: f32) -> f32 {
    let large = b.abs() > LARGE;
    let quarter = |x: f32| select_bits(large, float::ftz_mul(float::mul, x, 0.25), x);
    float::ftz_mul(float::mul, reciprocal::rcp(look, quarter(b)), quarter(a))
}

/// `rsqrt.approx.f64`: one step of Householder's method from the unit's upper half, and for subnormals the same of x·2⁵⁴.
#[inline(always)]
#[must_use]
pub fn rsqrt64(x: f64) -> f64 {
    let subnormal = x.abs() < f64::MIN_POSITIVE;
    let scaled = select(subnormal, x * 18_014_398_509_481_984.0, x);
    let near = rsq64(scaled);
    let error = scaled.mul_add(-(near * near), 1.0);
    let refined = error.mul_add(0.375, 0.5).mul_add(near * error, near);
    let number = select(subnormal, refined * 134_217_728.0, refined);
    let positive = select(x == f64::INFINITY, 0, number.to_bits());
    let number = select(x < 0.0, NAN64, positive);
    let number = select(x == 0.0, f64::INFINITY.copysign(x).to_bits(), number);
    float::nan_of(x, f64::from_bits(number))
}

/// A function of 16 bits: that of the argument as a single, of which the upper bits remain. What the format has no
/// exponent for is infinite.
#[inline(always)]
#[must_use]
pub fn narrowed<T: Narrow>(f: impl Fn(f32) -> f32, x: T) -> T {
    let result = f(narrow::single(x));
    let overflows = result.to_bits() >> 23 & 0xff > (T::FORMAT.bias + 127) as u32;
    narrow::from_f32(if overflows { Rounding::Nearest } else { Rounding::Zero }, result)
}
