//! Exponentials, and what is made of them, that are the same on every machine: the standard library leaves their last bits to the platform.

/// eˣ by reduction to |r| ≤ ln 2 / 2 and Taylor's series to the 13th power, whose rest is below half a unit in the last place.
/// Below -708 it is 0.
#[must_use]
pub fn exp(x: f64) -> f64 {
    const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    // Adding and subtracting it rounds to the nearest whole number.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    if x.is_nan() {
        return f64::NAN;
    }
    if x > 709.0 {
        return f64::INFINITY;
    }
    if x < -708.0 {
        return 0.0;
    }
    let k = (x * std::f64::consts::LOG2_E + WHOLE) - WHOLE;
    let r = (x - k * LN2_HIGH) - k * LN2_LOW;
    let mut sum = 1.0;
    for power in (1..=13).rev() {
        sum = 1.0 + sum * r / f64::from(power);
    }
    sum * f64::from_bits(((k as i64 + 1023) as u64) << 52)
}

/// The Gaussian error linear unit in its form with the hyperbolic tangent, as GPT-2 has it, rounded once.
#[must_use]
pub fn gelu(x: f32) -> f32 {
    const ROOT: f64 = 0.797_884_560_802_865_4;
    let x = f64::from(x);
    let u = ROOT * (x + 0.044_715 * x * x * x);
    let tanh = 1.0 - 2.0 / (exp(2.0 * u) + 1.0);
    (0.5 * x * (1.0 + tanh)) as f32
}

/// The error function, by its series of positive terms, whose rest is below the last place; beyond 6 it is 1.
#[must_use]
pub fn erf(x: f64) -> f64 {
    if x.is_nan() || x == 0.0 {
        return x;
    }
    if x.abs() > 6.0 {
        return x.signum();
    }
    let (mut term, mut sum, mut odd) = (1.0, 1.0, 1.0);
    while term > sum * 1e-17 {
        odd += 2.0;
        term *= 2.0 * x * x / odd;
        sum += term;
    }
    std::f64::consts::FRAC_2_SQRT_PI * x * exp(-x * x) * sum
}

/// The Gaussian error linear unit in its form with the error function, rounded once.
#[must_use]
pub fn gelu_erf(x: f32) -> f32 {
    let x = f64::from(x);
    (0.5 * x * (1.0 + erf(x * std::f64::consts::FRAC_1_SQRT_2))) as f32
}

/// The logistic function 1 / (1 + e⁻ˣ), rounded once.
#[must_use]
pub fn sigmoid(x: f32) -> f32 {
    (1.0 / (1.0 + exp(-f64::from(x)))) as f32
}

/// The hyperbolic tangent, rounded once; small numbers by the first terms of its series, where the difference would lose its bits.
#[must_use]
pub fn tanh(x: f32) -> f32 {
    let x = f64::from(x);
    let tanh = if x.abs() < 1e-3 { x - x * x * x / 3.0 } else { 1.0 - 2.0 / (exp(2.0 * x) + 1.0) };
    tanh as f32
}

/// The softmax: the exponential of each number, less the largest, as a share of their sum, which is added up in 64 bits in their order.
/// All are NaN where one is NaN or the largest is infinite.
pub fn softmax(values: &mut [f32]) {
    let largest = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let power = |value: f32| exp(f64::from(value) - f64::from(largest));
    let sum: f64 = values.iter().map(|&value| power(value)).sum();
    values.iter_mut().for_each(|value| *value = (power(*value) / sum) as f32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_those_of_the_library_but_for_their_last_bits() {
        for step in -70_000..70_900 {
            let x = f64::from(step) / 100.0;
            let (found, expected) = (exp(x), x.exp());
            assert!((found - expected).abs() <= expected * 4e-16, "{x}: {found} {expected}");
        }
        assert!(exp(f64::NAN).is_nan());
        assert_eq!([f64::NEG_INFINITY, 0.0, f64::INFINITY].map(exp), [0.0, 1.0, f64::INFINITY]);
    }

    #[test]
    fn the_unit_passes_large_values_and_stops_small_ones() {
        assert_eq!([0.0, 100.0, -100.0, f32::INFINITY].map(gelu), [0.0, 100.0, -0.0, f32::INFINITY]);
        assert!((gelu(1.0) - 0.841_192).abs() < 1e-6 && (gelu(-1.0) + 0.158_808).abs() < 1e-6);
    }

    #[test]
    fn sigmoid_and_tanh_are_those_of_the_library_within_their_last_bit_and_have_their_limits() {
        for step in -40_000..40_000 {
            let x = f64::from(step) / 2000.0;
            for x in [x, x * 1e-4, x * 1e-30].map(|x| x as f32) {
                let wide = f64::from(x);
                for (found, expected) in [(sigmoid(x), 1.0 / (1.0 + (-wide).exp())), (tanh(x), wide.tanh())] {
                    assert!((f64::from(found) - expected).abs() <= expected.abs() * 6e-8, "{x}: {found} {expected}");
                }
            }
        }
        assert_eq!([f32::NEG_INFINITY, 0.0, f32::INFINITY].map(sigmoid), [0.0, 0.5, 1.0]);
        assert_eq!([f32::NEG_INFINITY, -0.0, f32::INFINITY].map(tanh), [-1.0, -0.0, 1.0]);
        assert!(sigmoid(f32::NAN).is_nan() && tanh(f32::NAN).is_nan());
    }

    #[test]
    fn the_error_function_is_odd_has_its_limits_and_its_known_values() {
        let known = [(0.1, 0.112_462_916_018_284_9), (0.5, 0.520_499_877_813_046_5), (1.0, 0.842_700_792_949_714_9)];
        let tails = [(2.0, 0.995_322_265_018_952_7), (3.0, 0.999_977_909_503_001_4), (5.0, 0.999_999_999_998_462_5)];
        for (x, expected) in known.into_iter().chain(tails) {
            assert!((erf(x) - expected).abs() < 2e-15 && erf(-x).to_bits() == (-erf(x)).to_bits(), "{x}: {}", erf(x));
        }
        assert_eq!([f64::NEG_INFINITY, -7.0, 0.0, 7.0, f64::INFINITY].map(erf), [-1.0, -1.0, 0.0, 1.0, 1.0]);
        assert_eq!(erf(1e-300), 1e-300 * std::f64::consts::FRAC_2_SQRT_PI);
        assert!(erf(f64::NAN).is_nan() && gelu_erf(f32::NAN).is_nan());
        assert_eq!([0.0, 100.0, -100.0, f32::INFINITY].map(gelu_erf), [0.0, 100.0, -0.0, f32::INFINITY]);
        assert!((gelu_erf(1.0) - 0.841_344_7).abs() < 1e-7 && (gelu_erf(-1.0) + 0.158_655_25).abs() < 1e-7);
    }

    #[test]
    fn shares_of_exponentials_are_one_together_and_nan_where_the_largest_is_not_finite() {
        let of = |mut values: [f32; 3]| {
            softmax(&mut values);
            values
        };
        assert_eq!(of([7.0; 3]), [1.0 / 3.0; 3]);
        assert_eq!(of([1000.0, -1000.0, f32::NEG_INFINITY]), [1.0, 0.0, 0.0]);
        assert!([f32::INFINITY, f32::NAN].iter().all(|&first| of([first, 0.0, 1.0]).iter().all(|it| it.is_nan())));
    }
}
