//! The two promises of an estimate, as types that cannot hold nonsense: how sure ([`Confidence`]) and how close
//! ([`Margin`]).

use statrs::distribution::{ContinuousCDF, Normal};

/// A number that cannot be what it was given as.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("accept {value} as {what}: it must lie strictly between {low} and {high}")]
pub struct OutOfRange {
    /// What the number was to be.
    pub what: &'static str,
    /// The number.
    pub value: f64,
    /// The excluded lower bound.
    pub low: f64,
    /// The excluded upper bound.
    pub high: f64,
}

impl OutOfRange {
    /// Returns `value` when it lies strictly between the bounds; NaN does not.
    fn check(what: &'static str, value: f64, low: f64, high: f64) -> Result<f64, Self> {
        if value > low && value < high { Ok(value) } else { Err(Self { what, value, low, high }) }
    }
}

/// The share of repetitions of the whole experiment in which a stated bound holds; strictly between 0 and 1.
///
/// Held with its complement α, because corrected levels sit so close to 1 that computing α from them would lose digits.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Confidence {
    level: f64,
    alpha: f64,
}

impl Confidence {
    /// The level that the literature on fault injection reports: 95 %.
    pub const PERCENT_95: Self = Self { level: 0.95, alpha: 1.0 - 0.95 };

    /// Takes a level such as 0.95.
    ///
    /// # Errors
    /// When `level` is not strictly between 0 and 1.
    pub fn new(level: f64) -> Result<Self, OutOfRange> {
        let level = OutOfRange::check("a confidence", level, 0.0, 1.0)?;
        Ok(Self { level, alpha: 1.0 - level })
    }

    /// The level, such as 0.95.
    #[must_use]
    pub fn level(self) -> f64 {
        self.level
    }

    /// The probability α that the bound is allowed to miss, on both sides together.
    #[must_use]
    pub fn alpha(self) -> f64 {
        self.alpha
    }

    /// The two-sided standard normal quantile, 1.96 for 95 %.
    #[must_use]
    pub fn z(self) -> f64 {
        // The lower tail, where α/2 is exact, rather than 1 - α/2, where it is rounded.
        -Normal::standard().inverse_cdf(self.alpha / 2.0)
    }

    /// The level that each of `parts` statements needs so that all of them hold together at this one.
    ///
    /// Bonferroni's inequality: the chance that any of m statements fails is at most the sum of their chances, so
    /// α/m each keeps α (C. E. Bonferroni, *Teoria statistica delle classi e calcolo delle probabilità*, 1936;
    /// O. J. Dunn, *Multiple comparisons among means*, JASA 56, 1961). Zero parts count as one.
    #[must_use]
    pub fn split(self, parts: usize) -> Self {
        let alpha = self.alpha / parts.max(1) as f64;
        Self { level: 1.0 - alpha, alpha }
    }
}

/// How far the reported proportion may be from the true one; strictly between 0 and one half.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Margin(f64);

impl Margin {
    /// Takes a margin such as 0.05 for ±5 percentage points.
    ///
    /// # Errors
    /// When `margin` is not strictly between 0 and 0.5; half says nothing about a proportion.
    pub fn new(margin: f64) -> Result<Self, OutOfRange> {
        OutOfRange::check("a margin", margin, 0.0, 0.5).map(Self)
    }

    /// The margin, such as 0.05.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_quantiles_agree_with_the_tables() {
        // Abramowitz & Stegun, Handbook of Mathematical Functions, chapter 26; two-sided.
        for (level, z) in [(0.90, 1.644_853_627), (0.95, 1.959_963_985), (0.99, 2.575_829_304)] {
            let confidence = Confidence::new(level).unwrap();
            assert!((confidence.z() - z).abs() < 1e-9, "{level}: {}", confidence.z());
        }
    }

    #[test]
    fn a_level_is_given_back_to_the_last_bit() {
        for level in [0.1, 0.5, 0.95, 0.999] {
            assert_eq!(Confidence::new(level).unwrap().level(), level);
        }
        assert_eq!(Confidence::new(0.95), Ok(Confidence::PERCENT_95));
    }

    #[test]
    fn a_level_outside_zero_and_one_is_refused_with_its_bounds() {
        for level in [0.0, 1.0, -1.0, 95.0, f64::NAN, f64::INFINITY] {
            assert!(Confidence::new(level).is_err(), "{level}");
        }
        let text = Confidence::new(95.0).unwrap_err().to_string();
        assert_eq!(text, "accept 95 as a confidence: it must lie strictly between 0 and 1");
    }

    #[test]
    fn a_margin_of_a_half_or_more_is_refused() {
        for margin in [0.0, 0.5, -0.1, f64::NAN] {
            assert!(Margin::new(margin).is_err(), "{margin}");
        }
    }

    #[test]
    fn splitting_divides_the_chance_of_missing() {
        let part = Confidence::PERCENT_95.split(10);
        assert!((part.alpha() - 0.005).abs() < 1e-15);
        assert_eq!(Confidence::PERCENT_95.split(0), Confidence::PERCENT_95);
        assert_eq!(Confidence::PERCENT_95.split(1), Confidence::PERCENT_95);
    }
}
