//! The difference of two proportions: the only place that knows how it is bounded and tested.

use statrs::function::erf::erfc;
use stats::{Confidence, Proportion};

/// How two proportions differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Difference {
    /// The second less the first.
    pub(crate) estimate: f64,
    /// The lower bound.
    pub(crate) low: f64,
    /// The upper bound.
    pub(crate) high: f64,
    /// How probable a difference at least as large is where there is none; two-sided.
    pub(crate) p_value: f64,
}

/// The difference `b - a` of two independent proportions; `None` while one of them has no trials.
///
/// The interval is R. G. Newcombe's (*Interval estimation for the difference between independent proportions: comparison
/// of eleven methods*, Statistics in Medicine 17, 1998, method 10), from the two Wilson intervals. The test is the score
/// test with the pooled variance (K. Pearson's χ² of the two-by-two table without a correction, whose root is z).
pub(crate) fn difference(a: Proportion, b: Proportion, level: Confidence) -> Option<Difference> {
    let (first, second) = (a.rate()?, b.rate()?);
    let (of_a, of_b) = (a.wilson(level), b.wilson(level));
    let estimate = second - first;
    Some(Difference {
        estimate,
        low: estimate - (second - of_b.low).hypot(of_a.high - first),
        high: estimate + (of_b.high - second).hypot(first - of_a.low),
        p_value: score_test(a, b),
    })
}

fn score_test(a: Proportion, b: Proportion) -> f64 {
    let (n, m) = (a.trials() as f64, b.trials() as f64);
    let (x, y) = (a.successes() as f64, b.successes() as f64);
    let pooled = (x + y) / (n + m);
    let variance = pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m);
    // All came out alike: nothing speaks for a difference.
    if variance <= 0.0 {
        return 1.0;
    }
    let z = (y / m - x / n) / variance.sqrt();
    erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// The p-values of several tests, adjusted so that the chance of any false alarm among them is bounded: S. Holm, *A simple
/// sequentially rejective multiple test procedure*, Scandinavian Journal of Statistics 6, 1979.
pub(crate) fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, &index) in order.iter().enumerate() {
        largest = largest.max(p_values[index] * (p_values.len() - rank) as f64).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proportion(successes: u64, trials: u64) -> Proportion {
        Proportion::new(successes, trials).unwrap()
    }

    #[test]
    fn the_interval_agrees_with_newcombe_1998() {
        // Table II, method 10: 56/70 - 48/80, 9/10 - 3/10, 10/10 - 0/20.
        let cases = [(56, 70, 48, 80, 0.0524, 0.3339), (9, 10, 3, 10, 0.1705, 0.8090), (10, 10, 0, 20, 0.6791, 1.0)];
        for (x, n, y, m, low, high) in cases {
            let found = difference(proportion(y, m), proportion(x, n), Confidence::PERCENT_95).unwrap();
            assert!((found.low - low).abs() < 5e-5 && (found.high - high).abs() < 5e-5, "{x}/{n} - {y}/{m}: {found:?}");
        }
    }

    #[test]
    fn the_test_is_pearson_s() {
        // χ² = n (ad - bc)² / (row and column sums) of 15, 85; 25, 75 is 3.125; its two-sided p is 0.0771.
        let found = difference(proportion(15, 100), proportion(25, 100), Confidence::PERCENT_95).unwrap();
        assert!((found.p_value - 0.0771).abs() < 5e-5, "{found:?}");
        assert_eq!(difference(proportion(0, 9), proportion(0, 7), Confidence::PERCENT_95).unwrap().p_value, 1.0);
        assert_eq!(difference(proportion(0, 0), proportion(1, 2), Confidence::PERCENT_95), None);
    }

    #[test]
    fn holm_s_adjustment_keeps_the_order() {
        let found = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in found.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-12, "{found} instead of {expected}");
        }
        assert_eq!(holm(&[]), Vec::<f64>::new());
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
    }
}
