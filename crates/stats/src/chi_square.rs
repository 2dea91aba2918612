//! Pearson's goodness-of-fit test: do counts follow the shares they should?
//!
//! K. Pearson, *On the criterion that a given system of deviations…*, Philosophical Magazine 50, 1900. The
//! approximation asks for expected counts of about five or more in each cell (W. G. Cochran, *Some methods for
//! strengthening the common χ² tests*, Biometrics 10, 1954); merging smaller cells is the caller's, who knows which
//! cells belong together.

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// The result of a goodness-of-fit test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChiSquare {
    /// Σ (observed - expected)² / expected.
    pub statistic: f64,
    /// The degrees of freedom: one less than the cells that can hold anything.
    pub dof: u64,
    /// The chance of a statistic at least this large if the counts do follow the expectation.
    pub p: f64,
}

impl ChiSquare {
    /// The test of a statistic, such as a sum of independent ones; `None` without degrees of freedom.
    #[must_use]
    pub fn of(statistic: f64, dof: u64) -> Option<Self> {
        (dof > 0).then(|| Self { statistic, dof, p: upper_tail(statistic, dof) })
    }
}

/// Why a test cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ChiSquareError {
    /// The slices differ in length.
    #[error("compare {observed} observed counts with {expected} expected ones: give one expectation for each count")]
    Length {
        /// The number of observed counts.
        observed: usize,
        /// The number of expected counts.
        expected: usize,
    },
    /// An expectation is negative or not a number.
    #[error("expect {value} in cell {cell}: an expected count must be finite and not negative")]
    Expectation {
        /// The index of the cell.
        cell: usize,
        /// Its expectation.
        value: f64,
    },
    /// Fewer than two cells can hold anything, so nothing can deviate.
    #[error("test fewer than two possible cells: nothing can deviate there")]
    TooFewCells,
}

/// Tests `observed` counts against `expected` ones of the same total.
///
/// A cell that expects nothing takes no part while it holds nothing; if it holds something, the fit is impossible
/// (infinite statistic, p = 0).
///
/// # Errors
/// When the slices differ in length, an expectation is unusable, or fewer than two cells are possible.
pub fn chi_square(observed: &[u64], expected: &[f64]) -> Result<ChiSquare, ChiSquareError> {
    if observed.len() != expected.len() {
        return Err(ChiSquareError::Length { observed: observed.len(), expected: expected.len() });
    }
    let (mut statistic, mut cells) = (0.0, 0_u64);
    for (cell, (&count, &value)) in observed.iter().zip(expected).enumerate() {
        if !value.is_finite() || value < 0.0 {
            return Err(ChiSquareError::Expectation { cell, value });
        }
        if value > 0.0 {
            let difference = count as f64 - value;
            statistic += difference * difference / value;
            cells += 1;
        } else if count > 0 {
            statistic = f64::INFINITY;
        }
    }
    let dof = cells.checked_sub(1).filter(|&dof| dof > 0).ok_or(ChiSquareError::TooFewCells)?;
    Ok(ChiSquare { statistic, dof, p: upper_tail(statistic, dof) })
}

/// The chance that a χ² variable with `dof >= 1` degrees of freedom is at least `statistic`.
pub(crate) fn upper_tail(statistic: f64, dof: u64) -> f64 {
    // No distribution is refused for a positive number of degrees; NaN would be the honest answer if one were.
    ChiSquared::new(dof as f64).map_or(f64::NAN, |distribution| distribution.sf(statistic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn critical_values_agree_with_the_tables() {
        // Abramowitz & Stegun, table 26.8: (degrees, statistic, upper tail).
        let table =
            [(1, 3.841_46, 0.05), (2, 5.991_46, 0.05), (10, 18.3070, 0.05), (10, 23.2093, 0.01), (100, 124.342, 0.05)];
        for (dof, statistic, p) in table {
            assert!((upper_tail(statistic, dof) - p).abs() < 1e-5, "{dof}: {}", upper_tail(statistic, dof));
        }
    }

    #[test]
    fn mendels_peas_fit_his_law() {
        // G. Mendel 1866, round/wrinkled × yellow/green, 9:3:3:1 of 556; Pearson's statistic is the textbook's 0.47.
        let expected = [9.0, 3.0, 3.0, 1.0].map(|share| share * 556.0 / 16.0);
        let found = chi_square(&[315, 108, 101, 32], &expected).unwrap();
        assert_eq!(found.dof, 3);
        assert!((found.statistic - 0.470).abs() < 5e-4 && (found.p - 0.925).abs() < 5e-4, "{found:?}");
    }

    #[test]
    fn a_cell_that_cannot_be_but_is_has_no_chance() {
        let found = chi_square(&[10, 10, 1], &[10.5, 10.5, 0.0]).unwrap();
        assert_eq!((found.dof, found.p), (1, 0.0));
    }

    #[test]
    fn unusable_input_is_an_error_that_says_which() {
        assert!(matches!(chi_square(&[1], &[]), Err(ChiSquareError::Length { observed: 1, expected: 0 })));
        assert!(matches!(chi_square(&[1, 2], &[1.0, f64::NAN]), Err(ChiSquareError::Expectation { cell: 1, .. })));
        assert_eq!(chi_square(&[3, 0], &[3.0, 0.0]), Err(ChiSquareError::TooFewCells));
    }
}
