//! Parzen estimators: the density of the values of one parameter among some inputs.
//!
//! J. Bergstra, R. Bardenet, Y. Bengio & B. Kégl, *Algorithms for hyper-parameter optimization*, NIPS 2011, Section 4.2: a
//! mixture of a prior and of a Gaussian at each value, whose deviation is the larger distance to its neighbours. At the ends
//! of the scale the Gaussians are reflected (B. W. Silverman, *Density estimation*, 1986, Section 2.10).

use space::{Kind, Parameter, Value};
use stats::Draws;

use super::axis;

/// The values of a parameter among some inputs, as a distribution.
pub(super) enum Density<'p> {
    /// Numbers: positions from 0 to 1, each with its deviation.
    Line(&'p Parameter, Vec<(f64, f64)>),
    /// Words and seeds: the values, repeated as often as they stand. The prior weighs as much as one of them.
    Bag(&'p Parameter, Vec<Value>),
}

impl<'p> Density<'p> {
    pub(super) fn of(parameter: &'p Parameter, values: Vec<Value>) -> Self {
        match parameter.kind {
            Kind::Choice(_) | Kind::Seed => Self::Bag(parameter, values),
            Kind::Int { .. } | Kind::Float { .. } => {
                let positions = values.iter().filter_map(|value| axis::position(parameter, value)).collect();
                Self::Line(parameter, with_deviations(positions))
            }
        }
    }

    /// A value from the distribution.
    pub(super) fn draw(&self, draws: &mut Draws) -> Value {
        match self {
            Self::Bag(parameter, values) => {
                let at = draws.below(values.len() as u64 + 1).unwrap_or_default() as usize;
                values.get(at).cloned().unwrap_or_else(|| parameter.draw(draws))
            }
            Self::Line(parameter, centres) => {
                let at = draws.below(centres.len() as u64 + 1).unwrap_or_default() as usize;
                let drawn = centres.get(at).and_then(|&(centre, deviation)| {
                    axis::value(parameter, reflected(centre + deviation * normal(draws)))
                });
                drawn.unwrap_or_else(|| parameter.draw(draws))
            }
        }
    }

    /// The logarithm of the density at a value.
    pub(super) fn log(&self, value: &Value) -> f64 {
        let density = match self {
            Self::Bag(parameter, values) => {
                let seen = values.iter().filter(|other| *other == value).count() as f64;
                let prior = match &parameter.kind {
                    Kind::Choice(words) => 1.0 / words.len() as f64,
                    // All seeds that do not stand among the values count as one.
                    _ => f64::from(seen == 0.0),
                };
                (seen + prior) / (values.len() as f64 + 1.0)
            }
            Self::Line(parameter, centres) => {
                let at = axis::position(parameter, value).unwrap_or(0.5);
                // The prior is even.
                let sum = 1.0 + centres.iter().map(|&(centre, deviation)| kernel(at, centre, deviation)).sum::<f64>();
                sum / (centres.len() as f64 + 1.0)
            }
        };
        density.max(f64::MIN_POSITIVE).ln()
    }
}

/// Positions, ascending, each with the larger distance to its neighbours and the ends, within limits.
fn with_deviations(mut positions: Vec<f64>) -> Vec<(f64, f64)> {
    positions.sort_by(f64::total_cmp);
    let least = 1.0 / (positions.len() as f64 + 1.0).min(100.0);
    let deviation = |at: usize| {
        let before = at.checked_sub(1).map_or(0.0, |before| positions[before]);
        let after = positions.get(at + 1).copied().unwrap_or(1.0);
        (positions[at] - before).max(after - positions[at]).clamp(least, 1.0)
    };
    (0..positions.len()).map(|at| (positions[at], deviation(at))).collect()
}

/// The density of a Gaussian that is reflected at 0 and 1.
fn kernel(at: f64, centre: f64, deviation: f64) -> f64 {
    let images = [-2.0, 0.0, 2.0].into_iter().flat_map(|shift| [shift + centre, shift - centre]);
    let of = |image: f64| (-0.5 * ((at - image) / deviation).powi(2)).exp();
    images.map(of).sum::<f64>() / (deviation * (2.0 * std::f64::consts::PI).sqrt())
}

/// A number, folded into the range from 0 to 1.
fn reflected(number: f64) -> f64 {
    let within = number.rem_euclid(2.0);
    if within > 1.0 { 2.0 - within } else { within }
}

/// A standard normal number (G. E. P. Box & M. E. Muller, 1958).
fn normal(draws: &mut Draws) -> f64 {
    let (radius, angle) = (1.0 - draws.unit(), draws.unit());
    (-2.0 * radius.ln()).sqrt() * (2.0 * std::f64::consts::PI * angle).cos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::Scale;

    fn number(values: &[f64]) -> (Parameter, Vec<Value>) {
        let kind = Kind::Float { low: 0.0, high: 1.0, scale: Scale::Linear };
        let values = values.iter().map(|value| Value::Float(*value)).collect();
        (Parameter { name: "x".into(), kind, reference: Value::Float(0.0) }, values)
    }

    #[test]
    fn a_density_adds_up_to_one_and_its_draws_follow_it() {
        for values in [&[][..], &[0.02], &[0.1, 0.12, 0.9, 0.95]] {
            let (parameter, values) = number(values);
            let density = Density::of(&parameter, values);
            let at = |bin: u32| Value::Float((f64::from(bin) + 0.5) / 1000.0);
            let share = |bins: std::ops::Range<u32>| bins.map(|bin| density.log(&at(bin)).exp() / 1000.0).sum::<f64>();
            assert!((share(0..1000) - 1.0).abs() < 0.02, "{}", share(0..1000));
            let mut draws = Draws::new(1, 1);
            let low = (0..4000).filter(|_| density.draw(&mut draws) < Value::Float(0.25)).count() as f64 / 4000.0;
            assert!((low - share(0..250)).abs() < 0.03, "{low} and {}", share(0..250));
        }
    }

    #[test]
    fn seeds_that_were_seen_weigh_by_how_often() {
        let parameter = Parameter { name: "x".into(), kind: Kind::Seed, reference: Value::Int(3) };
        let density = Density::of(&parameter, vec![Value::Int(5), Value::Int(5), Value::Int(7)]);
        let of = |seed| density.log(&Value::Int(seed)).exp();
        assert!((of(5) - 0.5).abs() < 1e-12 && (of(7) - 0.25).abs() < 1e-12 && (of(9) - 0.25).abs() < 1e-12);
    }
}
