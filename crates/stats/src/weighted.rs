//! Shares of runs that do not all weigh the same.
//!
//! The share is that of the weights, and its interval that of as many runs of equal weight as say as much:
//! (Σ w)² / Σ w² (L. Kish, *Survey Sampling*, 1965, §8.2; E. L. Korn & B. I. Graubard, Survey Methodology 24, 1998, use it
//! for intervals of small shares).

use crate::confidence::Confidence;
use crate::proportion::{Interval, IntervalKind, Proportion};

/// What some runs weigh, and those of them that came out one way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weighted {
    /// The weight of those that came out one way.
    pub hit: f64,
    /// The weight of all.
    pub all: f64,
    /// The sum of the squares of all their weights.
    pub squares: f64,
}

impl Weighted {
    /// The share; `None` of nothing.
    #[must_use]
    pub fn rate(self) -> Option<f64> {
        (self.all > 0.0).then(|| (self.hit / self.all).min(1.0))
    }

    /// As many runs of equal weight as say as much.
    #[must_use]
    pub fn effective_size(self) -> f64 {
        if self.squares > 0.0 { self.all * self.all / self.squares } else { 0.0 }
    }

    /// What bounds the share; it holds the share itself.
    #[must_use]
    pub fn interval(self, method: IntervalKind, confidence: Confidence) -> Interval {
        let (rate, trials) = (self.rate(), self.effective_size());
        let successes = (rate.unwrap_or(0.0) * trials).round() as u64;
        let failures = (trials.round() as u64).saturating_sub(successes);
        let Interval { low, high } = Proportion::from_counts(successes, failures).interval(method, confidence);
        // Rounding to whole runs must not leave the rate outside.
        rate.map_or(Interval { low, high }, |rate| Interval { low: low.min(rate), high: high.max(rate) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Draws;

    #[test]
    fn equal_weights_are_a_plain_proportion() {
        let weighted = Weighted { hit: 30.0 * 7.0, all: 100.0 * 7.0, squares: 100.0 * 49.0 };
        let plain = Proportion::from_counts(30, 70);
        assert_eq!(weighted.effective_size(), 100.0);
        assert_eq!(weighted.rate(), Some(0.3));
        let interval = |method| weighted.interval(method, Confidence::PERCENT_95);
        for method in [IntervalKind::Wilson, IntervalKind::ClopperPearson] {
            assert_eq!(interval(method), plain.interval(method, Confidence::PERCENT_95));
        }
    }

    #[test]
    fn nothing_is_known_of_nothing() {
        assert_eq!(Weighted::default().rate(), None);
        assert_eq!(Weighted::default().interval(IntervalKind::Wilson, Confidence::PERCENT_95), Interval::UNKNOWN);
    }

    /// Runs that each stand for 1 or for 20 sites, and whose outcomes do not depend on that.
    #[test]
    fn intervals_of_unequal_weights_cover() {
        let (mut covered, studies) = (0, 2000);
        for study in 0..studies {
            let mut draws = Draws::new(11, study);
            let mut weighted = Weighted::default();
            for _ in 0..400 {
                let mut uniform = || draws.below(1000).unwrap();
                let weight = if uniform() < 200 { 20.0 } else { 1.0 };
                let hit = uniform() < 150;
                weighted.all += weight;
                weighted.squares += weight * weight;
                weighted.hit += if hit { weight } else { 0.0 };
            }
            let interval = weighted.interval(IntervalKind::Wilson, Confidence::PERCENT_95);
            covered += u64::from(interval.low <= 0.15 && 0.15 <= interval.high);
        }
        let share = covered as f64 / studies as f64;
        assert!((0.935..=0.97).contains(&share), "{share}");
    }
}
