//! Double precision in the directed rounding modes, in integers.
//!
//! No wider format holds the exact results, as there is one for single precision, and so a result is a significand of
//! up to 128 bits with a note whether it is a little more. Infinities and NaN do not round and are left to the host.

use super::float::{Toward, nan_of, nan_of_three, nan_of_two};

const HIDDEN: u64 = 1 << 52;
const INFINITY: u64 = 0x7ff << 52;
/// The exponent of the lowest bit of a subnormal.
const LEAST: i32 = -1074;

/// `significand · 2^exponent`, and a little more in magnitude where `more` says so.
#[derive(Clone, Copy)]
struct Exact {
    negative: bool,
    significand: u128,
    exponent: i32,
    more: bool,
}

impl Exact {
    /// A finite double.
    fn of(x: f64) -> Self {
        let magnitude = x.to_bits() & (u64::MAX >> 1);
        let biased = (magnitude >> 52) as i32;
        let fraction = magnitude & (HIDDEN - 1);
        let significand = u128::from(if biased == 0 { fraction } else { fraction | HIDDEN });
        Self { negative: x.is_sign_negative(), significand, exponent: LEAST + (biased - 1).max(0), more: false }
    }

    /// How many bits the significand has.
    fn length(self) -> u32 {
        128 - self.significand.leading_zeros()
    }

    /// The same number with a significand of this many bits, which has at most as many now.
    fn widened(self, length: u32) -> Self {
        let by = length.saturating_sub(self.length());
        Self { significand: self.significand << by, exponent: self.exponent - by as i32, ..self }
    }

    fn times(self, other: Self) -> Self {
        Self {
            negative: self.negative != other.negative,
            significand: self.significand * other.significand,
            exponent: self.exponent + other.exponent,
            more: false,
        }
    }

    /// The sum of two numbers that are not zero and have no more than 106 bits.
    fn plus(self, other: Self) -> Self {
        // The larger begins at bit 125: a carry has room, and what the smaller loses lies far below its lowest bit.
        let top = |x: Self| x.exponent + x.length() as i32;
        let (large, small) = if top(self) >= top(other) { (self, other) } else { (other, self) };
        let large = large.widened(126);
        let shift = small.exponent - large.exponent;
        let (part, more) = if shift >= 0 {
            (small.significand << shift, false)
        } else {
            let lost = shift.unsigned_abs();
            let kept = small.significand.checked_shr(lost).unwrap_or(0);
            (kept, kept.checked_shl(lost) != Some(small.significand))
        };
        if large.negative == small.negative {
            return Self { significand: large.significand + part, more, ..large };
        }
        let negative = if large.significand >= part { large.negative } else { small.negative };
        // Less a little more is one less, and a little more.
        let significand = large.significand.abs_diff(part) - u128::from(more);
        Self { negative, significand, more, ..large }
    }

    /// Rounds once.
    fn round(self, mode: Toward) -> f64 {
        let quantum = (self.exponent + self.length() as i32 - 53).max(LEAST);
        let drop = quantum - self.exponent;
        let (kept, rest) = if drop > 0 {
            let kept = self.significand.checked_shr(drop as u32).unwrap_or(0);
            (kept, kept.checked_shl(drop as u32) != Some(self.significand))
        } else {
            (self.significand << -drop, false)
        };
        let away = match mode {
            Toward::Zero => false,
            Toward::Minus => self.negative,
            Toward::Plus => !self.negative,
        };
        // The hidden bit counts as one step of the exponent; a carry out of the significand as another.
        let bits = kept as u64 + u64::from(away && (rest || self.more)) + (((quantum - LEAST) as u64) << 52);
        let beyond = if away { INFINITY } else { INFINITY - 1 };
        let bits = if bits >= INFINITY || quantum > 1023 - 52 { beyond } else { bits };
        f64::from_bits(bits | u64::from(self.negative) << 63)
    }
}

/// `add` toward a direction.
#[must_use]
pub fn add(mode: Toward, a: f64, b: f64) -> f64 {
    fma(mode, a, 1.0, b)
}

/// `sub` toward a direction.
#[must_use]
pub fn sub(mode: Toward, a: f64, b: f64) -> f64 {
    if b.is_nan() { nan_of(b, b) } else { add(mode, a, -b) }
}

