//! The arithmetic of quantised operators, to the last bit that of ONNX Runtime on x86.
//!
//! Everything that is no integer has 32 bits. A product and a sum are joined only where [`f32::mul_add`] says so.

/// What a stored byte means: `scale * (byte - zero)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantisation {
    /// The step between neighbouring bytes; finite and above 0.
    pub scale: f32,
    /// The byte that stands for 0.
    pub zero: u8,
}

impl Quantisation {
    /// The value of a byte.
    #[must_use]
    pub fn value(self, byte: u8) -> f32 {
        self.scale * (f32::from(byte) - f32::from(self.zero))
    }

    /// The values of bytes.
    #[must_use]
    pub fn values(self, bytes: &[u8]) -> Vec<f64> {
        bytes.iter().map(|&byte| f64::from(self.value(byte))).collect()
    }

    /// The byte that is nearest to a value; an exact half goes to the even one.
    #[must_use]
    pub fn stored(self, value: f32) -> u8 {
        ((value / self.scale).round_ties_even() + f32::from(self.zero)).clamp(0.0, 255.0) as u8
    }
}

impl Quantisation {
    /// The byte of another quantisation for the value of this byte: the byte itself if both are equal.
    #[must_use]
    pub fn rescaled(self, byte: u8, to: Self) -> u8 {
        if self == to { byte } else { to.stored(self.value(byte)) }
    }
}

/// Adding it to a number below 2²² leaves the nearest integer in the low bits, ties to even.
const ROUNDER: f32 = 12_582_912.0;

/// The byte of an accumulator: product, nearest integer (ties to even), zero point, clamped.
#[must_use]
#[inline]
pub fn requantise(accumulator: i32, multiplier: f32, zero: u8) -> u8 {
    let zero = i32::from(zero);
    // The bounds are integers, so that it makes no difference which comes first, clamping or rounding.
    let bounded = (accumulator as f32 * multiplier).clamp(-zero as f32, (255 - zero) as f32);
    let nearest = (bounded + ROUNDER).to_bits() as i32 - ROUNDER.to_bits() as i32;
    (nearest + zero) as u8
}

/// What an accumulator of products is multiplied with; `weight` is the scale of the filter.
#[must_use]
pub fn multiplier(input: Quantisation, weight: f32, output: Quantisation) -> f32 {
    (input.scale * weight) / output.scale
}

/// What a sum of `count` values is multiplied with to be their average.
#[must_use]
pub fn average_multiplier(input: Quantisation, count: usize, output: Quantisation) -> f32 {
    input.scale / (output.scale * count as f32)
}

/// The byte of the average of some bytes, as `QLinearAveragePool` has it: values are added in this order, divided by `count`, or
/// by how many they are where it is none.
#[must_use]
pub fn average(bytes: impl Iterator<Item = u8>, count: Option<usize>, [from, to]: [Quantisation; 2]) -> u8 {
    let (sum, read) = bytes.fold((0.0_f32, 0_usize), |(sum, read), byte| (sum + from.value(byte), read + 1));
    let average = sum / count.unwrap_or(read).max(1) as f32;
    (average / to.scale + f32::from(to.zero)).round_ties_even().clamp(0.0, 255.0) as u8
}

/// The byte of the average of `count` bytes of a channel that lies behind `before` numbers, as `ReduceMean` between DequantizeLinear and
/// QuantizeLinear has it: values are added by fours from where memory is aligned, two fours at once, and the rest after them.
#[must_use]
pub fn mean(byte: impl Fn(usize) -> u8, count: usize, before: usize, [from, to]: [Quantisation; 2]) -> u8 {
    const LANES: usize = 4;
    let value = |at: usize| from.value(byte(at));
    let first = ((LANES - before % LANES) % LANES).min(count);
    let fours = (count - first) / LANES;
    let four = |number: usize| -> [f32; LANES] { std::array::from_fn(|lane| value(first + number * LANES + lane)) };
    let add = |a: [f32; LANES], b: [f32; LANES]| -> [f32; LANES] { std::array::from_fn(|lane| a[lane] + b[lane]) };
    let mut sum = 0.0;
    if fours > 0 {
        let mut even = four(0);
        if fours > 1 {
            let mut odd = four(1);
            for pair in 1..fours / 2 {
                even = add(even, four(2 * pair));
                odd = add(odd, four(2 * pair + 1));
            }
            even = add(even, odd);
        }
        if fours > 1 && fours % 2 == 1 {
            even = add(even, four(fours - 1));
        }
        sum = (even[0] + even[2]) + (even[1] + even[3]);
    }
    let rest = (0..first).chain(first + fours * LANES..count);
    to.stored(rest.fold(sum, |sum, at| sum + value(at)) / count.max(1) as f32)
}

