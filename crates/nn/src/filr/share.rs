//! Counted shares with their intervals, as documents have them.

use serde::Serialize;
use stats::{Confidence, Proportion};

/// How many of a number, with Wilson's interval at 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The number of members that count.
    pub count: u64,
    /// Of how many.
    pub of: u64,
    /// The share, 0 to 1; none of none.
    pub share: Option<f64>,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl Share {
    /// `count` of `of`.
    #[must_use]
    pub fn new(count: u64, of: u64) -> Self {
        let proportion = Proportion::from_counts(count, of.saturating_sub(count));
        let interval = proportion.wilson(Confidence::PERCENT_95);
        Self { count, of, share: proportion.rate(), low: interval.low, high: interval.high }
    }
}
