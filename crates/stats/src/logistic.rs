//! Multinomial logistic regression with weights of examples and an L2 penalty.
//!
//! D. Böhning, "Multinomial logistic regression algorithm", *Annals of the Institute of Statistical Mathematics* 44 (1992): the
//! score and the information of the model. Its minimum is found by Newton's steps, halved until the loss falls enough; nothing is
//! drawn at random, so that the same examples in the same order have the same coefficients to the bit.

use crate::regression::solve;

/// Newton steps, at most.
const MOST_STEPS: usize = 100;

/// The largest component of the gradient at which a fit is done.
const FLAT: f64 = 1e-9;

/// The same where rounding lets the loss fall no further.
const NEARLY_FLAT: f64 = 1e-6;

/// An example: its variables, and how much it weighs in each class.
#[derive(Clone, Copy, Debug)]
pub struct LogisticExample<'a> {
    /// The variables, without an intercept.
    pub variables: &'a [f64],
    /// By class, how often it was seen there, or what that weighs.
    pub weights: &'a [f64],
}

/// A model that was fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Logistic {
    /// By class but the first, the intercept and then the coefficient of each variable; those of the first class are zero.
    pub coefficients: Vec<Vec<f64>>,
}

/// The mean loss of some coefficients with its penalty, and its derivatives.
struct Loss {
    value: f64,
    gradient: Vec<f64>,
    curvature: Vec<Vec<f64>>,
}