/// The constants of sums of two bytes, as `QLinearAdd` has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SumTerms {
    ratios: [f32; 2],
    fixed: f32,
}

impl SumTerms {
    /// Sums of bytes of the first two quantisations, in bytes of the third.
    pub(crate) fn new([of_a, of_b, of_sum]: [Quantisation; 3]) -> Self {
        let ratios = [of_a.scale / of_sum.scale, of_b.scale / of_sum.scale];
        let fixed = f32::from(of_sum.zero) - ratios[0].mul_add(f32::from(of_a.zero), f32::from(of_b.zero) * ratios[1]);
        Self { ratios, fixed }
    }

    /// The byte of a sum.
    #[inline(always)]
    pub(crate) fn sum(&self, a: u8, b: u8) -> u8 {
        let sum = f32::from(a).mul_add(self.ratios[0], f32::from(b).mul_add(self.ratios[1], self.fixed));
        let bounded = sum.round_ties_even().clamp(0.0, 255.0);
        // Of a number within a byte, the low bits hold the integer when this is added; NaN becomes 0, as it does by `as`.
        if bounded.is_nan() { 0 } else { (bounded + ROUNDER).to_bits() as u8 }
    }
}

/// The constants of products of two bytes, as `QLinearMul` has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ProductTerms {
    zeros: [i32; 2],
    factor: f32,
    /// The zero point as the file has it, and what was added to signed bytes.
    zero: f32,
    shift: f32,
}

impl ProductTerms {
    /// Products of bytes of the first two quantisations, in bytes of the third, which were signed or not before they were stored.
    pub(crate) fn new([of_a, of_b, of_product]: [Quantisation; 3], is_signed: bool) -> Self {
        let shift = if is_signed { 128.0 } else { 0.0 };
        Self {
            zeros: [i32::from(of_a.zero), i32::from(of_b.zero)],
            factor: of_a.scale * of_b.scale / of_product.scale,
            zero: f32::from(of_product.zero) - shift,
            shift,
        }
    }

