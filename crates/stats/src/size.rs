//! How many trials a margin needs, and what margin a number of trials gives, before anything is known.
//!
//! Both take the worst case p = 1/2 and the normal approximation, as R. Leveugle, A. Calvez, P. Maistri &
//! P. Vanhauwaert, *Statistical fault injection: quantified error and confidence*, DATE 2009, do for populations
//! too large to matter (their finite-population correction is below one trial for more than 10⁵ sites).

use crate::confidence::{Confidence, Margin};

/// The fewest trials whose worst-case [`half_width`] does not exceed `margin`: ⌈(z / 2e)²⌉.
///
/// The literature rounds to the nearest trial and prints 384 (±5 %) and 1,067 (±3 %) at 95 %; those miss their
/// margin by a hair, so this returns 385 and 1,068 (and 9,604 for ±1 %, like everyone).
#[must_use]
pub fn sample_size(margin: Margin, confidence: Confidence) -> u64 {
    let root = confidence.z() / (2.0 * margin.get());
    // A float cast saturates, so an absurd margin asks for u64::MAX trials rather than for few.
    (root * root).ceil() as u64
}

/// The half-width z / 2√n of the worst-case interval after `trials`, capped at the 1/2 known without any.
#[must_use]
pub fn half_width(trials: u64, confidence: Confidence) -> f64 {
    (confidence.z() / (2.0 * (trials as f64).sqrt())).min(0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(margin: f64, level: f64) -> u64 {
        sample_size(Margin::new(margin).unwrap(), Confidence::new(level).unwrap())
    }

    #[test]
    fn sizes_are_those_of_the_literature_rounded_up() {
        assert_eq!(size(0.05, 0.95), 385);
        assert_eq!(size(0.03, 0.95), 1068);
        assert_eq!(size(0.01, 0.95), 9604);
        // (2.575829 / 0.02)² = 16,587.2.
        assert_eq!(size(0.01, 0.99), 16_588);
    }

    #[test]
    fn the_published_sizes_give_their_margins_to_the_printed_digits() {
        for (trials, margin) in [(384, 0.050), (1000, 0.031), (1067, 0.030), (9604, 0.010)] {
            let found = half_width(trials, Confidence::PERCENT_95);
            assert!((found - margin).abs() < 5e-4, "{trials}: {found}");
        }
    }

    #[test]
    fn a_size_is_the_smallest_that_keeps_its_margin() {
        for margin in [0.2, 0.05, 0.03, 0.01, 0.003] {
            let trials = size(margin, 0.95);
            assert!(half_width(trials, Confidence::PERCENT_95) <= margin);
            assert!(half_width(trials - 1, Confidence::PERCENT_95) > margin);
        }
    }

    #[test]
    fn an_absurd_margin_saturates_and_no_trial_bounds_nothing() {
        assert_eq!(size(1e-300, 0.95), u64::MAX);
        assert_eq!(half_width(0, Confidence::PERCENT_95), 0.5);
    }
}
