//! Operands for vectors in large numbers: random, biased to where instructions go wrong.
//!
//! Every operand is drawn from a mixture: edges of integers and floats of its width, uniform bits, small integers,
//! integers with a random number of significant bits, floats near one and floats that are nearly whole, and values
//! close to another operand of the row. A row is a function of the key of its form and its number, through
//! [`stats::Draws`], so rows need not be kept.

use isa::Type;
use stats::Draws;

/// A key for the rows of a form, from its name. FNV-1a, for ever: the vectors of GPUs in the repository are of these rows.
#[must_use]
pub fn key(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The operands of a row.
#[must_use]
pub fn row(key: u64, number: u64, types: &[Type]) -> Vec<u128> {
    let mut random = Random(Draws::new(key, number));
    let mut operands: Vec<u128> = Vec::with_capacity(types.len());
    for &ty in types {
        let bits = random.operand(ty, &operands);
        operands.push(bits & mask(ty.bits()));
    }
    operands
}

fn mask(bits: u32) -> u128 {
    u128::MAX >> (128 - bits)
}

/// A floating-point format: bits of its exponent and of its fraction.
#[derive(Clone, Copy)]
struct Format {
    exponent: u32,
    fraction: u32,
}

impl Format {
    fn bits(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    fn sign(self) -> u64 {
        1 << (self.exponent + self.fraction)
    }

    fn bias(self) -> u64 {
        (1 << (self.exponent - 1)) - 1
    }

    fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }
}

const HALF: Format = Format { exponent: 5, fraction: 10 };
const BRAIN: Format = Format { exponent: 8, fraction: 7 };
const SINGLE: Format = Format { exponent: 8, fraction: 23 };
const DOUBLE: Format = Format { exponent: 11, fraction: 52 };

struct Random(Draws);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound).unwrap_or(0)
    }

    fn choose<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// Bits for an operand of a type; registers that instructions read as floats may be declared as integers, so
    /// both are drawn for every width.
    fn operand(&mut self, ty: Type, before: &[u128]) -> u128 {
        match ty.bits() {
            1 => u128::from(self.below(2)),
            8 => u128::from(self.integer(8)),
            16 => u128::from(self.sixteen(ty, before)),
            32 if matches!(ty, Type::F16x2 | Type::Bf16x2) => self.pair(ty, before),
            32 if self.below(8) == 0 => self.pair(Type::F16x2, before),
            32 => u128::from(self.mixed(SINGLE, before)),
            64 => u128::from(self.mixed(DOUBLE, before)),
            _ => u128::from(self.mixed(DOUBLE, before)) | u128::from(self.mixed(DOUBLE, before)) << 64,
        }
    }

    fn pair(&mut self, ty: Type, before: &[u128]) -> u128 {
        let half = if ty == Type::Bf16x2 { Type::Bf16 } else { Type::F16 };
        let halves = |shift: u32| before.iter().map(|bits| bits >> shift & 0xffff).collect::<Vec<_>>();
        u128::from(self.sixteen(half, &halves(0))) | u128::from(self.sixteen(half, &halves(16))) << 16
    }

    fn sixteen(&mut self, ty: Type, before: &[u128]) -> u64 {
        let format = match ty {
            Type::F16 => HALF,
            Type::Bf16 => BRAIN,
            _ => self.choose(&[HALF, BRAIN]),
        };
        self.mixed(format, before) & 0xffff
    }

    /// An integer or a float of the format's width, or something close to an operand before it.
    fn mixed(&mut self, format: Format, before: &[u128]) -> u64 {
        let width = format.bits();
        match self.below(16) {
            0..4 => self.integer(width),
            4 => self.0.next(),
            5..7 if !before.is_empty() => self.near(before, format),
            _ => self.float(format),
        }
    }

    fn integer(&mut self, width: u32) -> u64 {
        let ones = u64::MAX >> (64 - width);
        let bits = match self.below(4) {
            0 => {
                let top = 1u64 << (width - 1);
                let half = 1u64 << (width / 2);
                self.choose(&[
                    0,
                    1,
                    2,
                    3,
                    ones,
                    ones - 1,
                    top,
                    top - 1,
                    top + 1,
                    half,
                    half - 1,
                    ones / 3,
                    ones / 3 * 2,
                ])
            }
            // Distances, positions, lengths.
            1 => self.below(140).wrapping_sub(35),
            2 => self.0.next(),
            _ => {
                let bits = (self.0.next() & ones) >> self.below(u64::from(width));
                if self.below(2) == 0 { bits } else { !bits }
            }
        };
        bits & ones
    }

    /// An operand again, a neighbour of it, or its negative as an integer or a float.
    fn near(&mut self, before: &[u128], format: Format) -> u64 {
        let other = self.choose(before) as u64;
        match self.below(8) {
            0 => other,
            1 => other ^ format.sign(),
            2 => other.wrapping_neg(),
            3 => other.wrapping_add(1),
            4 => other.wrapping_sub(1) ^ format.sign(),
            // The product lies at the end of the normal numbers, the lower one mostly.
            5 | 6 => {
                let end = if self.below(3) == 0 { (1 << format.exponent) - 2 } else { 1 };
                let exponent = (other & (format.sign() - 1)) >> format.fraction;
                let wanted = (end + format.bias() + self.below(3)).saturating_sub(exponent + 1);
                let ones = (1u64 << format.fraction) - 1;
                let random = self.0.next();
                let fraction = self.choose(&[0, 0, ones, ones, random & ones]);
                wanted.min((1 << format.exponent) - 2) << format.fraction | fraction
            }
            // Of the same size.
            _ => {
                let fraction = (1 << format.fraction) - 1;
                (other & !fraction) | (self.0.next() & fraction)
            }
        }
    }

    fn float(&mut self, format: Format) -> u64 {
        let sign = if self.below(2) == 0 { 0 } else { format.sign() };
        sign | self.magnitude(format)
    }

    fn magnitude(&mut self, format: Format) -> u64 {
        let step = 1u64 << format.fraction;
        let (one, infinity) = (format.bias() << format.fraction, format.infinity());
        match self.below(8) {
            // Zero, subnormal and normal ends, one and its neighbours, infinity, a quiet and a signalling NaN.
            0 | 1 => {
                let ends = [0, 1, step - 1, step, step + 1, infinity - 1, infinity, infinity + 1, infinity | step >> 1];
                let middle = [one - 1, one, one + 1, one - step, one + step, one + step / 2, one - step / 2];
                if self.below(2) == 0 { self.choose(&ends) } else { self.choose(&middle) }
            }
            // Any exponent.
            2 => self.0.next() & (format.sign() - 1),
            // Subnormal.
            3 => (self.0.next() & (step - 1)) >> self.below(u64::from(format.fraction)),
            // Nearly whole, or nearly a half: what conversions round.
            4 => {
                let exponent = format.bias() + self.below(u64::from(format.fraction) + 4);
                let kept = self.below(u64::from(format.fraction) + 1);
                let fraction = (self.0.next() & (step - 1)) >> kept << kept;
                let exponent = exponent.min((1 << format.exponent) - 2);
                (exponent << format.fraction | fraction).wrapping_add(self.choose(&[0, 0, 1, u64::MAX]))
            }
            // Near one.
            _ => {
                let reach = u64::from(format.fraction) + 3;
                let exponent = (format.bias() + self.below(2 * reach)).saturating_sub(reach).max(1);
                let exponent = exponent.min((1 << format.exponent) - 2);
                exponent << format.fraction | (self.0.next() & (step - 1))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_depend_on_their_key_and_number_alone_and_fit_their_types() {
        let types = [Type::F32, Type::U64, Type::F16x2, Type::Pred, Type::B128, Type::S16, Type::B8];
        let rows: Vec<Vec<u128>> = (0..2000).map(|number| row(key("add.f32"), number, &types)).collect();
        assert_eq!(rows[17], row(key("add.f32"), 17, &types));
        assert_ne!(rows[17], row(key("add.f64"), 17, &types));
        for operands in &rows {
            assert!(operands.iter().zip(types).all(|(bits, ty)| bits & !mask(ty.bits()) == 0));
        }
        let singles = || rows.iter().map(|operands| f32::from_bits(operands[0] as u32));
        assert!(singles().filter(|single| single.is_nan()).count() > 20);
        assert!(singles().filter(|single| single.is_subnormal()).count() > 20);
        assert!(singles().filter(|single| (0.001..1000.0).contains(&single.abs())).count() > 300);
    }
}
