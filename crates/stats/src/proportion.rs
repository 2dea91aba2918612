//! An observed proportion and two-sided intervals for the true one.
//!
//! Wilson's score interval is the default throughout: its coverage is close to the stated level for every
//! proportion and it never leaves [0, 1]. Clopper and Pearson's is offered to those who need a coverage that is
//! never below the stated level, and is wider for it. L. D. Brown, T. T. Cai & A. DasGupta, *Interval estimation
//! for a binomial proportion*, Statistical Science 16(2), 2001, compare both with the textbook (Wald) interval,
//! which is not offered because it fails near 0 and 1, where rates of rare outcomes live.

use statrs::function::beta::beta_reg;

use crate::confidence::Confidence;

/// How many of a number of independent trials came out one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proportion {
    successes: u64,
    trials: u64,
}

/// A range for the true proportion, `0 <= low <= high <= 1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// How an interval is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IntervalKind {
    /// Wilson's score interval.
    #[default]
    Wilson,
    /// Clopper and Pearson's "exact" interval, never below the stated coverage.
    ClopperPearson,
}

impl Interval {
    /// What is known before the first trial.
    pub const UNKNOWN: Self = Self { low: 0.0, high: 1.0 };

    /// Half of the width.
    #[must_use]
    pub fn half_width(self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// The distance from `estimate` to the farther bound: what may honestly follow "±" after it.
    #[must_use]
    pub fn reach(self, estimate: f64) -> f64 {
        (self.high - estimate).max(estimate - self.low)
    }
}

impl Proportion {
    /// `successes` out of `trials`; `None` when there are more successes than trials.
    #[must_use]
    pub fn new(successes: u64, trials: u64) -> Option<Self> {
        (successes <= trials).then_some(Self { successes, trials })
    }

    /// `successes` that came out one way and `failures` that did not.
    #[must_use]
    pub fn from_counts(successes: u64, failures: u64) -> Self {
        Self { successes, trials: successes.saturating_add(failures) }
    }

    /// How many trials came out the counted way.
    #[must_use]
    pub fn successes(self) -> u64 {
        self.successes
    }

    /// How many trials there were.
    #[must_use]
    pub fn trials(self) -> u64 {
        self.trials
    }

    /// The observed proportion; `None` before the first trial.
    #[must_use]
    pub fn rate(self) -> Option<f64> {
        (self.trials > 0).then(|| self.successes as f64 / self.trials as f64)
    }

    /// The interval by `method` at `confidence`; [`Interval::UNKNOWN`] before the first trial.
    #[must_use]
    pub fn interval(self, method: IntervalKind, confidence: Confidence) -> Interval {
        match method {
            IntervalKind::Wilson => self.wilson(confidence),
            IntervalKind::ClopperPearson => self.clopper_pearson(confidence),
        }
    }

    /// The score interval of E. B. Wilson, *Probable inference, the law of succession, and statistical inference*,
    /// JASA 22, 1927: all p whose score test does not reject the observation.
    #[must_use]
    pub fn wilson(self, confidence: Confidence) -> Interval {
        let Some(rate) = self.rate() else {
            return Interval::UNKNOWN;
        };
        let (n, z) = (self.trials as f64, confidence.z());
        let shrink = 1.0 + z * z / n;
        let centre = (rate + z * z / (2.0 * n)) / shrink;
        let half = z / shrink * (rate * (1.0 - rate) / n + z * z / (4.0 * n * n)).sqrt();
        // The bounds at the ends are exactly 0 and 1; rounding must not say otherwise.
        Interval {
            low: if self.successes == 0 { 0.0 } else { (centre - half).max(0.0) },
            high: if self.successes == self.trials { 1.0 } else { (centre + half).min(1.0) },
        }
    }

