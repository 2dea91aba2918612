//! Two observed proportions: do they differ, and by how much?
//!
//! One rule chooses the test ([`ProportionComparison::of`]): where a cell of the 2×2 table is expected to hold fewer
//! than [`SMALL`] (W. G. Cochran, *Some methods for strengthening the common χ² tests*, Biometrics 10, 1954), R. A.
//! Fisher's exact test; otherwise the score test with the pooled proportion, whose square is Pearson's χ² without a
//! correction. The interval is always that of R. G. Newcombe, *Interval estimation for the difference between
//! independent proportions: comparison of eleven methods*, Statistics in Medicine 17, 1998, method 10. Test and
//! interval rest on different approximations, so that near the level one may say what the other does not.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::confidence::Confidence;
use crate::proportion::{IntervalKind, Proportion};

/// The expected count below which a cell asks for the exact test.
pub const SMALL: f64 = 5.0;

/// What tells two probabilities apart that differ by rounding only; R's `fisher.test` takes the same.
const ROUNDING: f64 = 1e-7;

/// A range for a difference of proportions, `-1 <= low <= high <= 1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DifferenceInterval {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// Which test gave a p-value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// The score test of two proportions, with the pooled variance.
    Score,
    /// Fisher's exact test, two-sided.
    Fisher,
}

/// Two proportions compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProportionComparison {
    /// The first proportion less the second.
    pub difference: f64,
    /// The bounds of the true difference.
    pub interval: DifferenceInterval,
    /// The chance of a difference at least this surprising if there is none; two-sided.
    pub p: f64,
    /// By which test.
    pub test: Test,
}

impl ProportionComparison {
    /// Compares `first` with `second`; `None` when one of them has no trials.
    ///
    /// The interval is made of intervals by `method`, each at `confidence`.
    #[must_use]
    pub fn of(first: Proportion, second: Proportion, method: IntervalKind, confidence: Confidence) -> Option<Self> {
        let difference = first.rate()? - second.rate()?;
        let test = if smallest_expectation(first, second) < SMALL { Test::Fisher } else { Test::Score };
        let p = match test {
            Test::Fisher => fisher(first, second),
            Test::Score => score_test(first, second),
        };
        Some(Self { difference, interval: newcombe(first, second, method, confidence), p, test })
    }
}

/// Newcombe's interval of the difference (method 10): each bound is as far from the observed difference as the bounds
/// of the two proportions on that side are from theirs, by Pythagoras.
///
/// He builds it from Wilson's intervals; from Clopper and Pearson's it is wider. Without trials nothing is known.
#[must_use]
pub fn newcombe(
    first: Proportion,
    second: Proportion,
    method: IntervalKind,
    confidence: Confidence,
) -> DifferenceInterval {
    let (Some(one), Some(other)) = (first.rate(), second.rate()) else {
        return DifferenceInterval { low: -1.0, high: 1.0 };
    };
    let (a, b) = (first.interval(method, confidence), second.interval(method, confidence));
    let difference = one - other;
    DifferenceInterval {
        low: (difference - (one - a.low).hypot(b.high - other)).max(-1.0),
        high: (difference + (a.high - one).hypot(other - b.low)).min(1.0),
    }
}

/// The two-sided p-value of the score test: z = (p₁ - p₂) / √(p(1-p)(1/n₁ + 1/n₂)) with the pooled proportion p.
///
/// 1 where nothing can differ: no trials, or all of them came out the same way.
#[must_use]
pub fn score_test(first: Proportion, second: Proportion) -> f64 {
    let (Some(one), Some(other)) = (first.rate(), second.rate()) else {
        return 1.0;
    };
    let (n, m) = (first.trials() as f64, second.trials() as f64);
    let pooled = (first.successes() as f64 + second.successes() as f64) / (n + m);
    let error = (pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m)).sqrt();
    if error > 0.0 { 2.0 * Normal::standard().sf(((one - other) / error).abs()) } else { 1.0 }
}

