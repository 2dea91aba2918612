//! The difference of two proportions, from the statistics that know how it is bounded and tested.

use stats::{Confidence, IntervalKind, Proportion, ProportionComparison};

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

/// The difference `b - a` of two independent proportions, from Wilson intervals; `None` while one of them has no trials.
pub(crate) fn difference(a: Proportion, b: Proportion, level: Confidence) -> Option<Difference> {
    let compared = ProportionComparison::of(b, a, IntervalKind::Wilson, level)?;
    let (low, high) = (compared.interval.low, compared.interval.high);
    Some(Difference { estimate: compared.difference, low, high, p_value: compared.p })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_is_the_second_less_the_first() {
        let proportion = |successes, trials| Proportion::new(successes, trials).unwrap();
        let found = difference(proportion(48, 80), proportion(56, 70), Confidence::PERCENT_95).unwrap();
        // R. G. Newcombe, Statistics in Medicine 17, 1998, table II, method 10.
        assert!((found.low - 0.0524).abs() < 5e-5 && (found.high - 0.3339).abs() < 5e-5, "{found:?}");
        assert!((found.estimate - 0.2).abs() < 1e-12);
        assert_eq!(difference(proportion(0, 0), proportion(1, 2), Confidence::PERCENT_95), None);
    }
}
