//! Which of two samples is the smaller one, whatever their distributions: the test of ranks.
//!
//! U counts the pairs in which the first is smaller, ties for a half (H. B. Mann & D. R. Whitney, *On a test of whether one of two random
//! variables is stochastically larger than the other*, Annals of Mathematical Statistics 18, 1947); its variance is corrected for ties (E. L.
//! Lehmann, *Nonparametrics*, 1975, §1.4). The normal approximation asks for about ten values in each sample.

use statrs::distribution::{ContinuousCDF, Normal};

/// Two samples by their ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankComparison {
    /// The share of pairs in which the value of the first sample is the smaller one, ties for a half.
    pub smaller: f64,
    /// The chance of a share at least this far from one half if both are drawn alike; two-sided.
    pub p: f64,
}

/// Compares two samples, each ascending; `None` if one is empty, or all values are the same.
#[must_use]
pub fn ranks(first: &[u64], second: &[u64]) -> Option<RankComparison> {
    let (n, m) = (first.len() as f64, second.len() as f64);
    let (mut below, mut ties) = (0.0, 0.0);
    let (mut at, mut other) = (0, 0);
    while at < first.len() || other < second.len() {
        let value = first.get(at).into_iter().chain(second.get(other)).min().copied()?;
        let same = |all: &[u64]| all.iter().take_while(|&&it| it == value).count();
        let (own, theirs) = (same(&first[at..]), same(&second[other..]));
        (at, other) = (at + own, other + theirs);
        below += own as f64 * ((second.len() - other) as f64 + theirs as f64 / 2.0);
        let tied = (own + theirs) as f64;
        ties += tied * tied * tied - tied;
    }
    let all = n + m;
    let variance = n * m / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    let distance = (below - n * m / 2.0).abs() / variance.sqrt();
    (variance > 0.0).then(|| RankComparison { smaller: below / (n * m), p: 2.0 * Normal::standard().sf(distance) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_textbook_samples_have_the_textbook_statistic() {
        // M. Hollander & D. A. Wolfe, Nonparametric Statistical Methods, 1973, p. 69, times 100: the first is larger in 35 of 50 pairs.
        let (first, second) = ([73, 80, 83, 104, 138, 145, 146, 164, 189, 191], [74, 88, 90, 115, 121]);
        let found = ranks(&first, &second).unwrap();
        assert_eq!(found.smaller, 15.0 / 50.0);
        // z = (35 - 25) / √(50 · 16 / 12) = 1.2247.
        assert!((found.p - 0.2207).abs() < 5e-5, "{found:?}");
    }

    #[test]
    fn ties_count_for_a_half_and_lessen_the_variance() {
        // Counted by hand: 5.5 of nine pairs; ties of three and of two among six values.
        let found = ranks(&[1, 2, 3], &[2, 2, 3]).unwrap();
        assert_eq!(found.smaller, 5.5 / 9.0);
        let variance: f64 = 9.0 / 12.0 * (7.0 - (24.0 + 6.0) / 30.0);
        let expected = 2.0 * Normal::standard().sf(1.0 / variance.sqrt());
        assert!((found.p - expected).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn samples_that_lie_apart_are_told_apart_and_equal_ones_are_not() {
        let low: Vec<u64> = (0..50).collect();
        let high: Vec<u64> = (100..160).collect();
        let apart = ranks(&low, &high).unwrap();
        assert!(apart.smaller == 1.0 && apart.p < 1e-15, "{apart:?}");
        assert_eq!(ranks(&high, &low).unwrap().smaller, 0.0);
        let alike = ranks(&low, &low).unwrap();
        assert_eq!((alike.smaller, alike.p), (0.5, 1.0));
        assert_eq!(ranks(&[], &low), None);
        assert_eq!(ranks(&[3, 3], &[3]), None);
    }
}
