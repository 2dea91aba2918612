//! The share of sites that pilots predict, where pilots are drawn at random and weigh as much as their classes.
//!
//! The share is the ratio Σ w a / Σ w over the drawn pilots, of weight w and accuracy a, and its variance the one of a ratio
//! whose sampling units are the pilots: n/(n−1) Σ w² (a − A)² / (Σ w)² (W. G. Cochran, *Sampling Techniques*, 3rd ed. 1977, §6.4).
//! What members are drawn of a class is part of the difference between pilots.

use stats::{Confidence, Interval, IntervalKind};

/// A share that is estimated from pilots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RatioEstimate {
    /// The share.
    pub(super) rate: f64,
    /// Its variance.
    variance: f64,
    /// The number of pilots of equal weight that would say as much (Kish).
    effective: f64,
}

impl RatioEstimate {
    /// Of pilots, each with its weight and accuracy; `None` without any.
    pub(super) fn of(pilots: &[(f64, f64)]) -> Option<Self> {
        let sum =
            |of: &dyn Fn(f64, f64) -> f64| pilots.iter().map(|&(weight, accuracy)| of(weight, accuracy)).sum::<f64>();
        let weight = sum(&|weight, _| weight);
        if weight <= 0.0 {
            return None;
        }
        let rate = sum(&|weight, accuracy| weight * accuracy) / weight;
        let squares = sum(&|weight, accuracy| (weight * (accuracy - rate)).powi(2)) / (weight * weight);
        let count = pilots.len() as f64;
        let effective = weight * weight / sum(&|weight, _| weight * weight);
        Some(Self { rate, variance: squares * count / (count - 1.0).max(1.0), effective })
    }

    /// The share of parts that are sampled apart, each with its weight; `None` without any.
    pub(super) fn together(parts: &[(f64, Self)]) -> Option<Self> {
        let weight: f64 = parts.iter().map(|(weight, _)| weight).sum();
        let sum = |of: &dyn Fn(&Self) -> f64, power: i32| {
            parts.iter().map(|(part, it)| (part / weight).powi(power) * of(it)).sum::<f64>()
        };
        (weight > 0.0).then(|| Self {
            rate: sum(&|it| it.rate, 1),
            variance: sum(&|it| it.variance, 2),
            effective: 1.0 / sum(&|it| 1.0 / it.effective, 2),
        })
    }

    /// Bounds at 95 %: those of as many independent trials as have this variance, or, where all pilots are alike, as there are
    /// pilots of equal weight.
    pub(super) fn interval(self) -> Interval {
        let spread = self.rate * (1.0 - self.rate);
        let trials = if self.variance > 1e-15 { spread / self.variance } else { self.effective };
        let weighted = stats::weighted::Weighted { hit: self.rate * trials, all: trials, squares: trials };
        weighted.interval(IntervalKind::Wilson, Confidence::PERCENT_95)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::Draws;

    #[test]
    fn a_share_is_weighted_and_pilots_that_agree_leave_a_doubt() {
        let it = RatioEstimate::of(&[(3.0, 1.0), (1.0, 0.5)]).unwrap();
        assert_eq!(it.rate, 3.5 / 4.0);
        let alike = RatioEstimate::of(&[(1.0, 1.0); 100]).unwrap();
        let Interval { low, high } = alike.interval();
        assert!((0.95..0.98).contains(&low) && high == 1.0, "{low} {high}");
        let both = RatioEstimate::together(&[(1.0, it), (3.0, alike)]).unwrap();
        assert_eq!(both.rate, (3.5 / 4.0 + 3.0) / 4.0);
        assert_eq!((RatioEstimate::of(&[]), RatioEstimate::together(&[])), (None, None));
    }

    /// A population of classes of unequal sizes and purities: intervals of samples hold its true share about as often as they say.
    #[test]
    fn intervals_cover() {
        let mut draws = Draws::new(5, 0);
        let mut pilot = || {
            let weight = if draws.unit() < 0.2 { 12.0 } else { 1.0 + draws.unit() };
            let accuracy = if draws.unit() < 0.6 { 1.0 } else { 0.3 + 0.7 * draws.unit() };
            (weight, accuracy)
        };
        let population: Vec<(f64, f64)> = (0..20_000).map(|_| pilot()).collect();
        let truth = RatioEstimate::of(&population).unwrap().rate;
        let held = |study: u64| {
            let mut draws = Draws::new(6, study);
            let sample: Vec<(f64, f64)> = (0..200).map(|_| *draws.one_of(&population).unwrap()).collect();
            let Interval { low, high } = RatioEstimate::of(&sample).unwrap().interval();
            low <= truth && truth <= high
        };
        let share = (0..2_000).filter(|study| held(*study)).count() as f64 / 2_000.0;
        assert!((0.92..=0.98).contains(&share), "{share}");
    }
}
