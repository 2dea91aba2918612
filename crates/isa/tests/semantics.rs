//! Properties of the semantics: rounding goes the way it says, NaN and zeros follow the ISA, conversions clamp.

use isa::semantics::convert::{Integral, f32_from_f64_toward, f32_from_s64_toward, int_from_f32, int_from_f64};
use isa::semantics::float::{self, Toward};
use isa::semantics::format::{Bf16, F16, Narrow, Rounding};
use isa::semantics::{int, narrow};
use proptest::prelude::*;

/// Any bits, with the edges often.
fn floats() -> impl Strategy<Value = f32> {
    prop_oneof![
        any::<u32>().prop_map(f32::from_bits),
        prop::sample::select(vec![0.0, -0.0, 1.0, f32::MIN_POSITIVE, f32::MAX, f32::INFINITY, f32::NAN, -f32::MAX]),
        (1u32..0x0080_0000).prop_map(f32::from_bits),
        -1000.0f32..1000.0,
    ]
}

/// Numbers whose sums and products are exact in double precision.
fn moderate() -> impl Strategy<Value = f32> {
    (-(1i32 << 23)..(1 << 23), -10i32..10).prop_map(|(m, e)| m as f32 * f32::powi(2.0, e))
}

/// Whether `rounded` is the neighbour of `exact` on the side that the mode asks for.
fn is_toward(mode: Toward, exact: f64, rounded: f32) -> bool {
    let wide = f64::from(rounded);
    let below = wide <= exact && f64::from(rounded.next_up()) > exact;
    let above = wide >= exact && f64::from(rounded.next_down()) < exact;
    match mode {
        Toward::Minus => below,
        Toward::Plus => above,
        Toward::Zero => {
            if exact >= 0.0 {
                below
            } else {
                above
            }
        }
    }
}

