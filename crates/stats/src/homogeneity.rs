//! Pearson's test of homogeneity: do several samples fall into classes in the same shares?
//!
//! The counts of R samples in C classes; the expected count of a cell is (its row's total) × (its column's) / (all),
//! and the statistic has (R-1)(C-1) degrees of freedom (K. Pearson 1900; R. A. Fisher, *On the interpretation of χ²
//! from contingency tables*, JRSS 85, 1922, for the degrees). Rows and columns that hold nothing take no part.

use crate::chi_square::{ChiSquare, upper_tail};

/// The result of a test of homogeneity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Homogeneity {
    /// The test.
    pub test: ChiSquare,
    /// The smallest expected count; below five or so the p-value is rough (W. G. Cochran, Biometrics 10, 1954).
    pub smallest: f64,
}

/// Tests the counts of each sample by class; `rows` are samples. A row that is shorter than others holds nothing there.
///
/// `None` when fewer than two samples or fewer than two classes hold anything: then nothing can deviate.
#[must_use]
pub fn homogeneity(rows: &[&[u64]]) -> Option<Homogeneity> {
    let columns = rows.iter().map(|row| row.len()).max()?;
    let cell = |row: &[u64], column: usize| row.get(column).copied().unwrap_or(0) as f64;
    let row_totals: Vec<f64> = rows.iter().map(|row| row.iter().map(|&count| count as f64).sum()).collect();
    let column_totals: Vec<f64> =
        (0..columns).map(|column| rows.iter().map(|row| cell(row, column)).sum::<f64>()).collect();
    let held = |totals: &[f64]| totals.iter().filter(|&&total| total > 0.0).count() as u64;
    let dof = held(&row_totals).checked_sub(1)? * held(&column_totals).checked_sub(1)?;
    let all: f64 = row_totals.iter().sum();
    let (mut statistic, mut smallest) = (0.0, f64::INFINITY);
    for (row, row_total) in rows.iter().zip(&row_totals) {
        for (column, column_total) in column_totals.iter().enumerate() {
            let expected = row_total * column_total / all;
            if expected > 0.0 {
                statistic += (cell(row, column) - expected).powi(2) / expected;
                smallest = smallest.min(expected);
            }
        }
    }
    (dof > 0).then(|| Homogeneity { test: ChiSquare { statistic, dof, p: upper_tail(statistic, dof) }, smallest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_textbook_table_gives_the_textbook_values() {
        // A. Agresti, An Introduction to Categorical Data Analysis, 2nd ed. 2007, p. 39: party by gender.
        let found = homogeneity(&[&[762, 327, 468], &[484, 239, 477]]).unwrap();
        assert_eq!(found.test.dof, 2);
        assert!((found.test.statistic - 30.07).abs() < 5e-3, "{found:?}");
        assert!((found.test.p / 2.954e-7 - 1.0).abs() < 1e-3, "{found:?}");
        assert!((found.smallest - 246.4).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn empty_classes_and_samples_take_no_part() {
        let full = homogeneity(&[&[10, 20], &[30, 5]]);
        assert_eq!(homogeneity(&[&[10, 0, 20], &[], &[30, 0, 5]]), full);
        assert_eq!(full.unwrap().test.dof, 1);
    }

    #[test]
    fn where_nothing_can_deviate_there_is_no_test() {
        assert_eq!(homogeneity(&[]), None);
        assert_eq!(homogeneity(&[&[0, 0], &[0, 0]]), None);
        assert_eq!(homogeneity(&[&[3, 4]]), None);
        assert_eq!(homogeneity(&[&[3, 0], &[4, 0]]), None);
    }
}
