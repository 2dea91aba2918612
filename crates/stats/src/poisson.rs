//! Counts of events that come by chance: the exact interval of their mean.
//!
//! F. Garwood, *Fiducial limits for the Poisson distribution*, Biometrika 28, 1936: half of the quantiles of χ² with 2n and
//! 2n + 2 degrees of freedom, which are quantiles of gamma distributions. Of a great many events the cube root of a gamma variable
//! is normal (E. B. Wilson & M. M. Hilferty, *The distribution of chi-square*, PNAS 17, 1931); the same to twelve digits, and at once.

use statrs::distribution::{ContinuousCDF, Gamma, Normal};

use crate::bounded::Bounded;
use crate::confidence::Confidence;

/// From so many events on the cube root is taken to be normal.
const MANY: f64 = 1e8;

/// So many events, and between which bounds their mean is.
#[must_use]
pub fn poisson(events: u64, confidence: Confidence) -> Bounded {
    let side = confidence.alpha() / 2.0;
    let quantile = |shape: f64, p: f64| {
        if shape < MANY {
            return Gamma::new(shape, 1.0).map_or(f64::NAN, |gamma| gamma.inverse_cdf(p));
        }
        let root = 1.0 - 1.0 / (9.0 * shape) + Normal::standard().inverse_cdf(p) / (3.0 * shape.sqrt());
        shape * root.powi(3)
    };
    let count = events as f64;
    let low = if events == 0 { 0.0 } else { quantile(count, side) };
    Bounded { value: count, low, high: quantile(count + 1.0, 1.0 - side) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_are_those_of_garwoods_table() {
        for (events, low, high) in [(0, 0.0, 3.689), (1, 0.0253, 5.572), (10, 4.795, 18.39), (100, 81.36, 121.63)] {
            let found = poisson(events, Confidence::PERCENT_95);
            assert!((found.low - low).abs() < 5e-3 * low.max(1.0), "{found:?}");
            assert!((found.high - high).abs() < 5e-3 * high, "{found:?}");
            assert_eq!(found.value, events as f64);
        }
    }

    #[test]
    fn the_bounds_of_a_great_many_events_go_on_where_those_of_fewer_end() {
        let width = |events: u64| {
            let found = poisson(events, Confidence::PERCENT_95);
            assert!(found.low < found.value && found.value < found.high, "{found:?}");
            [found.value - found.low, found.high - found.value].map(|side| side / found.value.sqrt())
        };
        let ([low, high], [more_low, more_high]) = (width(99_999_000), width(100_001_000));
        assert!(
            (low - more_low).abs() < 1e-4 && (high - more_high).abs() < 1e-4,
            "{low} {more_low} {high} {more_high}"
        );
        width(1 << 50);
    }
}
