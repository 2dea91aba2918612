//! How far a result may be from the expected one.

use isa::Type;

/// How far a result may be from the expected one. NaN and infinities must be met exactly unless units are counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// The same bits.
    Exact,
    /// `2ulp`: this many numbers away.
    Ulps(u64),
    /// `2^-20.5abs`: an absolute error.
    Absolute(f64),
    /// `2^-22rel`: an error relative to the expected result.
    Relative(f64),
}

impl Tolerance {
    /// Reads a bound.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        let power = |text: &str| Some(text.strip_prefix("2^")?.parse::<f64>().ok()?.exp2());
        if let Some(count) = word.strip_suffix("ulp") {
            return count.parse().ok().map(Self::Ulps);
        }
        match word.strip_suffix("abs") {
            Some(text) => power(text).map(Self::Absolute),
            None => power(word.strip_suffix("rel")?).map(Self::Relative),
        }
    }

    /// Whether `found` is close enough to `expected`; both are bits of the type.
    #[must_use]
    pub fn allows(self, ty: Type, expected: u128, found: u128) -> bool {
        if let Some(half) = half(ty) {
            return [0, 16].iter().all(|at| self.allows(half, expected >> at & 0xffff, found >> at & 0xffff));
        }
        let (from, to) = (value(ty, expected), value(ty, found));
        match self {
            _ if expected == found => true,
            Self::Exact => false,
            Self::Ulps(most) => !from.is_nan() && !to.is_nan() && distance(ty, expected, found) <= u128::from(most),
            Self::Absolute(most) => (from - to).abs() <= most,
            Self::Relative(most) => from.is_finite() && (from - to).abs() <= most * from.abs(),
        }
    }
}

/// What a pair is made of.
fn half(ty: Type) -> Option<Type> {
    match ty {
        Type::F16x2 => Some(Type::F16),
        Type::Bf16x2 => Some(Type::Bf16),
        _ => None,
    }
}

fn value(ty: Type, bits: u128) -> f64 {
    match ty {
        Type::F16 => half_value(bits as u16),
        Type::Bf16 => f64::from(f32::from_bits((bits as u32) << 16)),
        Type::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits as u64),
    }
}

fn half_value(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        31 if fraction != 0.0 => f64::NAN,
        31 => f64::INFINITY,
        0 => fraction * 2f64.powi(-24),
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 0 { magnitude } else { -magnitude }
}

/// How many numbers of the type lie between two, counted from one to the other.
fn distance(ty: Type, a: u128, b: u128) -> u128 {
    let sign = 1u128 << (ty.bits() - 1);
    let order = |bits: u128| if bits & sign == 0 { bits as i128 } else { -((bits ^ sign) as i128) };
    order(a).abs_diff(order(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_as_they_are_written() {
        assert_eq!(Tolerance::from_word("2ulp"), Some(Tolerance::Ulps(2)));
        assert_eq!(Tolerance::from_word("2^-22abs"), Some(Tolerance::Absolute(2f64.powi(-22))));
        assert_eq!(Tolerance::from_word("2^-1rel"), Some(Tolerance::Relative(0.5)));
        for word in ["ulp", "2", "2^xabs", "1e-3rel", "-1ulp", "1ulp/2ulp"] {
            assert_eq!(Tolerance::from_word(word), None, "{word}");
        }
    }

    #[test]
    fn units_are_counted_across_zero_and_nan_is_near_nothing() {
        let near = |a: u128, b: u128| Tolerance::Ulps(2).allows(Type::F32, a, b);
        assert!(near(0x8000_0001, 1) && near(0x3f80_0000, 0x3f80_0002) && near(0x7f7f_ffff, 0x7f80_0000));
        assert!(!near(0x8000_0001, 2) && !near(0x7f80_0000, 0x7f80_0001) && !near(0x3f80_0000, 0xbf80_0000));
        assert!(!Tolerance::Absolute(1.0).allows(Type::F32, 0x7fff_ffff, 0));
        assert!(!Tolerance::Relative(1.0).allows(Type::F32, 0x7f80_0000, 0x3f80_0000));
    }
}
