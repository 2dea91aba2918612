//! Floating-point formats narrower than single precision, by way of doubles, which hold them all exactly.

/// A binary format of IEEE 754's kind: a sign, then this many bits of exponent and of fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    exponent: i32,
    fraction: i32,
}

/// `.f16`
pub(crate) const HALF: Format = Format { exponent: 5, fraction: 10 };
/// `.bf16`
pub(crate) const BRAIN: Format = Format { exponent: 8, fraction: 7 };

impl Format {
    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The bits of infinity.
    fn infinity(self) -> u16 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    /// The number that the bits are.
    pub(crate) fn widen(self, bits: u16) -> f64 {
        let magnitude = bits & 0x7fff;
        let fraction = f64::from(magnitude & ((1 << self.fraction) - 1));
        let exponent = i32::from(magnitude >> self.fraction);
        let value = match magnitude.cmp(&self.infinity()) {
            std::cmp::Ordering::Greater => f64::NAN,
            std::cmp::Ordering::Equal => f64::INFINITY,
            _ if exponent == 0 => fraction * power(1 - self.bias() - self.fraction),
            _ => (fraction + f64::from(1 << self.fraction)) * power(exponent - self.bias() - self.fraction),
        };
        if bits >> 15 == 0 { value } else { -value }
    }

    /// The nearest number of the format, to even where two are as near. NaN becomes the canonical one, 0x7fff.
    pub(crate) fn round(self, x: f64) -> u16 {
        if x.is_nan() {
            return 0x7fff;
        }
        let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
        let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        if exponent > self.bias() {
            return sign | self.infinity();
        }
        // What the last place counts is fixed below the least normal number.
        let exponent = exponent.max(1 - self.bias());
        let places = (x.abs() * power(self.fraction - exponent)).round_ties_even() as u16;
        // A number that was rounded up to the next power of two carries into the exponent, and so to infinity.
        sign | ((((exponent + self.bias() - 1) as u16) << self.fraction) + places)
    }
}

/// A power of two that is a normal double.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_becomes_itself_again() {
        for format in [HALF, BRAIN] {
            for bits in 0..=u16::MAX {
                let x = format.widen(bits);
                let expected = if x.is_nan() { 0x7fff } else { bits };
                assert_eq!(format.round(x), expected, "{bits:#x} of {format:?}");
            }
        }
    }

    #[test]
    fn numbers_between_two_round_to_the_nearer_and_ties_to_even() {
        assert_eq!(
            [1.0, 1.5, 65504.0, 65519.9, 65520.0].map(|x| HALF.round(x)),
            [0x3c00, 0x3e00, 0x7bff, 0x7bff, 0x7c00]
        );
        let unit = 1.0 / 1024.0;
        assert_eq!(
            [1.0 + unit / 2.0, 1.0 + unit * 1.5, 1e-8, 3e-8, -1e300].map(|x| HALF.round(x)),
            [0x3c00, 0x3c02, 0, 1, 0xfc00]
        );
        for x in [1.0f32, 1.003_906_3, 1.011_718_8, 3.4e38, 1e-40, -0.0, 0.1] {
            // A bfloat is the upper half of a single.
            let (bits, lost) = (x.to_bits() >> 16, x.to_bits() & 0xffff);
            let up = lost > 0x8000 || (lost == 0x8000 && bits & 1 == 1);
            assert_eq!(u32::from(BRAIN.round(f64::from(x))), bits + u32::from(up), "{x}");
        }
    }
}