    /// The byte of a product. The zero point is added before it is rounded, so that a half goes to the even byte.
    #[inline(always)]
    pub(crate) fn product(&self, a: u8, b: u8) -> u8 {
        let product = (i32::from(a) - self.zeros[0]) * (i32::from(b) - self.zeros[1]);
        let rounded = (product as f32 * self.factor + self.zero).round_ties_even();
        let bounded = (rounded + self.shift).clamp(0.0, 255.0);
        if bounded.is_nan() { 0 } else { (bounded + ROUNDER).to_bits() as u8 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::Draws;

    #[test]
    fn requantising_is_product_rounding_and_clamping_also_of_ties() {
        let plain = |accumulator: i32, multiplier: f32, zero: u8| {
            let rounded = (accumulator as f32 * multiplier).round_ties_even() + f32::from(zero);
            rounded.clamp(0.0, 255.0) as u8
        };
        let mut draws = Draws::new(1, 0);
        for accumulator in -3000..3000 {
            // Halves and quarters make ties.
            for (multiplier, zero) in [(0.5, 0), (0.25, 7), (0.125, 128), (1.5, 255), (draws.unit() as f32, 100)] {
                assert_eq!(
                    requantise(accumulator, multiplier, zero),
                    plain(accumulator, multiplier, zero),
                    "{accumulator} * {multiplier} + {zero}"
                );
            }
        }
        for accumulator in [i32::MIN, i32::MAX, 1 << 25, -(1 << 25)] {
            for multiplier in [1.0, f32::MAX, f32::MIN_POSITIVE, 1e-7] {
                assert_eq!(requantise(accumulator, multiplier, 3), plain(accumulator, multiplier, 3));
            }
        }
        assert_eq!([requantise(1, 0.5, 0), requantise(3, 0.5, 0), requantise(5, 0.5, 0)], [0, 2, 2]);
    }

    #[test]
    fn averages_round_with_their_zero_point_and_other_scales_round_before_it() {
        let of = |scale, zero| Quantisation { scale, zero };
        let mean = |bytes: &[u8], count, to| average(bytes.iter().copied(), count, [of(1.0, 0), to]);
        // Halves go to the even byte: 0.5 to 0, 1.5 to 2; with the zero point 1, 1.5 goes to 2.
        assert_eq!([mean(&[0, 1], None, of(1.0, 0)), mean(&[1, 2], None, of(1.0, 0))], [0, 2]);
        assert_eq!([mean(&[0, 1], None, of(1.0, 1)), mean(&[1, 2], None, of(1.0, 1))], [2, 2]);
        assert_eq!(
            [mean(&[8, 8], Some(4), of(1.0, 0)), mean(&[255], None, of(0.5, 0)), mean(&[], None, of(1.0, 9))],
            [4, 255, 9]
        );
        let (one, other) = (of(1.0, 10), of(2.0, 1));
        assert_eq!([10, 11, 13, 0, 255].map(|byte| one.rescaled(byte, other)), [1, 1, 3, 0, 123]);
        assert_eq!([0, 200].map(|byte| other.rescaled(byte, of(2.0, 1))), [0, 200]);
    }

    #[test]
    fn products_round_with_their_zero_point_which_is_that_of_the_file() {
        let of = |scale, zero| Quantisation { scale, zero };
        let multiply = |a, b, zero, is_signed| {
            ProductTerms::new([of(0.5, 10), of(1.0, 0), of(1.0, zero)], is_signed).product(a, b)
        };
        // Halves go to the even byte: 0.5 to 0, 1.5 to 2; with the zero point 1, 0.5 goes to 1 + 1.
        assert_eq!([multiply(11, 1, 0, false), multiply(13, 1, 0, false), multiply(11, 1, 1, false)], [0, 2, 2]);
        assert_eq!([multiply(255, 255, 0, false), multiply(0, 255, 7, false), multiply(10, 9, 7, false)], [255, 0, 7]);
        for (a, b, zero) in (0..=255).flat_map(|a| [(a, 3, 128), (a, 77, 129), (a, 200, 3)]) {
            assert_eq!(multiply(a, b, zero, true), multiply(a, b, zero, false), "{a} * {b}");
        }
        // Near a half, what is left of a sum depends on how large it is.
        let signed = |is_signed| {
            let quantisations = [of(1.0, 0), of(0.5 - f32::EPSILON, 0), of(1.0, 129)];
            ProductTerms::new(quantisations, is_signed).product(1, 1)
        };
        assert_eq!([signed(true), signed(false)], [129, 130]);
    }

    #[test]
    fn sums_round_to_even_and_stay_within_a_byte() {
        let of = |scale, zero| Quantisation { scale, zero };
        let add = |a, b, quantisations| SumTerms::new(quantisations).sum(a, b);
        let halved = [of(1.0, 0), of(1.0, 0), of(2.0, 0)];
        assert_eq!([add(1, 0, halved), add(1, 2, halved), add(255, 255, halved)], [0, 2, 255]);
        let shifted = [of(1.0, 10), of(1.0, 20), of(1.0, 0)];
        assert_eq!([add(10, 20, shifted), add(0, 0, shifted), add(255, 255, shifted)], [0, 0, 255]);
    }
}