/// `mul` toward a direction.
#[must_use]
pub fn mul(mode: Toward, a: f64, b: f64) -> f64 {
    if !a.is_normal() && !a.is_subnormal() || !b.is_normal() && !b.is_subnormal() {
        return nan_of_two(b, a, a * b);
    }
    Exact::of(a).times(Exact::of(b)).round(mode)
}

/// `fma` toward a direction.
#[must_use]
pub fn fma(mode: Toward, a: f64, b: f64, c: f64) -> f64 {
    if !(a.is_finite() && b.is_finite() && c.is_finite()) {
        return nan_of_three(b, c, a, a.mul_add(b, c));
    }
    let (product, term) = (Exact::of(a).times(Exact::of(b)), Exact::of(c));
    match (product.significand, term.significand) {
        (0, 0) => zero(mode, product.negative, term.negative),
        (0, _) => c,
        (_, 0) => product.round(mode),
        _ => {
            let sum = product.plus(term);
            if sum.significand == 0 && !sum.more { zero(mode, true, false) } else { sum.round(mode) }
        }
    }
}

/// A sum that is exactly zero: −0 of two negative zeros, and toward −∞ of terms of opposite signs (IEEE 754, §6.3).
fn zero(mode: Toward, a_negative: bool, b_negative: bool) -> f64 {
    let negative = if a_negative == b_negative { a_negative } else { mode == Toward::Minus };
    if negative { -0.0 } else { 0.0 }
}

/// `div` toward a direction.
#[must_use]
pub fn div(mode: Toward, a: f64, b: f64) -> f64 {
    if !a.is_finite() || !b.is_finite() || a == 0.0 || b == 0.0 {
        return nan_of_two(a, b, a / b);
    }
    let (a, b) = (Exact::of(a).widened(126), Exact::of(b).widened(53));
    Exact {
        negative: a.negative != b.negative,
        significand: a.significand / b.significand,
        exponent: a.exponent - b.exponent,
        more: a.significand % b.significand != 0,
    }
    .round(mode)
}

/// `sqrt` toward a direction.
#[must_use]
pub fn sqrt(mode: Toward, a: f64) -> f64 {
    if !(a > 0.0 && a.is_finite()) {
        return nan_of(a, a.sqrt());
    }
    let wide = Exact::of(a).widened(126);
    let odd = wide.exponent.rem_euclid(2);
    let significand = wide.significand << odd;
    let root = significand.isqrt();
    Exact { negative: false, significand: root, exponent: (wide.exponent - odd) / 2, more: root * root != significand }
        .round(mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [f64; 12] = [1.0, -1.5, 0.1, 3e-310, -5e-324, 1.7e308, -1e300, 2.5e-160, 7.0, -1e-17, 0.0, -0.0];

    #[test]
    fn directed_results_enclose_the_nearest() {
        let enclosed = |low: f64, near: f64, high: f64, what: &str| {
            let same = low == near && near == high || near.is_nan();
            let apart = low < high && high.to_bits().abs_diff(low.to_bits()) == 1 && (near == low || near == high);
            let across_zero = low <= 0.0 && high >= 0.0 && high - low <= 5e-324;
            let top = near.is_infinite() && (low == f64::MAX || high == f64::MIN);
            assert!(same || apart || across_zero || top, "{what}: {low:e} {near:e} {high:e}");
        };
        for a in VALUES {
            let (low, high) = (sqrt(Toward::Minus, a), sqrt(Toward::Plus, a));
            enclosed(low, a.sqrt(), high, "sqrt");
            for b in VALUES {
                enclosed(add(Toward::Minus, a, b), a + b, add(Toward::Plus, a, b), "add");
                enclosed(mul(Toward::Minus, a, b), a * b, mul(Toward::Plus, a, b), "mul");
                enclosed(div(Toward::Minus, a, b), a / b, div(Toward::Plus, a, b), "div");
                for c in VALUES {
                    let (low, high) = (fma(Toward::Minus, a, b, c), fma(Toward::Plus, a, b, c));
                    enclosed(low, a.mul_add(b, c), high, "fma");
                }
            }
        }
    }

    #[test]
    fn a_sum_of_zero_is_negative_toward_minus_infinity_alone() {
        assert!(add(Toward::Minus, 1.0, -1.0).is_sign_negative());
        assert!(add(Toward::Plus, 1.0, -1.0).is_sign_positive());
        assert!(add(Toward::Zero, -0.0, -0.0).is_sign_negative());
    }
}
