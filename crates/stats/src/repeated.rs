//! A quantity that was measured several times over: its mean, its spread, and what both say.
//!
//! - [`Repeated::mean_test`]: Student's t (*The probable error of a mean*, Biometrika 6, 1908), with the error of what the mean is held against
//!   beside that of the mean;
//! - [`Repeated::spread_test`]: (n-1) s²/σ² is distributed as χ² with n-1 degrees of freedom if the spread is σ (R. A. Fisher, *Statistical
//!   Methods for Research Workers*, 1925, §14).
//!
//! Both suppose that the measurements are independent and nearly normal: means of many trials are.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::chi_square::upper_tail;
use crate::confidence::Confidence;

/// Several measurements of one quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repeated {
    /// The number of measurements.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, with n-1 below.
    pub deviation: f64,
}

impl Repeated {
    /// What some measurements come to; `None` of fewer than two, which have no spread.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len() as u64;
        let n = count as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        (count >= 2).then(|| Self { count, mean, deviation: (squares / (n - 1.0)).sqrt() })
    }

    /// The standard error of the mean.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.deviation / (self.count as f64).sqrt()
    }

    /// How far a mean may be from the true one, at a confidence: t times its standard error and that of `other`, which it is held
    /// against. The degrees of freedom are those of the mean, fewer than there are.
    #[must_use]
    pub fn half_width(&self, other: f64, confidence: Confidence) -> f64 {
        let quantile = self.student().map_or(f64::NAN, |t| -t.inverse_cdf(confidence.alpha() / 2.0));
        quantile * self.error().hypot(other)
    }

    /// The two-sided p-value of a true mean of zero, where what was subtracted has a standard error of `other`. 1 where the mean is zero.
    #[must_use]
    pub fn mean_test(&self, other: f64) -> f64 {
        let error = self.error().hypot(other);
        if self.mean == 0.0 {
            return 1.0;
        }
        if error == 0.0 {
            return 0.0;
        }
        self.student().map_or(f64::NAN, |t| 2.0 * t.sf((self.mean / error).abs()))
    }

    /// The p-value of a spread at least this large if the true one is `expected`. 1 where there is none.
    #[must_use]
    pub fn spread_test(&self, expected: f64) -> f64 {
        if self.deviation == 0.0 {
            return 1.0;
        }
        let freedom = self.count - 1;
        upper_tail(freedom as f64 * (self.deviation / expected).powi(2), freedom)
    }

    fn student(&self) -> Option<StudentsT> {
        StudentsT::new(0.0, 1.0, self.count as f64 - 1.0).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student 1908, table of Cushny and Peebles: additional hours of sleep of ten patients, second drug less first.
    const SLEEP: [f64; 10] = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];

    #[test]
    fn the_sleep_of_students_patients_has_his_probability() {
        let sleep = Repeated::of(&SLEEP).unwrap();
        assert!((sleep.mean - 1.58).abs() < 1e-12 && (sleep.deviation - 1.229_995).abs() < 1e-6, "{sleep:?}");
        // R's `t.test(extra ~ group, paired = TRUE)`: p = 0.002833, 0.7001 to 2.4599.
        assert!((sleep.mean_test(0.0) - 0.002_833).abs() < 5e-7, "{}", sleep.mean_test(0.0));
        assert!((sleep.half_width(0.0, Confidence::PERCENT_95) - 0.879_9).abs() < 5e-5);
    }

    #[test]
    fn the_spread_is_tested_by_chi_square() {
        // Ten values with twice the expected deviation: χ² = 36 with 9 degrees, of which the upper tail is 3.94e-5.
        let twice = Repeated { count: 10, mean: 0.0, deviation: 2.0 };
        assert!((twice.spread_test(1.0) / 3.94e-5 - 1.0).abs() < 0.01, "{}", twice.spread_test(1.0));
        assert!((twice.spread_test(2.0) - 0.437).abs() < 1e-3, "{}", twice.spread_test(2.0));
    }

    #[test]
    fn what_never_differs_is_not_tested() {
        let same = Repeated::of(&[0.0, 0.0, 0.0]).unwrap();
        assert_eq!((same.mean_test(0.0), same.mean_test(0.1), same.spread_test(0.0)), (1.0, 1.0, 1.0));
        let always = Repeated::of(&[0.5, 0.5]).unwrap();
        assert_eq!(always.mean_test(0.0), 0.0);
        assert_eq!(Repeated::of(&[1.0]), None);
    }
}