/// The two-sided p-value of Fisher's exact test (*The logic of inductive inference*, JRSS 98, 1935): of all tables with
/// these margins, the chance of one that is no more likely than the observed one.
///
/// Takes as many steps as the smallest margin. Tables are weighed against the likeliest, from which their chances
/// follow by ratios without a factorial: (K-x)(n-x) / ((x+1)(N-K-n+x+1)) from x successes in the first to x + 1.
#[must_use]
pub fn fisher(first: Proportion, second: Proportion) -> f64 {
    let (n, successes) = (first.trials() as f64, first.successes() as f64 + second.successes() as f64);
    let all = n + second.trials() as f64;
    let (low, high) = ((n + successes - all).max(0.0), n.min(successes));
    let ratio = |x: f64| (successes - x) * (n - x) / ((x + 1.0) * (all - successes - n + x + 1.0));
    let mode = (((n + 1.0) * (successes + 1.0)) / (all + 2.0)).floor().clamp(low, high);
    let upwards =
        std::iter::successors(Some((mode, 1.0)), |&(x, weight)| (x < high).then(|| (x + 1.0, weight * ratio(x))));
    let downwards =
        std::iter::successors(Some((mode, 1.0)), |&(x, weight)| (x > low).then(|| (x - 1.0, weight / ratio(x - 1.0))));
    let tables = || upwards.clone().chain(downwards.clone().skip(1));
    let observed = tables().find(|&(x, _)| x == first.successes() as f64).map_or(1.0, |(_, weight)| weight);
    let (mut total, mut tail) = (0.0, 0.0);
    for (_, weight) in tables() {
        total += weight;
        tail += if weight <= observed * (1.0 + ROUNDING) { weight } else { 0.0 };
    }
    (tail / total).min(1.0)
}

/// The smallest count that a cell of the 2×2 table would hold if both proportions were the pooled one.
fn smallest_expectation(first: Proportion, second: Proportion) -> f64 {
    let (n, m) = (first.trials() as f64, second.trials() as f64);
    let successes = first.successes() as f64 + second.successes() as f64;
    n.min(m) * successes.min(n + m - successes) / (n + m)
}

