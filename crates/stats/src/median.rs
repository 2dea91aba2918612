//! The median of a sample, with an interval that holds for any distribution.
//!
//! Of n ordered values the k-th and the (n + 1 - k)-th enclose the median unless fewer than k lie on one side of it, which
//! has the chance 2 P(B < k) for B binomial(n, 1/2) (H. A. David & H. N. Nagaraja, *Order Statistics*, 2003, Section 7.1).

use crate::confidence::Confidence;

/// A median with its bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Median {
    /// The middle value, or the mean of the two.
    pub value: f64,
    /// The lower bound: a value of the sample.
    pub low: f64,
    /// The upper bound: a value of the sample.
    pub high: f64,
    /// The confidence that the bounds reach: at least the one that was asked for, or that of the extremes if the sample is too
    /// small for it.
    pub confidence: f64,
}

/// The median of a sample; none of an empty one. The bounds are the narrowest that reach the confidence; of fewer than six
/// values none reach 95 %.
#[must_use]
pub fn median(values: &[f64], confidence: Confidence) -> Option<Median> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let last = n.checked_sub(1)?;
    // The chance that fewer than `below + 1` values lie on one side.
    let (mut below, mut tail, mut chance) = (0, 0.0, 0.5_f64.powi(n as i32));
    let mut reached = None;
    while below <= last / 2 {
        tail += chance;
        if reached.is_some() && 2.0 * tail > confidence.alpha() {
            break;
        }
        reached = Some((below, (1.0 - 2.0 * tail).max(0.0)));
        chance *= (n - below) as f64 / (below + 1) as f64;
        below += 1;
    }
    let (from, confidence) = reached?;
    let value = f64::midpoint(values[last / 2], values[n / 2]);
    Some(Median { value, low: values[from], high: values[last - from], confidence })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    #[test]
    fn the_bounds_are_those_of_published_tables() {
        // W. J. Conover, Practical Nonparametric Statistics, 1999, Table A3: of 10 values the 2nd and the 9th reach 97.85 %, of 20
        // the 6th and the 15th 95.86 %, of 6 the extremes 96.88 %.
        let of = |n: u32| median(&(1..=n).map(f64::from).collect::<Vec<_>>(), Confidence::PERCENT_95).unwrap();
        for (n, low, high, confidence) in [(10, 2.0, 9.0, 0.9785), (20, 6.0, 15.0, 0.9586), (6, 1.0, 6.0, 0.9688)] {
            let found = of(n);
            assert_eq!((found.low, found.high, found.value), (low, high, f64::from(n + 1) / 2.0));
            assert!((found.confidence - confidence).abs() < 5e-5, "{found:?}");
        }
        // Too few for 95 %: the extremes, and what they reach.
        assert_eq!((of(3).low, of(3).high, of(3).confidence), (1.0, 3.0, 0.75));
        assert_eq!((of(1).value, of(1).confidence), (1.0, 0.0));
        assert_eq!(median(&[], Confidence::PERCENT_95), None);
    }

    #[test]
    fn simulated_coverage_is_at_least_the_level() {
        let covered = (0..4000).filter(|&repeat| {
            let mut draws = Draws::new(11, repeat);
            // An exponential distribution, whose median is ln 2.
            let values: Vec<f64> = (0..15).map(|_| -(1.0 - draws.unit()).ln()).collect();
            let found = median(&values, Confidence::PERCENT_95).unwrap();
            (found.low..=found.high).contains(&std::f64::consts::LN_2)
        });
        let share = covered.count() as f64 / 4000.0;
        assert!((0.95..0.98).contains(&share), "{share}");
    }
}
