//! Ordinary least squares with an intercept, its R², and the F test of the whole model.
//!
//! N. R. Draper & H. Smith, *Applied Regression Analysis*, 3rd ed. 1998, chapters 5 and 6: with n observations and k
//! variables, F = (R²/k) / ((1-R²)/(n-k-1)) is distributed as F(k, n-k-1) if no variable has an effect.

use statrs::function::beta::beta_reg;

/// A linear model that was fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Regression {
    /// The intercept, then the coefficient of each variable.
    pub coefficients: Vec<f64>,
    /// The share of the variance that the model explains.
    pub r_squared: f64,
    /// The statistic of the test that no variable has an effect.
    pub f: f64,
    /// How probable so large a statistic is if none has.
    pub p: f64,
}

/// Fits `y` by the variables, one row of them for each observation; `None` if there are too few observations or the
/// variables depend on each other.
#[must_use]
pub fn regression(rows: &[Vec<f64>], y: &[f64]) -> Option<Regression> {
    let k = rows.first()?.len();
    let n = rows.len();
    if k == 0 || n != y.len() || n < k + 2 || rows.iter().any(|row| row.len() != k) {
        return None;
    }
    let design: Vec<Vec<f64>> =
        rows.iter().map(|row| std::iter::once(1.0).chain(row.iter().copied()).collect()).collect();
    let coefficients = solve(normal_equations(&design, y))?;
    let mean = y.iter().sum::<f64>() / n as f64;
    let fitted = |row: &Vec<f64>| row.iter().zip(&coefficients).map(|(x, b)| x * b).sum::<f64>();
    let left: f64 = design.iter().zip(y).map(|(row, y)| (y - fitted(row)).powi(2)).sum();
    let all: f64 = y.iter().map(|y| (y - mean).powi(2)).sum();
    if all <= 0.0 {
        return None;
    }
    let r_squared = (1.0 - left / all).clamp(0.0, 1.0);
    let (d1, d2) = (k as f64, (n - k - 1) as f64);
    let f = (r_squared / d1) / ((1.0 - r_squared) / d2);
    let p = if f.is_finite() { beta_reg(d2 / 2.0, d1 / 2.0, d2 / (d2 + d1 * f)) } else { 0.0 };
    Some(Regression { coefficients, r_squared, f, p })
}

/// XᵀX beside Xᵀy.
fn normal_equations(design: &[Vec<f64>], y: &[f64]) -> Vec<Vec<f64>> {
    let width = design[0].len();
    let product = |a: usize, b: usize| design.iter().map(|row| row[a] * row[b]).sum::<f64>();
    let right = |a: usize| design.iter().zip(y).map(|(row, y)| row[a] * y).sum::<f64>();
    (0..width).map(|a| (0..width).map(|b| product(a, b)).chain([right(a)]).collect()).collect()
}

/// Gaussian elimination with partial pivoting; `None` if the matrix is singular to working precision.
pub(crate) fn solve(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let size = rows.len();
    let scale = rows.iter().flatten().fold(0.0_f64, |most, value| most.max(value.abs()));
    for at in 0..size {
        let pivot = (at..size).max_by(|&a, &b| rows[a][at].abs().total_cmp(&rows[b][at].abs()))?;
        rows.swap(at, pivot);
        if rows[at][at].abs() <= 1e-12 * scale {
            return None;
        }
        let (upper, lower) = rows.split_at_mut(at + 1);
        let head = &upper[at];
        for row in lower {
            let factor = row[at] / head[at];
            row.iter_mut().zip(head).skip(at).for_each(|(value, head)| *value -= factor * head);
        }
    }
    let mut solution = vec![0.0; size];
    for at in (0..size).rev() {
        let known: f64 = (at + 1..size).map(|other| rows[at][other] * solution[other]).sum();
        solution[at] = (rows[at][size] - known) / rows[at][at];
    }
    Some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, within: f64) {
        assert!((a - b).abs() <= within, "{a} is not {b}");
    }

    /// The data set Norris of NIST's Statistical Reference Datasets (36 observations), certified to 15 digits.
    #[test]
    fn the_certified_values_of_norris_are_found() {
        let x = [
            0.2, 337.4, 118.2, 884.6, 10.1, 226.5, 666.3, 996.3, 448.6, 777.0, 558.2, 0.4, 0.6, 775.5, 666.9, 338.0,
            447.5, 11.6, 556.0, 228.1, 995.8, 887.6, 120.2, 0.3, 0.3, 556.8, 339.1, 887.2, 999.0, 779.0, 11.1, 118.3,
            229.2, 669.1, 448.9, 0.5,
        ];
        let y = [
            0.1, 338.8, 118.1, 888.0, 9.2, 228.1, 668.5, 998.5, 449.1, 778.9, 559.2, 0.3, 0.1, 778.1, 668.8, 339.3,
            448.9, 10.8, 557.7, 228.3, 998.0, 888.8, 119.6, 0.3, 0.6, 557.6, 339.3, 888.0, 998.5, 778.9, 10.2, 117.6,
            228.9, 668.4, 449.2, 0.2,
        ];
        let rows: Vec<Vec<f64>> = x.iter().map(|&x| vec![x]).collect();
        let fit = regression(&rows, &y).unwrap();
        close(fit.coefficients[0], -0.262_323_073_774_029, 1e-9);
        close(fit.coefficients[1], 1.002_116_818_020_45, 1e-11);
        close(fit.r_squared, 0.999_993_745_883_712, 1e-11);
        close(fit.f, 5_436_385.540_791_45, 1.0);
    }

    #[test]
    fn the_f_test_has_the_critical_values_of_tables() {
        // F(3, 10) exceeds 3.708 with probability 0.05: F = (R²/3) / ((1-R²)/10).
        let f = 3.708_265;
        let p = beta_reg(10.0 / 2.0, 3.0 / 2.0, 10.0 / (10.0 + 3.0 * f));
        close(p, 0.05, 1e-5);
    }

    #[test]
    fn what_cannot_be_fitted_has_no_regression() {
        let twice = |x: f64| vec![x, 2.0 * x];
        let rows: Vec<Vec<f64>> = [1.0, 2.0, 3.0, 4.0, 5.0].map(twice).to_vec();
        assert_eq!(regression(&rows, &[1.0, 2.0, 1.0, 2.0, 1.0]), None);
        assert_eq!(regression(&[vec![1.0]], &[1.0]), None);
        assert_eq!(regression(&[vec![1.0], vec![2.0], vec![3.0]], &[1.0, 1.0, 1.0]), None);
    }
}
