//! Conversions between numbers (`cvt`, PTX ISA §9.7.9).
//!
//! To an integer, a value outside the range is clamped to it. NaN becomes 0, or the integer's highest bit alone
//! where either side has 64 bits.

use super::float::{Toward, canonical, narrow_toward, select};

/// How a float becomes integral.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integral {
    /// `.rni`
    Nearest,
    /// `.rzi`
    Zero,
    /// `.rmi`
    Minus,
    /// `.rpi`
    Plus,
}

/// Rounds to an integral double.
#[inline(always)]
#[must_use]
pub fn integral64(mode: Integral, x: f64) -> f64 {
    match mode {
        Integral::Nearest => x.round_ties_even(),
        Integral::Zero => x.trunc(),
        Integral::Minus => x.floor(),
        Integral::Plus => x.ceil(),
    }
}

/// Rounds to an integral single; NaN becomes the canonical one.
#[inline(always)]
#[must_use]
pub fn integral32(mode: Integral, x: f32) -> f32 {
    canonical(match mode {
        Integral::Nearest => x.round_ties_even(),
        Integral::Zero => x.trunc(),
        Integral::Minus => x.floor(),
        Integral::Plus => x.ceil(),
    })
}

/// An integer that a float can become.
pub trait FromFloat: Copy {
    /// The clamped value of an integral `x`; NaN becomes 0.
    fn clamp32(x: f32) -> Self;
    /// The clamped value of an integral `x`; NaN becomes 0.
    fn clamp64(x: f64) -> Self;
    /// What NaN becomes where either side has 64 bits.
    const HIGH_BIT: Self;
    /// Whether this integer has 64 bits.
    const WIDE: bool;
}

macro_rules! from_float {
    ($($int:ty),*) => { $(impl FromFloat for $int {
        #[inline(always)]
        fn clamp32(x: f32) -> Self { x as $int }
        #[inline(always)]
        fn clamp64(x: f64) -> Self { x as $int }
        const HIGH_BIT: Self = (1 as $int) << (<$int>::BITS - 1);
        const WIDE: bool = <$int>::BITS == 64;
    })* };
}
from_float!(u8, i8, u16, i16, u32, i32, u64, i64);

/// `cvt.rXi.<int>.f32`
#[inline(always)]
#[must_use]
pub fn int_from_f32<T: FromFloat>(mode: Integral, x: f32) -> T {
    let value = T::clamp32(integral32(mode, x));
    if T::WIDE { select(x.is_nan(), T::HIGH_BIT, value) } else { value }
}

/// `cvt.rXi.<int>.f64`
#[inline(always)]
#[must_use]
pub fn int_from_f64<T: FromFloat>(mode: Integral, x: f64) -> T {
    select(x.is_nan(), T::HIGH_BIT, T::clamp64(integral64(mode, x)))
}

/// `cvt.rn.f32.f64`
#[inline(always)]
#[must_use]
pub fn f32_from_f64(x: f64) -> f32 {
    f32::from_bits(select(x.is_nan(), short_nan(x), (x as f32).to_bits()))
}

/// The NaN that one of double precision becomes: quiet, with the sign and the upper bits, as on an H100.
#[inline(always)]
fn short_nan(x: f64) -> u32 {
    let bits = x.to_bits();
    ((bits >> 32) as u32 & 0x8000_0000) | 0x7fc0_0000 | ((bits >> 29) as u32 & 0x003f_ffff)
}

/// `cvt.rz/rm/rp.f32.f64`
#[inline(always)]
#[must_use]
pub fn f32_from_f64_toward(mode: Toward, x: f64) -> f32 {
    let number = select(x == 0.0, x as f32, narrow_toward(mode, x, 0.0));
    f32::from_bits(select(x.is_nan(), short_nan(x), number.to_bits()))
}

/// `cvt.f64.f32`: a NaN keeps its sign and payload.
#[inline(always)]
#[must_use]
pub fn f64_from_f32(x: f32) -> f64 {
    let bits = u64::from(x.to_bits());
    let nan = 0x7ff8_0000_0000_0000 | (bits & 0x8000_0000) << 32 | (bits & 0x003f_ffff) << 29;
    f64::from_bits(select(x.is_nan(), nan, f64::from(x).to_bits()))
}

/// `cvt.rz/rm/rp.f32.s64` (and every narrower signed integer).
#[inline(always)]
#[must_use]
pub fn f32_from_s64_toward(mode: Toward, x: i64) -> f32 {
    let hi = x as f64;
    narrow_toward(mode, hi, (i128::from(x) - hi as i128) as f64)
}

/// `cvt.rz/rm/rp.f32.u64` (and every narrower unsigned integer).
#[inline(always)]
#[must_use]
pub fn f32_from_u64_toward(mode: Toward, x: u64) -> f32 {
    let hi = x as f64;
    narrow_toward(mode, hi, (i128::from(x) - hi as i128) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_outside_the_range_clamp() {
        assert_eq!(int_from_f32::<i32>(Integral::Zero, 3e9), i32::MAX);
        assert_eq!(int_from_f32::<i32>(Integral::Zero, -3e9), i32::MIN);
        assert_eq!(int_from_f32::<u32>(Integral::Zero, -1.0), 0);
        assert_eq!(int_from_f32::<u8>(Integral::Nearest, 300.0), 255);
        assert_eq!(int_from_f64::<i64>(Integral::Zero, 1e30), i64::MAX);
    }

    #[test]
    fn not_a_number_becomes_what_the_isa_says() {
        assert_eq!(int_from_f32::<i32>(Integral::Zero, f32::NAN), 0);
        assert_eq!(int_from_f32::<u64>(Integral::Zero, f32::NAN), 1 << 63);
        assert_eq!(int_from_f64::<i32>(Integral::Zero, f64::NAN), i32::MIN);
    }

    #[test]
    fn each_rounding_goes_its_own_way() {
        let all = [Integral::Nearest, Integral::Zero, Integral::Minus, Integral::Plus];
        assert_eq!(all.map(|m| int_from_f32::<i32>(m, 2.5)), [2, 2, 2, 3]);
        assert_eq!(all.map(|m| int_from_f32::<i32>(m, -2.5)), [-2, -2, -3, -2]);
        assert_eq!(all.map(|m| integral32(m, -0.25).to_bits()), [0x8000_0000, 0x8000_0000, 0xbf80_0000, 0x8000_0000]);
    }

    #[test]
    fn wide_integers_round_once() {
        let x = (1i64 << 60) + 1;
        assert_eq!(f32_from_s64_toward(Toward::Zero, x), (1u64 << 60) as f32);
        assert!(f32_from_s64_toward(Toward::Plus, x) > (1u64 << 60) as f32);
        assert_eq!(f32_from_u64_toward(Toward::Minus, u64::MAX), (u64::MAX >> 40 << 40) as f32);
    }
}