/// The p-values of several tests, each raised so that the chance of even one false alarm among all stays at the level
/// that they are compared with.
///
/// S. Holm, *A simple sequentially rejective multiple test procedure*, Scandinavian Journal of Statistics 6, 1979: the
/// i-th smallest of m is multiplied by m - i + 1, and none is less than one before it. No assumption is made about how
/// the tests depend on each other. In the order given.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let (mut adjusted, mut largest) = (vec![1.0; p_values.len()], 0.0_f64);
    for (rank, &index) in order.iter().enumerate() {
        let left = (p_values.len() - rank) as f64;
        largest = largest.max((p_values[index] * left).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    fn proportion(successes: u64, trials: u64) -> Proportion {
        Proportion::new(successes, trials).unwrap()
    }

    /// Successes and trials.
    type Counts = (u64, u64);

    /// Newcombe 1998, table II: the examples (a) to (h) with the intervals of method 10, in four digits.
    const NEWCOMBE: [(Counts, Counts, (f64, f64)); 8] = [
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((6, 7), (2, 7), (0.0582, 0.8062)),
        ((5, 56), (0, 29), (-0.0381, 0.1926)),
        ((0, 10), (0, 20), (-0.1611, 0.2775)),
        ((0, 10), (0, 10), (-0.2775, 0.2775)),
        ((10, 10), (0, 20), (0.6791, 1.0)),
        ((10, 10), (0, 10), (0.6075, 1.0)),
    ];

    #[test]
    fn the_interval_of_the_difference_agrees_with_newcombe_1998() {
        for ((x, n), (y, m), (low, high)) in NEWCOMBE {
            let found = newcombe(proportion(x, n), proportion(y, m), IntervalKind::Wilson, Confidence::PERCENT_95);
            assert!((found.low - low).abs() < 6e-5 && (found.high - high).abs() < 6e-5, "{x}/{n}, {y}/{m}: {found:?}");
        }
    }

    #[test]
    fn fishers_test_agrees_with_his_tables() {
        // The lady tasting tea (The Design of Experiments, 1935): 34/70. Convictions of twins (Statistical Methods for
        // Research Workers): 0.0005367 two-sided, as R documents for `fisher.test`.
        assert!((fisher(proportion(3, 4), proportion(1, 4)) - 34.0 / 70.0).abs() < 1e-12);
        assert!((fisher(proportion(2, 17), proportion(10, 13)) - 0.000_536_7).abs() < 5e-8);
        assert_eq!(fisher(proportion(0, 10), proportion(0, 7)), 1.0);
    }

    #[test]
    fn fishers_test_agrees_with_the_sum_over_all_tables() {
        let choose = |n: u64, k: u64| (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64);
        for (x, n, y, m) in [(0, 5, 9, 30), (7, 9, 2, 40), (1, 1, 0, 60), (20, 25, 8, 12), (3, 50, 0, 3)] {
            let chance = |a: u64| choose(n, a) * choose(m, x + y - a) / choose(n + m, x + y);
            let tables = (x + y).saturating_sub(m)..=n.min(x + y);
            let expected: f64 = tables.map(chance).filter(|&p| p <= chance(x) * (1.0 + 1e-7)).sum();
            let found = fisher(proportion(x, n), proportion(y, m));
            assert!((found / expected - 1.0).abs() < 1e-9, "{x}/{n}, {y}/{m}: {found} instead of {expected}");
        }
    }

    #[test]
    fn the_score_test_is_pearsons_chi_square() {
        // 56/70 against 48/80: χ² = 7.0309 with one degree of freedom.
        let p = score_test(proportion(56, 70), proportion(48, 80));
        let table = crate::homogeneity(&[&[56, 14], &[48, 32]]).unwrap();
        assert!((p / table.test.p - 1.0).abs() < 1e-9, "{p} {table:?}");
    }

    #[test]
    fn the_counts_choose_the_test() {
        let compare = |a, b| ProportionComparison::of(a, b, IntervalKind::Wilson, Confidence::PERCENT_95).unwrap();
        assert_eq!(compare(proportion(500, 1000), proportion(450, 1000)).test, Test::Score);
        // Nine successes in two samples of a thousand: 4.5 are expected in each.
        let rare = compare(proportion(8, 1000), proportion(1, 1000));
        assert_eq!(rare.test, Test::Fisher);
        assert!((rare.difference - 0.007).abs() < 1e-12);
        let same =
            ProportionComparison::of(proportion(0, 0), proportion(1, 2), IntervalKind::Wilson, Confidence::PERCENT_95);
        assert_eq!(same, None);
    }

    #[test]
    fn holms_correction_is_that_of_a_worked_example() {
        // Four tests at 0.05: the two smallest stand, as in every textbook's example of the step-down procedure.
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-12, "{adjusted:?}");
        }
        assert_eq!(holm(&[0.4, 0.9]), [0.8, 0.9]);
        assert!(holm(&[]).is_empty());
    }

    /// Counts of `repeats` pairs of samples of sizes `n` and `m` with the chances `p` and `q`.
    fn pairs(n: u64, m: u64, p: f64, q: f64, repeats: u64) -> impl Iterator<Item = (Proportion, Proportion)> {
        let count = move |draws: &Draws, from: u64, size: u64, chance: f64| {
            let threshold = (chance * 2f64.powi(64)) as u64;
            let successes = (from..from + size).filter(|&k| draws.draw(k) < threshold).count() as u64;
            proportion(successes, size)
        };
        (0..repeats).map(move |repeat| {
            let draws = Draws::new(n * 1000 + m, repeat);
            (count(&draws, 0, n, p), count(&draws, n, m, q))
        })
    }

    #[test]
    fn simulated_coverage_of_the_difference_is_near_the_level() {
        for (n, m, p, q) in [(50, 80, 0.3, 0.1), (200, 100, 0.02, 0.05), (300, 300, 0.5, 0.5), (1000, 60, 0.01, 0.01)] {
            for (method, least) in [(IntervalKind::Wilson, 0.93), (IntervalKind::ClopperPearson, 0.94)] {
                let covered = pairs(n, m, p, q, 2000).filter(|&(a, b)| {
                    let found = newcombe(a, b, method, Confidence::PERCENT_95);
                    (found.low..=found.high).contains(&(p - q))
                });
                let share = covered.count() as f64 / 2000.0;
                assert!(share >= least, "{method:?} with {n}, {m}, {p}, {q}: {share}");
            }
        }
    }

    #[test]
    fn equal_proportions_are_told_apart_no_more_often_than_the_level_says() {
        for (n, m, p) in [(50, 80, 0.3), (400, 300, 0.02), (1000, 1000, 0.5), (40, 40, 0.05)] {
            let alarms = pairs(n, m, p, p, 4000)
                .filter_map(|(a, b)| ProportionComparison::of(a, b, IntervalKind::Wilson, Confidence::PERCENT_95))
                .filter(|comparison| comparison.p <= 0.05);
            let share = alarms.count() as f64 / 4000.0;
            // Four standard errors above the level.
            assert!(share <= 0.065, "{n}, {m}, {p}: {share}");
        }
    }
}
