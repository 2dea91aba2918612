//! Means of a number that was measured several times.

use stats::{Confidence, Repeated};
use study::Cell;

use crate::statements::Verdict;

/// A number for each seed, or for each block of a measurement: their mean, and its bounds at 95 % by Student's t.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SeedMean {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// How many seeds.
    pub(crate) seeds: u64,
}

impl SeedMean {
    /// Of every one; none if one lacks the number or has no finite one, as the ratio to a time too short to be seen, or there are
    /// fewer than two.
    pub(crate) fn of<T>(all: &[T], number: impl Fn(&T) -> Option<f64>) -> Option<Self> {
        let finite = |it: &T| number(it).filter(|number| number.is_finite());
        let values = all.iter().map(finite).collect::<Option<Vec<f64>>>()?;
        let it = Repeated::of(&values)?;
        let half = it.half_width(0.0, Confidence::PERCENT_95);
        Some(Self { value: it.mean, low: it.mean - half, high: it.mean + half, seeds: it.count })
    }

    /// Whether the mean is at most a number: yes if its whole interval is, no if none of it is.
    pub(crate) fn is_at_most(self, bound: f64) -> Verdict {
        if self.high <= bound {
            Verdict::Holds
        } else if self.low > bound {
            Verdict::Fails
        } else {
            Verdict::Open
        }
    }

    /// Whether the mean is at least a number.
    pub(crate) fn is_at_least(self, bound: f64) -> Verdict {
        Self { value: -self.value, low: -self.high, high: -self.low, ..self }.is_at_most(-bound)
    }

    /// As a share in percent, whose bounds lie between nothing and all.
    pub(crate) fn percent(self) -> String {
        let [value, low, high] = [self.value, self.low, self.high].map(|share| share.clamp(0.0, 1.0) * 100.0);
        format!("{value:.2} % ({low:.2} to {high:.2}), {} seeds", self.seeds)
    }

    /// As a difference of shares, in percentage points.
    pub(crate) fn points(self) -> String {
        let [value, low, high] = [self.value, self.low, self.high].map(|share| share * 100.0);
        format!("{value:.2} points ({low:.2} to {high:.2}), {} seeds", self.seeds)
    }

    /// As a number.
    pub(crate) fn number(self) -> String {
        format!("{:.3} ({:.3} to {:.3}), {} seeds", self.value, self.low, self.high, self.seeds)
    }

    pub(crate) fn rate(found: Option<Self>) -> Cell {
        found.map_or(Cell::None, |it| {
            let [rate, low, high] = [it.value, it.low, it.high].map(|share| share.clamp(0.0, 1.0));
            Cell::Rate { rate, low, high }
        })
    }

    pub(crate) fn quantity(found: Option<Self>) -> Cell {
        found.map_or(Cell::None, |it| Cell::Quantity { value: it.value, low: it.low, high: it.high })
    }
}
