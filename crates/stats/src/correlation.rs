//! How alike two orders are: C. Spearman's rank correlation.
//!
//! Ties have their mean rank, and the coefficient is Pearson's of the ranks. The test is Student's t with n - 2 degrees of
//! freedom (M. G. Kendall & J. D. Gibbons, *Rank Correlation Methods*, 1990, §4.13), which asks for about ten pairs.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::confidence::Confidence;
use crate::proportion::Interval;

/// Two rankings compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankCorrelation {
    /// From -1, one is the other reversed, to 1, they are the same.
    pub coefficient: f64,
    /// The chance of a coefficient at least this far from nothing between unrelated orders; two-sided.
    pub p: f64,
    /// How many pairs there are.
    pub pairs: usize,
}

impl RankCorrelation {
    /// The bounds of the coefficient, by Fisher's transformation with the variance (1 + r²/2) / (n - 3) (D. G. Bonett & T. A.
    /// Wright, *Sample size requirements for estimating Pearson, Kendall and Spearman correlations*, Psychometrika 65, 2000);
    /// -1 and 1 for three pairs.
    #[must_use]
    pub fn bounds(&self, confidence: Confidence) -> Interval {
        let left = self.pairs as f64 - 3.0;
        if left <= 0.0 {
            return Interval { low: -1.0, high: 1.0 };
        }
        let half = confidence.z() * ((1.0 + self.coefficient * self.coefficient / 2.0) / left).sqrt();
        let middle = self.coefficient.atanh();
        let (low, high) = ((middle - half).tanh(), (middle + half).tanh());
        if middle.is_finite() {
            return Interval { low, high };
        }
        // All pairs agree. One exchange of neighbours gives the largest coefficient below 1: its bounds are the nearest known.
        let n = self.pairs as f64;
        let nearest = (1.0 - 12.0 / (n * n * n - n)).atanh() - half;
        if middle > 0.0 { Interval { low: nearest.tanh(), high } } else { Interval { low, high: -nearest.tanh() } }
    }
}

/// The rank correlation of pairs; `None` for fewer than three, or where all values on a side are the same.
#[must_use]
pub fn spearman(pairs: &[(f64, f64)]) -> Option<RankCorrelation> {
    if pairs.len() < 3 {
        return None;
    }
    let first = mean_ranks(pairs.iter().map(|pair| pair.0).collect());
    let second = mean_ranks(pairs.iter().map(|pair| pair.1).collect());
    let middle = (pairs.len() as f64 + 1.0) / 2.0;
    let together = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum::<f64>();
    let spread = (together(&first, &first) * together(&second, &second)).sqrt();
    if spread <= 0.0 {
        return None;
    }
    let coefficient = (together(&first, &second) / spread).clamp(-1.0, 1.0);
    let freedom = pairs.len() as f64 - 2.0;
    let t = coefficient.abs() * (freedom / (1.0 - coefficient * coefficient)).sqrt();
    let p = StudentsT::new(0.0, 1.0, freedom)
        .map_or(f64::NAN, |student| if t.is_finite() { 2.0 * student.sf(t) } else { 0.0 });
    Some(RankCorrelation { coefficient, p, pairs: pairs.len() })
}

/// The rank of each value, from 1; values that are the same share the mean of theirs.
fn mean_ranks(values: Vec<f64>) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| other.total_cmp(value).is_lt()).count() as f64;
        let same = values.iter().filter(|other| other.total_cmp(value).is_eq()).count() as f64;
        below + (same + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_order_is_one_and_the_reversed_is_minus_one() {
        let of =
            |second: [f64; 4]| spearman(&[1.0, 2.0, 5.0, 9.0].into_iter().zip(second).collect::<Vec<_>>()).unwrap();
        assert_eq!((of([0.1, 0.2, 0.3, 7.0]).coefficient, of([0.1, 0.2, 0.3, 7.0]).p), (1.0, 0.0));
        assert_eq!(of([4.0, 3.0, 2.0, 1.0]).coefficient, -1.0);
    }

    #[test]
    fn without_ties_it_is_the_formula_of_squared_differences() {
        // Without ties the coefficient is 1 - 6 Σd² / (n³ - n).
        let first = [7.0, 4.0, 3.0, 10.0, 6.0, 2.0, 9.0, 8.0, 1.0, 5.0];
        let second = [5.0, 7.0, 3.0, 10.0, 1.0, 9.0, 6.0, 2.0, 8.0, 4.0];
        let pairs: Vec<(f64, f64)> = first.into_iter().zip(second).collect();
        let squares: f64 = pairs.iter().map(|(a, b)| (a - b) * (a - b)).sum();
        let found = spearman(&pairs).unwrap();
        assert!((found.coefficient - (1.0 - 6.0 * squares / 990.0)).abs() < 1e-12, "{found:?}");
        assert!(found.p > 0.3 && found.pairs == 10);
    }

    #[test]
    fn bounds_hold_the_true_coefficient_as_often_as_they_say() {
        // Pairs of correlated normal numbers: Spearman's coefficient of the population is 6/π asin(r/2) (Pearson, 1907).
        let covered = |r: f64, n: u64| {
            let truth = 6.0 / std::f64::consts::PI * (r / 2.0).asin();
            let held = (0..2000).filter(|&repeat| {
                let mut draws = crate::Draws::new(n, repeat);
                let mut normal = || {
                    let (radius, angle) = (1.0 - draws.unit(), draws.unit());
                    (-2.0 * radius.ln()).sqrt() * (2.0 * std::f64::consts::PI * angle).cos()
                };
                let pairs: Vec<(f64, f64)> = (0..n)
                    .map(|_| {
                        let (a, b) = (normal(), normal());
                        (a, r * a + (1.0 - r * r).sqrt() * b)
                    })
                    .collect();
                let bounds = spearman(&pairs).unwrap().bounds(Confidence::PERCENT_95);
                bounds.low <= truth && truth <= bounds.high
            });
            held.count() as f64 / 2000.0
        };
        for (r, n) in [(0.0, 30), (0.6, 30), (0.9, 30), (0.5, 100)] {
            let share = covered(r, n);
            assert!((0.92..0.98).contains(&share), "{r}, {n}: {share}");
        }
        let same: Vec<(f64, f64)> = (0..30).map(|it| (f64::from(it), f64::from(it))).collect();
        let bounds = spearman(&same).unwrap().bounds(Confidence::PERCENT_95);
        assert!(0.5 < bounds.low && bounds.low < 1.0 && bounds.high == 1.0, "{bounds:?}");
    }

    #[test]
    fn ties_share_their_ranks_and_no_order_has_no_coefficient() {
        assert_eq!(mean_ranks(vec![3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        assert_eq!(spearman(&[(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)]), None);
        assert_eq!(spearman(&[(1.0, 1.0), (2.0, 3.0)]), None);
    }
}