    /// The interval of C. J. Clopper & E. S. Pearson, *The use of confidence or fiducial limits illustrated in the
    /// case of the binomial*, Biometrika 26, 1934, through the beta quantiles B(α/2; x, n-x+1) and
    /// B(1-α/2; x+1, n-x).
    #[must_use]
    pub fn clopper_pearson(self, confidence: Confidence) -> Interval {
        if self.trials == 0 {
            return Interval::UNKNOWN;
        }
        let (x, n, tail) = (self.successes as f64, self.trials as f64, confidence.alpha() / 2.0);
        let low = if self.successes == 0 { 0.0 } else { beta_quantile(tail, x, n - x + 1.0) };
        // By symmetry an upper quantile is a lower one of the mirrored distribution, where the tail is exact.
        let high = if self.successes == self.trials { 1.0 } else { 1.0 - beta_quantile(tail, n - x, x + 1.0) };
        Interval { low, high }
    }
}

/// The x at which the regularised incomplete beta function I_x(a, b) reaches `p`.
///
/// Bisection down to neighbouring floats: slower than Newton's method but without its starting values, which go
/// astray for counts in the millions.
fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return middle;
        }
        if beta_reg(a, b, middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    fn proportion(successes: u64, trials: u64) -> Proportion {
        Proportion::new(successes, trials).unwrap()
    }

    /// R. G. Newcombe, *Two-sided confidence intervals for the single proportion: comparison of seven methods*,
    /// Statistics in Medicine 17, 1998, table I: (x, n, score method 3, Clopper–Pearson method 5), 95 %.
    const NEWCOMBE: [(u64, u64, Interval, Interval); 4] = [
        (81, 263, Interval { low: 0.2553, high: 0.3662 }, Interval { low: 0.2527, high: 0.3676 }),
        (15, 148, Interval { low: 0.0624, high: 0.1605 }, Interval { low: 0.0578, high: 0.1617 }),
        (0, 20, Interval { low: 0.0, high: 0.1611 }, Interval { low: 0.0, high: 0.1684 }),
        (1, 29, Interval { low: 0.0061, high: 0.1718 }, Interval { low: 0.0009, high: 0.1776 }),
    ];

    fn assert_close(found: Interval, expected: Interval, tolerance: f64) {
        let close = (found.low - expected.low).abs() < tolerance && (found.high - expected.high).abs() < tolerance;
        assert!(close, "{found:?} instead of {expected:?}");
    }

    #[test]
    fn wilson_agrees_with_newcombe_1998() {
        for (x, n, wilson, _) in NEWCOMBE {
            assert_close(proportion(x, n).wilson(Confidence::PERCENT_95), wilson, 5e-5);
        }
    }

    #[test]
    fn clopper_pearson_agrees_with_newcombe_1998() {
        for (x, n, _, exact) in NEWCOMBE {
            assert_close(proportion(x, n).clopper_pearson(Confidence::PERCENT_95), exact, 5e-5);
        }
    }

    #[test]
    fn clopper_pearson_of_no_success_is_the_closed_form() {
        // Solving (1-p)^n = α/2 for p; n up to the counts of the longest campaigns.
        for n in [1, 20, 1_000, 1_000_000, 1_000_000_000] {
            let found = proportion(0, n).clopper_pearson(Confidence::PERCENT_95).high;
            let expected = -(0.025_f64.ln() / n as f64).exp_m1();
            assert!((found / expected - 1.0).abs() < 1e-6, "n = {n}: {found} instead of {expected}");
        }
    }

    #[test]
    fn intervals_mirror_when_successes_and_failures_swap() {
        for method in [IntervalKind::Wilson, IntervalKind::ClopperPearson] {
            for (x, n) in [(0, 10), (3, 10), (1, 999), (12, 40)] {
                let one = proportion(x, n).interval(method, Confidence::PERCENT_95);
                let other = proportion(n - x, n).interval(method, Confidence::PERCENT_95);
                assert_close(one, Interval { low: 1.0 - other.high, high: 1.0 - other.low }, 1e-12);
            }
        }
    }

    #[test]
    fn nothing_is_known_before_the_first_trial() {
        for method in [IntervalKind::Wilson, IntervalKind::ClopperPearson] {
            assert_eq!(proportion(0, 0).interval(method, Confidence::PERCENT_95), Interval::UNKNOWN);
        }
        assert_eq!(proportion(0, 0).rate(), None);
        assert_eq!(Proportion::new(2, 1), None);
    }

    /// The share of `repeats` samples of size `n` whose interval holds the true proportion `p`.
    fn coverage(method: IntervalKind, n: u64, p: f64, repeats: u64) -> f64 {
        let threshold = (p * 2f64.powi(64)) as u64;
        let covered = (0..repeats).filter(|&repeat| {
            let draws = Draws::new(n, repeat);
            let successes = (0..n).filter(|&k| draws.draw(k) < threshold).count() as u64;
            let found = proportion(successes, n).interval(method, Confidence::PERCENT_95);
            found.low <= p && p <= found.high
        });
        covered.count() as f64 / repeats as f64
    }

    #[test]
    fn simulated_coverage_is_what_brown_cai_and_dasgupta_report() {
        // Brown, Cai & DasGupta 2001: Wilson oscillates about 95 % (at n = 200, p = 0.02 the binomial sum gives
        // 93.3 %), Clopper–Pearson stays at or above. Five thousand repetitions have a standard error of 0.3 %.
        for (n, p) in [(50, 0.1), (50, 0.5), (200, 0.02), (200, 0.3), (1000, 0.05)] {
            let wilson = coverage(IntervalKind::Wilson, n, p, 5000);
            assert!((0.92..0.98).contains(&wilson), "wilson at n = {n}, p = {p}: {wilson}");
            let exact = coverage(IntervalKind::ClopperPearson, n, p, 5000);
            assert!(exact >= 0.945, "clopper-pearson at n = {n}, p = {p}: {exact}");
        }
    }
}
