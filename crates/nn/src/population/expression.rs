//! Changes in formulas: `expr:2*x+1` makes one more than twice the fault-free number of an element.

use std::fmt;

use exmex::{Express, FlatEx};
use stats::Draws;

/// A formula of the fault-free number of an element.
#[derive(Clone)]
pub(crate) struct Expression {
    text: String,
    formula: FlatEx<f64>,
    /// The meaning of each variable of the formula, in its order.
    variables: Vec<Variable>,
}

/// The meaning of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variable {
    /// `x`, the fault-free number.
    Number,
    /// `u`, drawn uniformly from 0 to 1.
    Uniform,
    /// `n`, drawn from the standard normal distribution.
    Normal,
}

impl Expression {
    /// Reads a formula.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let formula: FlatEx<f64> = exmex::parse(text).map_err(|error| {
            format!(
                "the formula cannot be read ({error}); numbers are written out, as 1000 or 0.001, and functions stand as in max(x,0)"
            )
        })?;
        let variable = |name: &String| match name.as_str() {
            "x" => Ok(Variable::Number),
            "u" => Ok(Variable::Uniform),
            "n" => Ok(Variable::Normal),
            other => Err(format!("`{other}` is unknown; the variables are x, u and n")),
        };
        let variables = formula.var_names().iter().map(variable).collect::<Result<_, _>>()?;
        Ok(Self { text: text.to_owned(), formula, variables })
    }

    /// The number for an element whose fault-free number is this; none if the library cannot say it.
    pub(crate) fn number(&self, draws: &mut Draws, fault_free: f64) -> Option<f64> {
        let value = |variable: &Variable| match variable {
            Variable::Number => fault_free,
            Variable::Uniform => draws.unit(),
            Variable::Normal => normal(draws),
        };
        let values: Vec<f64> = self.variables.iter().map(value).collect();
        self.formula.eval(&values).ok()
    }
}

/// A number of the standard normal distribution, by Box and Muller.
fn normal(draws: &mut Draws) -> f64 {
    // Above 0, so that its logarithm is finite.
    let radius = (-2.0 * (1.0 - draws.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * draws.unit()).cos()
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_of_the_fault_free_number_and_of_draws() {
        let of = |text: &str, x: f64| Expression::parse(text).unwrap().number(&mut Draws::new(1, 2), x).unwrap();
        assert_eq!([of("2*x+1", 3.0), of("-x", 3.0), of("max(x, 0)", -2.0), of("7", 1.0)], [7.0, -3.0, 0.0, 7.0]);
        let (one, other) = (of("u", 0.0), of("x + u", 10.0));
        assert!((0.0..1.0).contains(&one) && (other - 10.0 - one).abs() < 1e-12);
        // Moments of 4,000 draws.
        let normal = Expression::parse("n").unwrap();
        let mut draws = Draws::new(3, 4);
        let all: Vec<f64> = (0..4000).map(|_| normal.number(&mut draws, 0.0).unwrap()).collect();
        let mean = all.iter().sum::<f64>() / 4000.0;
        let variance = all.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / 4000.0;
        assert!(mean.abs() < 0.06 && (variance - 1.0).abs() < 0.1, "{mean} {variance}");
    }

    #[test]
    fn a_formula_that_means_nothing_is_answered() {
        for (text, part) in [("y+1", "`y` is unknown"), ("2*", ""), ("", ""), ("(x", "")] {
            let error = Expression::parse(text).err().unwrap();
            assert!(!error.is_empty() && error.contains(part), "{text}: {error}");
        }
    }
}
