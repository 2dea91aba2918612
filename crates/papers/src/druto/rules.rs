//! The rules of the page: what decides statements, from numbers with their bounds.

use serde_json::Value;
use stats::{Repeated, ranks};
use std::cmp::Ordering;

use crate::statements::{Judged, Statement, Verdict};

/// The level of the tests, for all kernels of a statement together.
const LEVEL: f64 = 0.05;

/// An estimate with its bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Estimate {
    /// The estimate in a document: of a coefficient, whose key is `value`, or of a rate, whose key is `rate`.
    pub(super) fn read(it: &Value, key: &str) -> Option<Self> {
        let of = |key: &str| it[key].as_f64();
        Some(Self { value: of(key)?, low: of("low")?, high: of("high")? })
    }
}

/// A statement of the paper with our numbers and its verdict.
pub(super) fn statement(claim: &str, paper: &str, ours: String, judged: Judged) -> Statement {
    Statement { claim: claim.to_owned(), paper: paper.to_owned(), ours, judged }
}

/// Whether a coefficient is as high as `least`. It is not, where its whole interval lies below `least` times its ceiling: the noise
/// of measured rates lowers a coefficient at most by that factor.
pub(super) fn at_least(found: Option<Estimate>, ceiling: Option<Estimate>, least: f64) -> Verdict {
    match (found, ceiling) {
        (Some(found), _) if found.low >= least => Verdict::Holds,
        (Some(found), Some(ceiling)) if found.high < least * ceiling.low.max(0.0) => Verdict::Fails,
        _ => Verdict::Open,
    }
}

/// Whether two samples of values differ, by the rank-sum test at the level divided by the number of kernels, and how: the order of
/// the first to the second.
pub(super) fn differ(first: &[f64], second: &[f64], kernels: usize) -> Option<Ordering> {
    let whole = |values: &[f64]| {
        let mut whole: Vec<u64> = values.iter().map(|value| (value * 1e9).round() as u64).collect();
        whole.sort_unstable();
        whole
    };
    let found = ranks(&whole(first), &whole(second))?;
    let is_smaller = if found.smaller > 0.5 { Ordering::Less } else { Ordering::Greater };
    (found.p * kernels.max(1) as f64 <= LEVEL).then_some(is_smaller)
}

/// Kernels of a statement about most of them, at least.
pub(super) const KERNELS: usize = 3;

/// "Of most kernels": it holds if it does for more than half of all, fails if the contrary does for at least half, and is undecided
/// else, also with fewer kernels than [`KERNELS`].
pub(super) fn most(holds: usize, contrary: usize, all: usize) -> Verdict {
    if all < KERNELS { Verdict::Open } else { Verdict::most(holds, contrary, all) }
}

/// The bounds of a ratio of two estimates, the smallest and the largest that their bounds allow; no upper one where the divisor may
/// be nothing.
pub(super) fn ratio(one: Estimate, other: Estimate) -> Estimate {
    let over = |above: f64, below: f64| if below > 0.0 { above / below } else { f64::INFINITY };
    Estimate { value: over(one.value, other.value), low: over(one.low, other.high), high: over(one.high, other.low) }
}

/// "By up to": it holds if a ratio is as large as `most` with its whole interval, fails if all lie below with theirs, and is undecided
/// else, also without ratios.
pub(super) fn up_to(ratios: &[Estimate], most: f64) -> Verdict {
    if ratios.iter().any(|ratio| ratio.low >= most) {
        Verdict::Holds
    } else if !ratios.is_empty() && ratios.iter().all(|ratio| ratio.high < most) {
        Verdict::Fails
    } else {
        Verdict::Open
    }
}

/// The difference of the means of two samples with bounds at 95 %: 1.96 standard errors, or what Student's t says of the smaller one.
pub(super) fn difference(one: &[f64], other: &[f64]) -> Option<Estimate> {
    let (one, other) = (Repeated::of(one)?, Repeated::of(other)?);
    let (few, more) = if one.count <= other.count { (one, other) } else { (other, one) };
    let half = few.half_width(more.error(), stats::Confidence::PERCENT_95);
    let value = one.mean - other.mean;
    Some(Estimate { value, low: value - half, high: value + half })
}

