//! How many more trials would tell on which side of a bound a proportion lies.
//!
//! An estimate decides a question such as "is p above 5 %?" when its whole interval lies on one side. Wilson's interval
//! of an observed p at n trials leaves out b exactly when |p - b| > z √(b(1-b)/n) (it is all b that the score test
//! accepts), so that n = z² b(1-b) / (p-b)² trials decide if the observed proportion stays. Clopper and Pearson's
//! interval is that with a continuity correction of about 1/2n, for which J. L. Fleiss, B. Levin & M. C. Paik
//! (*Statistical Methods for Rates and Proportions*, 3rd ed. 2003, chapter 2) give n/4 (1 + √(1 + 2/(n|p-b|)))².

use crate::confidence::Confidence;
use crate::proportion::{Interval, IntervalKind};

/// The trials, all together, after which an interval by `method` lies on one side of `bound`, if the observed
/// proportion is then `rate`.
///
/// `None` when no number of trials would: the rate is the bound, or the bound is 0 or 1, which sampling cannot exclude
/// from one side; or the number is beyond counting.
#[must_use]
pub fn trials_to_decide(rate: f64, bound: f64, method: IntervalKind, confidence: Confidence) -> Option<u64> {
    let distance = (rate - bound).abs();
    if distance <= 0.0 || !(0.0..=1.0).contains(&rate) || !(bound > 0.0 && bound < 1.0) {
        return None;
    }
    let root = confidence.z() / distance;
    let score = root * root * bound * (1.0 - bound);
    let trials = match method {
        IntervalKind::Wilson => score,
        IntervalKind::ClopperPearson => score / 4.0 * (1.0 + (1.0 + 2.0 / (score * distance)).sqrt()).powi(2),
    };
    counted(trials.floor() + 1.0)
}

/// The same for an estimate of any kind whose `interval` after `trials` is known: its distance from the estimate
/// shrinks with the root of the trials.
///
/// `None` as there, and where the interval is of no width on the side of the bound.
#[must_use]
pub fn trials_to_shrink(trials: u64, rate: f64, interval: Interval, bound: f64) -> Option<u64> {
    let (distance, reach) =
        if bound > rate { (bound - rate, interval.high - rate) } else { (rate - bound, rate - interval.low) };
    if distance <= 0.0 || reach <= 0.0 || !(bound > 0.0 && bound < 1.0) {
        return None;
    }
    counted((trials as f64 * (reach / distance).powi(2)).floor() + 1.0)
}

fn counted(trials: f64) -> Option<u64> {
    (trials.is_finite() && trials < 1e18).then_some(trials as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proportion::Proportion;

    fn decided(successes: f64, trials: u64, bound: f64, method: IntervalKind) -> bool {
        let proportion = Proportion::new(successes.round() as u64, trials).unwrap();
        let Interval { low, high } = proportion.interval(method, Confidence::PERCENT_95);
        low > bound || high <= bound
    }

    #[test]
    fn that_many_trials_decide_and_a_tenth_fewer_do_not() {
        for (rate, bound) in [(0.02, 0.05), (0.08, 0.05), (0.5, 0.45), (0.001, 0.01), (0.97, 0.99), (0.3, 0.01)] {
            for method in [IntervalKind::Wilson, IntervalKind::ClopperPearson] {
                let trials = trials_to_decide(rate, bound, method, Confidence::PERCENT_95).unwrap();
                // Counts are whole, so a few trials more may be needed for the rounded one.
                let enough = trials + (1.0 / (rate - bound).abs()).ceil() as u64;
                assert!(decided(rate * enough as f64, enough, bound, method), "{method:?} {rate} {bound}: {trials}");
                let few = trials * 4 / 5;
                let nearer = if rate < bound { (rate * few as f64).ceil() } else { (rate * few as f64).floor() };
                assert!(!decided(nearer, few, bound, method), "{method:?} {rate} {bound}: {few} would do");
            }
        }
    }

    #[test]
    fn what_no_sample_can_decide_has_no_number() {
        for (rate, bound) in [(0.05, 0.05), (0.0, 0.0), (0.1, 0.0), (1.0, 1.0), (0.5, 1.0)] {
            assert_eq!(trials_to_decide(rate, bound, IntervalKind::Wilson, Confidence::PERCENT_95), None);
        }
        let interval = Interval { low: 0.1, high: 0.3 };
        assert_eq!(trials_to_shrink(100, 0.2, interval, 0.2), None);
    }

    #[test]
    fn half_the_distance_takes_four_times_the_trials() {
        let interval = Interval { low: 0.1, high: 0.3 };
        for bound in [0.25, 0.15] {
            let trials = trials_to_shrink(100, 0.2, interval, bound).unwrap();
            assert!((400..=401).contains(&trials), "{trials}");
        }
    }
}