const MODES: [Toward; 3] = [Toward::Zero, Toward::Minus, Toward::Plus];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn directed_results_are_the_neighbours_that_the_mode_names(a in moderate(), b in moderate(), c in moderate()) {
        for mode in MODES {
            let (wide_a, wide_b, wide_c) = (f64::from(a), f64::from(b), f64::from(c));
            prop_assert!(is_toward(mode, wide_a + wide_b, float::add_toward(mode, a, b)));
            prop_assert!(is_toward(mode, wide_a * wide_b, float::mul_toward(mode, a, b)));
            prop_assert!(is_toward(mode, wide_a, f32_from_f64_toward(mode, wide_a)));
            // The product has 46 bits; with exponents this close its sum with c fits into 128.
            let scale = 2f64.powi(20);
            let exact = (wide_a * wide_b * scale) as i128 + (wide_c * scale) as i128;
            let fused = float::fma_toward(mode, a, b, c);
            let wide = (f64::from(fused) * scale) as i128;
            let ordered = match mode {
                Toward::Minus => wide <= exact,
                Toward::Plus => wide >= exact,
                Toward::Zero => wide.abs() <= exact.abs(),
            };
            prop_assert!(ordered, "{mode:?} fma({a}, {b}, {c}) = {fused}");
        }
    }

    #[test]
    fn nearest_lies_between_down_and_up(a in floats(), b in floats(), c in floats()) {
        let near = float::fma(a, b, c);
        let (down, up) = (float::fma_toward(Toward::Minus, a, b, c), float::fma_toward(Toward::Plus, a, b, c));
        prop_assert_eq!(near.is_nan(), down.is_nan() && up.is_nan());
        if !near.is_nan() {
            prop_assert!(down <= near && near <= up, "{down} {near} {up}");
        }
    }

    #[test]
    fn a_nan_result_is_the_canonical_one(a in floats(), b in floats(), c in floats()) {
        let results = [float::add(a, b), float::sub(a, b), float::mul(a, b), float::fma(a, b, c), float::div(a, b),
            float::sqrt(a), float::min(a, b), float::max(a, b), float::min_nan(a, b), float::max_nan(a, b)];
        for result in results {
            prop_assert!(!result.is_nan() || result.to_bits() == 0x7fff_ffff);
        }
    }

    #[test]
    fn min_and_max_prefer_numbers_and_order_zeros(a in floats(), b in floats()) {
        let (least, most) = (float::min(a, b), float::max(a, b));
        prop_assert_eq!(least.is_nan(), a.is_nan() && b.is_nan());
        prop_assert_eq!(least.to_bits(), float::min(b, a).to_bits());
        prop_assert_eq!(most.to_bits(), float::max(b, a).to_bits());
        if !a.is_nan() && !b.is_nan() {
            prop_assert!(least <= most);
        }
        prop_assert_eq!(float::min_nan(a, b).is_nan(), a.is_nan() || b.is_nan());
    }

    #[test]
    fn flushing_and_saturating_are_idempotent(a in floats()) {
        let flushed = float::flush(a);
        prop_assert!(!flushed.is_subnormal());
        prop_assert_eq!(flushed.is_sign_negative(), a.is_sign_negative());
        let saturated = float::saturate(a);
        prop_assert!((0.0..=1.0).contains(&saturated) && saturated.is_sign_positive());
        prop_assert_eq!(float::saturate(saturated).to_bits(), saturated.to_bits());
    }

    #[test]
    fn conversions_to_integers_clamp_what_rounding_gives(
        a in floats(),
        wide in any::<u64>().prop_map(f64::from_bits),
    ) {
        let clamped = |x: f64| x.clamp(f64::from(i32::MIN), f64::from(i32::MAX));
        if !a.is_nan() {
            let exact = f64::from(a);
            prop_assert_eq!(f64::from(int_from_f32::<i32>(Integral::Minus, a)), clamped(exact.floor()));
            prop_assert_eq!(f64::from(int_from_f32::<u16>(Integral::Plus, a)), exact.ceil().clamp(0.0, 65535.0));
        }
        if !wide.is_nan() {
            prop_assert_eq!(f64::from(int_from_f64::<i32>(Integral::Zero, wide)), clamped(wide.trunc()));
        }
    }

    #[test]
    fn long_integers_round_once(x: i64) {
        let (down, up) = (f32_from_s64_toward(Toward::Minus, x), f32_from_s64_toward(Toward::Plus, x));
        prop_assert!(down as i128 <= i128::from(x) && i128::from(x) <= up as i128);
        prop_assert!(down == up || down.next_up() == up);
    }

    #[test]
    fn funnel_shifts_agree_with_a_shift_of_both_words(a: u32, b: u32, by in 0u32..33) {
        let both = (u128::from(b) << 32) | u128::from(a);
        prop_assert_eq!(int::funnel_left(a, b, by), ((both << by) >> 32) as u32);
        prop_assert_eq!(int::funnel_right(a, b, by), (both >> by) as u32);
    }

    #[test]
    fn a_quotient_and_its_remainder_give_the_dividend_back(a: i64, b in prop_oneof![Just(0i64), Just(-1), any::<i64>()]) {
        if b == 0 {
            prop_assert_eq!((int::div_s64(a, b), int::rem_s64(a, b)), (-1, -1));
        } else {
            prop_assert_eq!(int::div_s64(a, b).wrapping_mul(b).wrapping_add(int::rem_s64(a, b)), a);
        }
    }
}

/// A double rounded to nearest, as bits.
fn rounded<T: Narrow>(x: f64) -> u32 {
    narrow::from_f64::<T>(Rounding::Nearest, x).bits()
}

#[test]
fn every_number_of_16_bits_becomes_itself_again() {
    fn check<T: Narrow>() {
        for bits in 0..=0xffff {
            let x = f64::from(narrow::single(T::from_bits(bits)));
            let expected = if x.is_nan() { 0x7fff } else { bits };
            assert_eq!(rounded::<T>(x), expected, "{bits:#x}");
        }
    }
    check::<F16>();
    check::<Bf16>();
}

#[test]
fn numbers_between_two_of_16_bits_round_to_the_nearer_and_ties_to_even() {
    assert_eq!([1.0, 1.5, 65504.0, 65519.9, 65520.0].map(rounded::<F16>), [0x3c00, 0x3e00, 0x7bff, 0x7bff, 0x7c00]);
    let unit = 1.0 / 1024.0;
    assert_eq!(
        [1.0 + unit / 2.0, 1.0 + unit * 1.5, 1e-8, 3e-8, -1e300].map(rounded::<F16>),
        [0x3c00, 0x3c02, 0, 1, 0xfc00]
    );
    for x in [1.0f32, 1.003_906_3, 1.011_718_8, 3.4e38, 1e-40, -0.0, 0.1] {
        // A bfloat is the upper half of a single.
        let (bits, lost) = (x.to_bits() >> 16, x.to_bits() & 0xffff);
        let up = lost > 0x8000 || (lost == 0x8000 && bits & 1 == 1);
        assert_eq!(rounded::<Bf16>(f64::from(x)), bits + u32::from(up), "{x}");
    }
}