/// Whether differences stay within a bound on average: of each the smallest and the largest size that its interval allows.
pub(super) fn within(differences: &[Estimate], bound: f64) -> Verdict {
    let mean = |size: &dyn Fn(&Estimate) -> f64| differences.iter().map(size).sum::<f64>() / differences.len() as f64;
    let least = |it: &Estimate| if it.low <= 0.0 && it.high >= 0.0 { 0.0 } else { it.low.abs().min(it.high.abs()) };
    let most = |it: &Estimate| it.low.abs().max(it.high.abs());
    if differences.is_empty() {
        Verdict::Open
    } else if mean(&most) <= bound {
        Verdict::Holds
    } else if mean(&least) > bound {
        Verdict::Fails
    } else {
        Verdict::Open
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Fails, Holds, Open};

    fn of(low: f64, high: f64) -> Estimate {
        Estimate { value: (low + high) / 2.0, low, high }
    }

    #[test]
    fn a_low_coefficient_fails_only_where_sampling_would_allow_a_high_one() {
        let judged = |found, ceiling| at_least(Some(found), ceiling, 0.7);
        assert_eq!(judged(of(0.7, 0.9), None), Holds);
        assert_eq!(judged(of(0.1, 0.5), Some(of(0.8, 0.9))), Fails);
        assert_eq!(judged(of(0.1, 0.6), Some(of(0.5, 0.9))), Open);
        // A coefficient below 0 is not one of noise.
        assert_eq!(judged(of(-0.3, -0.1), Some(of(0.5, 0.9))), Fails);
        assert_eq!(judged(of(-0.3, -0.1), Some(of(-0.2, 0.9))), Fails);
        assert_eq!(judged(of(-0.3, 0.1), Some(of(-0.2, 0.9))), Open);
        assert_eq!(judged(of(0.1, 0.6), None), Open);
        assert_eq!(judged(of(0.6, 0.8), Some(of(0.8, 0.9))), Open);
        assert_eq!(at_least(None, None, 0.7), Open);
    }

    #[test]
    fn samples_differ_by_a_test_corrected_for_the_kernels() {
        let from = |first: u32| (first..first + 10).map(f64::from).collect::<Vec<_>>();
        assert_eq!(differ(&from(0), &from(20), 4), Some(Ordering::Less));
        assert_eq!(differ(&from(20), &from(0), 4), Some(Ordering::Greater));
        assert_eq!(differ(&from(0), &from(1), 4), None);
        assert_eq!(differ(&from(0), &from(20), 10_000), None);
        assert_eq!(differ(&[], &from(0), 1), None);
    }

    #[test]
    fn most_kernels_are_more_than_half_and_the_rest_decides_nothing() {
        assert_eq!([most(3, 0, 4), most(2, 1, 4), most(1, 2, 4), most(1, 2, 3)], [Holds, Open, Fails, Fails]);
        // Two kernels are not most of many.
        assert_eq!([most(2, 0, 2), most(0, 2, 2), most(0, 0, 0)], [Open; 3]);
    }

    #[test]
    fn a_largest_ratio_is_judged_by_its_bounds() {
        let ratios =
            |pairs: &[(Estimate, Estimate)]| pairs.iter().map(|&(one, other)| ratio(one, other)).collect::<Vec<_>>();
        let small = (of(0.2, 0.3), of(0.1, 0.2));
        assert_eq!(up_to(&ratios(&[small]), 74.0), Fails);
        assert_eq!(up_to(&ratios(&[small, (of(0.2, 0.3), of(0.003, 0.008))]), 74.0), Open);
        assert_eq!(up_to(&ratios(&[small, (of(0.8, 0.9), of(0.001, 0.002))]), 74.0), Holds);
        // A baseline that may find nothing leaves the ratio without an upper bound.
        assert_eq!(up_to(&ratios(&[(of(0.2, 0.3), of(0.0, 0.1))]), 74.0), Open);
        assert_eq!(up_to(&[], 74.0), Open);
    }

    #[test]
    fn differences_are_within_a_bound_only_with_their_intervals() {
        let near = difference(&[0.50, 0.51, 0.50, 0.51], &[0.505, 0.505, 0.505, 0.505]).unwrap();
        assert!(near.value.abs() < 1e-9 && near.high < 0.0128, "{near:?}");
        assert_eq!(within(&[near], 0.0128), Holds);
        assert_eq!(within(&[of(-0.02, 0.02)], 0.0128), Open);
        assert_eq!(within(&[of(0.02, 0.03)], 0.0128), Fails);
        assert_eq!(within(&[], 0.0128), Open);
        assert_eq!(difference(&[0.5], &[0.5, 0.6]), None);
    }
}