impl Logistic {
    /// Minimises −Σ w log p / Σ w + `penalty` ‖coefficients‖² / 2, intercepts included. `None` if all examples weigh nothing, if they
    /// differ in length, or if the minimum is not a single one; a penalty above zero always gives one.
    #[must_use]
    pub fn fit(examples: &[LogisticExample<'_>], penalty: f64) -> Option<Self> {
        let first = examples.first()?;
        let (classes, width) = (first.weights.len(), first.variables.len() + 1);
        let fits = |it: &LogisticExample<'_>| it.weights.len() == classes && it.variables.len() + 1 == width;
        let weight: f64 = examples.iter().flat_map(|it| it.weights).sum();
        if classes < 2 || !examples.iter().all(fits) || weight.is_nan() || weight <= 0.0 {
            return None;
        }
        let mut model = Self { coefficients: vec![vec![0.0; width]; classes - 1] };
        for _ in 0..MOST_STEPS {
            let loss = model.loss(examples, penalty, weight);
            let steepest = loss.gradient.iter().fold(0.0_f64, |most, of| most.max(of.abs()));
            if steepest <= FLAT {
                return Some(model);
            }
            let rows = loss.curvature.into_iter().zip(&loss.gradient);
            let step = solve(rows.map(|(row, of)| row.into_iter().chain([-of]).collect()).collect())?;
            let slope: f64 = step.iter().zip(&loss.gradient).map(|(step, of)| step * of).sum();
            let halves = (0..30).map(|half| 0.5_f64.powi(half));
            let tried = halves.map(|share| (share, model.moved(&step, share)));
            let falls =
                |(share, to): &(f64, Self)| to.value(examples, penalty, weight) <= loss.value + 1e-4 * share * slope;
            match tried.into_iter().find(falls) {
                Some((_, to)) => model = to,
                None => return (steepest <= NEARLY_FLAT).then_some(model),
            }
        }
        None
    }

    /// The probability of each class for some variables.
    #[must_use]
    pub fn probabilities(&self, variables: &[f64]) -> Vec<f64> {
        let score = |of: &Vec<f64>| of[0] + variables.iter().zip(&of[1..]).map(|(x, b)| x * b).sum::<f64>();
        let scores: Vec<f64> = std::iter::once(0.0).chain(self.coefficients.iter().map(score)).collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let powers: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
        let sum: f64 = powers.iter().sum();
        powers.into_iter().map(|power| power / sum).collect()
    }

    /// The class of the highest probability; of equal ones the first.
    #[must_use]
    pub fn class(&self, variables: &[f64]) -> usize {
        let all = self.probabilities(variables);
        (1..all.len()).fold(0, |best, at| if all[at] > all[best] { at } else { best })
    }

    fn moved(&self, step: &[f64], share: f64) -> Self {
        let parts = step.chunks(self.coefficients[0].len());
        let moved = |(of, by): (&Vec<f64>, &[f64])| of.iter().zip(by).map(|(b, by)| b + share * by).collect();
        Self { coefficients: self.coefficients.iter().zip(parts).map(moved).collect() }
    }

    fn value(&self, examples: &[LogisticExample<'_>], penalty: f64, weight: f64) -> f64 {
        let squares: f64 = self.coefficients.iter().flatten().map(|b| b * b).sum();
        let of = |it: &LogisticExample<'_>| {
            let seen = it.weights.iter().zip(self.probabilities(it.variables)).filter(|(w, _)| **w > 0.0);
            seen.map(|(w, p)| -w * p.max(f64::MIN_POSITIVE).ln()).sum::<f64>()
        };
        examples.iter().map(of).sum::<f64>() / weight + penalty * squares / 2.0
    }

    fn loss(&self, examples: &[LogisticExample<'_>], penalty: f64, weight: f64) -> Loss {
        let (others, width) = (self.coefficients.len(), self.coefficients[0].len());
        let size = others * width;
        let mut gradient: Vec<f64> = self.coefficients.iter().flatten().map(|b| penalty * b).collect();
        let mut curvature = vec![vec![0.0; size]; size];
        let mut present: Vec<(usize, f64)> = Vec::new();
        for it in examples {
            let all = it.weights.iter().sum::<f64>() / weight;
            present.clear();
            present.push((0, 1.0));
            present.extend((1..).zip(it.variables.iter().copied()).filter(|(_, x)| *x != 0.0));
            let p = self.probabilities(it.variables);
            for one in 0..others {
                let off = all * p[one + 1] - it.weights[one + 1] / weight;
                present.iter().for_each(|(at, x)| gradient[one * width + at] += off * x);
                for other in one..others {
                    let bend = all * p[one + 1] * (f64::from(u8::from(one == other)) - p[other + 1]);
                    for &(a, x) in &present {
                        let row = &mut curvature[one * width + a];
                        present.iter().for_each(|(b, y)| row[other * width + b] += bend * x * y);
                    }
                }
            }
        }
        for at in 0..size {
            curvature[at][at] += penalty;
            for other in 0..at {
                curvature[at][other] = curvature[other][at];
            }
        }
        Loss { value: self.value(examples, penalty, weight), gradient, curvature }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    #[test]
    fn a_saturated_model_has_the_log_odds_of_the_counts() {
        let counts = [[6.0, 3.0, 1.0], [2.0, 4.0, 14.0]];
        let examples = [[0.0], [1.0]];
        let examples: Vec<LogisticExample<'_>> =
            examples.iter().zip(&counts).map(|(variables, weights)| LogisticExample { variables, weights }).collect();
        let model = Logistic::fit(&examples, 0.0).unwrap();
        for (class, of) in (1..).zip(&model.coefficients) {
            let odds = counts.map(|counts| (counts[class] / counts[0]).ln());
            assert!((of[0] - odds[0]).abs() < 1e-6 && (of[1] - (odds[1] - odds[0])).abs() < 1e-6, "{of:?} {odds:?}");
        }
        let p = model.probabilities(&[1.0]);
        assert!((p[0] - 0.1).abs() < 1e-7 && (p[2] - 0.7).abs() < 1e-7, "{p:?}");
        assert_eq!((model.class(&[0.0]), model.class(&[1.0])), (0, 2));
    }

    /// Variables of 40 examples, and their weights in three classes.
    fn drawn() -> (Vec<[f64; 3]>, Vec<[f64; 3]>) {
        let mut draws = Draws::new(3, 0);
        let mut three = || [0, 1, 2].map(|_| draws.unit());
        (0..40).map(|_| (three().map(|x| 2.0 * x - 1.0), three())).unzip()
    }

    fn examples<'a>((variables, weights): &'a (Vec<[f64; 3]>, Vec<[f64; 3]>)) -> Vec<LogisticExample<'a>> {
        let of = |(variables, weights): (&'a [f64; 3], &'a [f64; 3])| LogisticExample { variables, weights };
        variables.iter().zip(weights).map(of).collect()
    }

    #[test]
    fn derivatives_are_those_of_finite_differences() {
        let drawn = drawn();
        let (examples, penalty, weight) = (examples(&drawn), 0.3, 7.0);
        let model = Logistic { coefficients: vec![vec![0.2, -0.4, 0.7, 0.1], vec![-0.3, 0.5, 0.2, -0.6]] };
        let loss = model.loss(&examples, penalty, weight);
        let step = 1e-5;
        for at in 0..8 {
            let mut unit = vec![0.0; 8];
            unit[at] = 1.0;
            let beside = [step, -step].map(|by| model.moved(&unit, by).loss(&examples, penalty, weight));
            let slope = (beside[0].value - beside[1].value) / (2.0 * step);
            assert!((slope - loss.gradient[at]).abs() < 1e-8, "{at}: {slope} {}", loss.gradient[at]);
            for other in 0..8 {
                let bend = (beside[0].gradient[other] - beside[1].gradient[other]) / (2.0 * step);
                assert!((bend - loss.curvature[at][other]).abs() < 1e-8, "{at} {other}");
            }
        }
    }

    #[test]
    fn the_minimum_is_flat_and_weights_are_repeats() {
        let drawn = drawn();
        let examples = examples(&drawn);
        let model = Logistic::fit(&examples, 0.01).unwrap();
        let weight: f64 = drawn.1.iter().flatten().sum();
        let loss = model.loss(&examples, 0.01, weight);
        assert!(loss.gradient.iter().all(|of| of.abs() < 1e-8));
        let twice = Logistic::fit(&[examples.clone(), examples].concat(), 0.01).unwrap();
        let pairs = model.coefficients.iter().flatten().zip(twice.coefficients.iter().flatten());
        assert!(pairs.into_iter().all(|(one, other)| (one - other).abs() < 1e-6));
    }

    #[test]
    fn a_penalty_bounds_what_a_variable_tells_apart_and_bad_input_has_no_fit() {
        let (variables, weights) = ([[0.0], [1.0]], [[1.0, 0.0], [0.0, 1.0]]);
        let of = |at: usize| LogisticExample { variables: &variables[at], weights: &weights[at] };
        let model = Logistic::fit(&[of(0), of(1)], 1e-4).unwrap();
        assert!(model.coefficients[0].iter().all(|b| b.is_finite()));
        assert_eq!((model.class(&[0.0]), model.class(&[1.0])), (0, 1));
        assert_eq!(Logistic::fit(&[], 1.0), None);
        assert_eq!(Logistic::fit(&[LogisticExample { variables: &[1.0], weights: &[0.0, 0.0] }], 1.0), None);
        assert_eq!(Logistic::fit(&[of(0), LogisticExample { variables: &[], weights: &weights[0] }], 1.0), None);
    }
}
