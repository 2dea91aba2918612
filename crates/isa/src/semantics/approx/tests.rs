//! Special values, and errors within the bounds that the PTX ISA gives. To the bit these functions are compared with a
//! GPU, in `testkit`.

use super::interpolator::at;
use super::{exponential, hyperbolic, reciprocal};
use crate::semantics::format::{Bf16, F16};

/// The forms as functions of their arguments alone.
mod forms {
    use super::super::forms;
    pub(super) use super::super::forms::{narrowed, rsqrt64};
    use super::at;

    macro_rules! plain {
        ($($name:ident)*) => { $(pub(super) fn $name(x: f32) -> f32 {
            forms::$name(at, x)
        })* };
    }
    plain! { rcp sqrt rsqrt lg2 ex2 sin cos }
}

/// The largest distance from the exact result, in units in the last place, over 200,000 arguments.
fn worst(ours: fn(f32) -> f32, exact: fn(f64) -> f64, low: f32, high: f32) -> f64 {
    arguments(low, high).map(|x| ulps(ours(x), exact(f64::from(x)))).fold(0.0, f64::max)
}

fn arguments(low: f32, high: f32) -> impl Iterator<Item = f32> {
    (0..200_000).map(move |i| low + (high - low) * (i as f32 / 200_000.0))
}

fn ulps(ours: f32, exact: f64) -> f64 {
    let bits = (exact as f32).abs().to_bits().max(0x0080_0000);
    let unit = f64::from(f32::from_bits(bits + 1)) - f64::from(f32::from_bits(bits));
    (f64::from(ours) - exact).abs() / unit
}

#[test]
fn results_are_within_the_bounds_of_the_isa() {
    assert!(worst(forms::rcp, |x| 1.0 / x, 1e-3, 1e3) < 1.0);
    assert!(worst(forms::sqrt, f64::sqrt, 1e-3, 1e3) < 1.5);
    assert!(worst(forms::rsqrt, |x| 1.0 / x.sqrt(), 1e-3, 1e3) < 2.0);
    assert!(worst(forms::ex2, f64::exp2, -126.0, 127.0) < 2.5);
    assert!(worst(forms::lg2, f64::log2, 2.0, 1e4) < 2.5);
    let tangents = arguments(-9.0, 9.0).map(|x| (f64::from(hyperbolic::tanh(x)), f64::from(x).tanh()));
    assert!(tangents.map(|(ours, exact)| (ours - exact).abs() / exact.abs().max(1e-30)).fold(0.0, f64::max) < 2e-3);
}

#[test]
fn angles_lose_what_their_turns_cannot_hold() {
    let worst = |ours: fn(f32) -> f32, exact: fn(f64) -> f64, reach: f32| {
        let error = |x: f32| (f64::from(ours(x)) - exact(f64::from(x))).abs();
        arguments(-reach, reach).map(error).fold(0.0, f64::max)
    };
    // The ISA allows 2^-20.5 within a turn.
    assert!(worst(forms::sin, f64::sin, 3.15).max(worst(forms::cos, f64::cos, 3.15)) < 2f64.powf(-20.5));
    assert!(worst(forms::sin, f64::sin, 100.0) < 2f64.powi(-16));
    assert_eq!([forms::sin(1e12), forms::cos(1e12)], [0.0, 1.0]);
}

#[test]
fn special_values_are_those_of_the_isa() {
    assert_eq!([forms::ex2(f32::INFINITY), forms::ex2(f32::NEG_INFINITY), forms::ex2(0.0)], [f32::INFINITY, 0.0, 1.0]);
    assert_eq!([forms::lg2(0.0), forms::lg2(-0.0)], [f32::NEG_INFINITY; 2]);
    assert_eq!([forms::lg2(f32::INFINITY), forms::lg2(1.0)], [f32::INFINITY, 0.0]);
    assert_eq!([forms::rcp(-0.0), forms::rsqrt(0.0)], [f32::NEG_INFINITY, f32::INFINITY]);
    assert_eq!([hyperbolic::tanh(f32::NEG_INFINITY), hyperbolic::tanh(9.0)], [-1.0, 1.0]);
    assert_eq!(
        [forms::sin(-0.0).to_bits(), hyperbolic::tanh(-0.0).to_bits(), forms::sqrt(-0.0).to_bits()],
        [1 << 31; 3]
    );
    assert_eq!([forms::lg2(-1.0).to_bits(), forms::cos(f32::INFINITY).to_bits()], [0x7fff_ffff; 2]);
    let functions =
        [forms::ex2, forms::lg2, forms::rcp, forms::rsqrt, forms::sin, forms::cos, hyperbolic::tanh, forms::sqrt];
    assert_eq!(functions.map(|f| f(f32::NAN).to_bits()), [0x7fff_ffff; 8]);
}

#[test]
fn without_ftz_subnormals_are_scaled_and_with_it_they_are_zeros() {
    let least = f32::from_bits(1);
    assert_eq!([forms::lg2(least), exponential::lg2(at, least)], [-149.0, f32::NEG_INFINITY]);
    assert_eq!([forms::rsqrt(f32::from_bits(1 << 21)), reciprocal::rsq(at, least)], [2f32.powi(64), f32::INFINITY]);
    assert_eq!([forms::rcp(2f32.powi(127)), reciprocal::rcp(at, 2f32.powi(127))], [2f32.powi(-127), 0.0]);
    assert_eq!([forms::ex2(-149.0), exponential::ex2(at, -149.0)], [least, 0.0]);
}

#[test]
fn the_logarithm_of_a_half_is_not_quite_minus_one_as_on_an_h200() {
    assert_eq!(
        [2.0, 0.5, 0.500_000_06].map(|x| exponential::lg2(at, x).to_bits()),
        [0x3f80_0000, 0xbf7f_fffe, 0xbf7f_fffb]
    );
}

#[test]
fn halves_are_truncated_singles() {
    let f16 = |bits: u16| forms::narrowed(|x| exponential::ex2(at, x), F16(bits)).0;
    assert_eq!([f16(0x4bff), f16(0x4c00), f16(0xcc00)], [0x7bf4, 0x7c00, 0x0100]);
    assert_eq!(forms::narrowed(hyperbolic::tanh, Bf16(0x3f80)).0, (hyperbolic::tanh(1.0).to_bits() >> 16) as u16);
}

#[test]
fn the_double_reciprocal_root_is_nearly_exact() {
    for x in [1.0, 2.0, 3.0, 1e300, 1e-300, f64::from_bits(1), f64::from_bits(0x000f_ffff_ffff_ffff)] {
        let exact = 1.0 / x.sqrt();
        assert!((forms::rsqrt64(x) - exact).abs() <= exact * 3e-16, "{x}");
    }
    assert_eq!(forms::rsqrt64(-0.0), f64::NEG_INFINITY);
    assert_eq!(forms::rsqrt64(-1.0).to_bits(), 0xfff8_0000_0000_0000);
}
