//! Sums and products of quantities that are known within bounds.
//!
//! The bounds of a sum are as far from it as the bounds of its parts are from theirs, by Pythagoras (MOVER, the method of
//! variance estimates recovery: G. Y. Zou & A. Donner, *Construction of confidence limits about effect measures: a general
//! approach*, Statistics in Medicine 27, 2008); those of a product are the same for logarithms. The parts must be
//! independent of each other and their bounds of one confidence, which the result has approximately.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::confidence::Confidence;
use crate::draws::Draws;

/// A quantity that is not negative, and its bounds: `low <= value <= high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounded {
    /// The estimate.
    pub value: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl Bounded {
    /// Nothing, for sure.
    pub const ZERO: Self = Self { value: 0.0, low: 0.0, high: 0.0 };

    /// What is known exactly.
    #[must_use]
    pub fn exact(value: f64) -> Self {
        Self { value, low: value, high: value }
    }

    /// So many times as much.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, low: self.low * factor, high: self.high * factor }
    }

    /// The logarithm of a factor by which an estimate with these bounds, at 95 %, may miss the truth: normal on either side.
    pub fn log_error(self, draws: &mut Draws) -> f64 {
        // The middle of one of 2⁵³ steps, so that neither end is drawn.
        let z = Normal::standard().inverse_cdf(draws.unit() + f64::EPSILON / 4.0);
        let bound = if z < 0.0 { self.low } else { self.high };
        (bound / self.value).ln().abs() * z / Confidence::PERCENT_95.z()
    }

    /// All of several together.
    #[must_use]
    pub fn sum(parts: impl IntoIterator<Item = Self>) -> Self {
        let (mut value, mut below, mut above) = (0.0, 0.0, 0.0);
        for part in parts {
            value += part.value;
            below += (part.value - part.low).powi(2);
            above += (part.high - part.value).powi(2);
        }
        Self { value, low: (value - f64::sqrt(below)).max(0.0), high: value + f64::sqrt(above) }
    }

    /// Two multiplied. Where one of them is estimated as nothing, the upper bound is the product of the upper bounds.
    #[must_use]
    pub fn product(self, other: Self) -> Self {
        let value = self.value * other.value;
        if value == 0.0 {
            return Self { value, low: 0.0, high: self.high * other.high };
        }
        let reach = |of: fn(Self) -> f64| {
            let ratio = |it: Self| (of(it) / it.value).ln();
            ratio(self).hypot(ratio(other)).exp()
        };
        Self { value, low: value / reach(|it| it.low), high: value * reach(|it| it.high) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Proportion;

    fn of(value: f64, low: f64, high: f64) -> Bounded {
        Bounded { value, low, high }
    }

    #[test]
    fn exact_parts_have_exact_sums_and_products() {
        let sum = Bounded::sum([2.0, 3.0].map(Bounded::exact));
        assert_eq!(sum, Bounded::exact(5.0));
        assert_eq!(sum.product(Bounded::exact(4.0)), Bounded::exact(20.0));
        assert_eq!(Bounded::sum([]), Bounded::ZERO);
    }

    #[test]
    fn bounds_add_up_by_pythagoras() {
        assert_eq!(Bounded::sum([of(10.0, 7.0, 11.0), of(20.0, 16.0, 20.0)]), of(30.0, 25.0, 31.0));
        assert_eq!(Bounded::sum([of(1.0, 0.0, 4.0), of(0.0, 0.0, 4.0)]), of(1.0, 0.0, 6.0));
    }

    #[test]
    fn bounds_multiply_as_logarithms_add_up() {
        let found = of(1.0, (-3f64).exp(), 3f64.exp()).product(of(2.0, 2.0 * (-4f64).exp(), 2.0 * 4f64.exp()));
        assert!((found.value - 2.0).abs() < 1e-12 && (found.low / (2.0 * (-5f64).exp()) - 1.0).abs() < 1e-12);
        assert!((found.high / (2.0 * 5f64.exp()) - 1.0).abs() < 1e-12);
        assert_eq!(of(0.0, 0.0, 0.1).product(of(2.0, 1.0, 3.0)), of(0.0, 0.0, 3.0 * 0.1));
        assert_eq!(of(0.5, 0.0, 1.0).product(Bounded::exact(2.0)), of(1.0, 0.0, 2.0), "a lower bound of nothing stays");
    }

    /// How often the interval of Σ Rᵢ Σ ρᵢⱼ pᵢⱼ holds the truth: R is measured within log-normal errors, p by so many trials.
    fn coverage(runs: u64, p: &[[f64; 2]; 3], errors: [f64; 3]) -> f64 {
        const WORLDS: u64 = 4000;
        let z = Confidence::PERCENT_95.z();
        let truth: f64 = p.iter().flatten().sum();
        let held = (0..WORLDS).filter(|&world| {
            let mut draws = Draws::new(77, world);
            let mut part = |(p, &error): (&[f64; 2], &f64)| {
                let bounds = of(1.0, (-z * error).exp(), (z * error).exp());
                let rate = bounds.times((-bounds.log_error(&mut draws)).exp());
                let mut share = |&p: &f64| {
                    let hits = (0..runs).filter(|_| draws.unit() < p).count() as u64;
                    let proportion = Proportion::from_counts(hits, runs - hits);
                    let interval = proportion.wilson(Confidence::PERCENT_95);
                    of(hits as f64 / runs as f64, interval.low, interval.high)
                };
                rate.product(Bounded::sum(p.iter().map(&mut share).collect::<Vec<_>>()))
            };
            let parts: Vec<Bounded> = p.iter().zip(&errors).map(&mut part).collect();
            let found = Bounded::sum(parts);
            found.low <= truth && truth <= found.high
        });
        held.count() as f64 / WORLDS as f64
    }

    #[test]
    fn intervals_of_both_levels_hold_the_truth_as_often_as_they_say() {
        for (runs, p, errors) in [
            (1068, [[0.5, 0.3], [0.2, 0.6], [0.1, 0.4]], [0.17, 0.2, 0.65]),
            (1068, [[0.01, 0.0], [0.002, 0.03], [0.0, 0.005]], [0.17, 0.2, 0.16]),
            (200, [[0.5, 0.9], [0.2, 0.05], [0.0, 0.0]], [0.3, 0.3, 0.3]),
            (400, [[0.5, 0.9], [0.2, 0.05], [0.01, 0.5]], [1e-9, 1e-9, 1e-9]),
        ] {
            let held = coverage(runs, &p, errors);
            assert!((0.935..0.985).contains(&held), "{runs} runs, {p:?}: {held}");
        }
    }
}
