//! The coefficients of one segment, from bounds on its sums.
//!
//! A result bounds the sum that was truncated to it: `low ≤ c0 + c1·x + c2·x² < high`. How much room all bounds leave for
//! c0 is a concave function of c1 and c2, so that two nested ternary searches find where it is largest, over the reals;
//! the integers near by are then tried one by one.

use isa::semantics::approx::interpolator::square;

/// What is known of a sum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    /// The x of the sum.
    pub(super) x: u32,
    /// The least that it can be.
    pub(super) low: i64,
    /// The least that it cannot be.
    pub(super) high: i64,
}

/// Coefficients that agree with all bounds of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fit {
    /// The coefficient of x.
    pub(super) c1: i32,
    /// The coefficient of the square.
    pub(super) c2: i32,
    /// The constant can be from here…
    pub(super) low: i64,
    /// … to just below here.
    pub(super) high: i64,
}

/// A bound whose square is known: x, the square, low, high.
type Term = (f64, f64, f64, f64);

/// All coefficients that agree with the bounds; `shift` is what the square counts.
pub(super) fn fits(bounds: &[Bound], shift: u32) -> Vec<Fit> {
    let term = |bound: &Bound| {
        let squared = square(bound.x) << shift;
        (f64::from(bound.x), f64::from(squared), bound.low as f64, bound.high as f64)
    };
    let few: Vec<Term> = bounds.iter().step_by((bounds.len() / 2000).max(1)).chain(bounds.last()).map(term).collect();
    let (c2, _) = peak(REACH_SQUARE, |c2| peak(REACH, |c1| room(&few, c1, c2)).1);
    let near = |real: f64, reach: i32| (-reach..=reach).map(move |step| real.round() as i32 + step);
    let candidates = near(c2, 4).flat_map(|c2| {
        let (c1, _) = peak(REACH, |c1| room(&few, c1, f64::from(c2)));
        near(c1, 2).map(move |c1| (c1, c2))
    });
    let possible = candidates.filter(|&(c1, c2)| room(&few, f64::from(c1), f64::from(c2)) > 0.0);
    possible.filter_map(|(c1, c2)| fit(bounds, shift, c1, c2)).collect()
}

/// Beyond the coefficient of x of any function.
const REACH: f64 = 524_288.0;
/// Beyond the coefficient of the square.
const REACH_SQUARE: f64 = 65_536.0;

/// What these coefficients leave for the constant, if anything.
fn fit(bounds: &[Bound], shift: u32, c1: i32, c2: i32) -> Option<Fit> {
    let mut fit = Fit { c1, c2, low: i64::MIN, high: i64::MAX };
    for bound in bounds {
        let rest = i64::from(c1) * i64::from(bound.x) + i64::from(c2) * i64::from(square(bound.x) << shift);
        fit.low = fit.low.max(bound.low - rest);
        fit.high = fit.high.min(bound.high - rest);
    }
    (fit.low < fit.high).then_some(fit)
}

/// How much room the constant has; negative where it has none.
fn room(terms: &[Term], c1: f64, c2: f64) -> f64 {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    for &(x, squared, from, to) in terms {
        let rest = c1 * x + c2 * squared;
        low = low.max(from - rest);
        high = high.min(to - rest);
    }
    high - low
}

/// Where a concave function is largest between `-reach` and `reach`, and how large.
fn peak(reach: f64, f: impl Fn(f64) -> f64) -> (f64, f64) {
    let (mut from, mut to) = (-reach, reach);
    for _ in 0..70 {
        let third = (to - from) / 3.0;
        let (left, right) = (from + third, to - third);
        if f(left) < f(right) { from = left } else { to = right }
    }
    let middle = f64::midpoint(from, to);
    (middle, f(middle))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_come_back_from_truncated_sums() {
        for (c0, c1, c2) in [(549_755_815_895, -65_534, 1013), (34_805_368_879, 44_936, 980)] {
            let bound = |x: u32| {
                let sum = c0 + c1 * i64::from(x) + c2 * i64::from(square(x) << 1);
                Bound { x, low: sum >> 15 << 15, high: ((sum >> 15) + 1) << 15 }
            };
            let bounds: Vec<Bound> = (0..1 << 17).map(bound).collect();
            let fits = fits(&bounds, 1);
            assert!(matches!(fits[..], [Fit { low, high, .. }] if (low..high).contains(&c0)), "{fits:?}");
            assert_eq!((i64::from(fits[0].c1), i64::from(fits[0].c2)), (c1, c2));
        }
    }

    #[test]
    fn bounds_that_no_coefficients_keep_have_no_fit() {
        let bounds: Vec<Bound> = (0..1 << 17)
            .map(|x| {
                let cube = i64::from(x).pow(3) >> 20;
                Bound { x, low: cube, high: cube + 16 }
            })
            .collect();
        assert_eq!(fits(&bounds, 0), []);
    }
}
