//! The values of inputs that a searcher is told: fitness, expected and predicted rates, and objectives measured by runs.

use space::Point;

use super::bench::{Bench, seed_of};
use super::ends::Tally;
use super::executed::{Executed, Probabilities};
use super::halving::{halve, runs_of};
use super::objective::Objective;
use super::predict;
use super::search::Evaluation;
use crate::kit::{StudyError, now};

/// The way in which a batch of inputs is valued.
#[derive(Clone, Copy)]
pub(super) enum Valuation<'v> {
    /// By the fitness.
    Fitness,
    /// By the expected rate.
    Expected(&'v Probabilities),
    /// By the rate that the model without injections predicts.
    Predicted,
    /// By an objective, each with this number of runs.
    Runs(&'v Objective, u64),
    /// By the lower bound of an objective, with few runs for most.
    Halving(&'v Objective),
}

impl Bench<'_, '_> {
    /// The evaluations of a batch of inputs, in their order.
    pub(super) fn evaluate(
        &mut self,
        batch: &[Point],
        valuation: Valuation<'_>,
        seed: u64,
    ) -> Result<Vec<Evaluation>, StudyError> {
        if let Valuation::Halving(objective) = valuation {
            return self.halved(batch, objective, seed);
        }
        let mut all = Vec::new();
        for points in batch.chunks(self.at_once()) {
            self.run_at_once(points)?;
            for point in points {
                let before = self.cost.seconds;
                let value = self.value(point, valuation, seed)?;
                all.push(Evaluation { value, seconds: self.cost.seconds - before });
            }
        }
        Ok(all)
    }

    /// The value of an input that is valued alone, or why it has none.
    fn value(&mut self, point: &Point, valuation: Valuation<'_>, seed: u64) -> Result<Result<f64, String>, StudyError> {
        match valuation {
            Valuation::Expected(probabilities) => {
                let expected = |executed: Executed| probabilities.expected(&executed).ok_or_else(nothing_landed);
                Ok(self.executed(point)?.and_then(expected))
            }
            Valuation::Predicted => self.predicted(point),
            Valuation::Runs(objective, runs) => self.value_of_runs(point, objective, runs, seed),
            Valuation::Fitness | Valuation::Halving(_) => {
                Ok(self.facts(point)?.map(|facts| facts.fitness(self.fitness)))
            }
        }
    }

    /// The SDC rate of the kernel that the model predicts for an input.
    pub(super) fn predicted(&mut self, point: &Point) -> Result<Result<f64, String>, StudyError> {
        // What is kept has the name of the model that it came of.
        let found = self.of_golden(point, "predicted by strata, every use weighed", |golden, kernel| {
            let start = now();
            let rate = predict::rate(golden, kernel);
            (rate, start.elapsed().as_secs_f64())
        })?;
        Ok(found.and_then(|(rate, seconds): (Option<f64>, f64)| {
            self.cost.seconds += seconds;
            rate.ok_or_else(|| "the model finds no instruction in it that a fault can hit".to_owned())
        }))
    }

    fn value_of_runs(
        &mut self,
        point: &Point,
        objective: &Objective,
        runs: u64,
        seed: u64,
    ) -> Result<Result<f64, String>, StudyError> {
        let tally = match self.sample_input(point, runs, seed_of(seed, point, 0))? {
            Ok(tally) => tally,
            Err(why) => return Ok(Err(why)),
        };
        let instructions = self.known_instructions(point);
        let value = objective.value(&tally, instructions, &self.exposure(objective, point)?);
        Ok(value.map(|value| value.value).ok_or_else(nothing_landed))
    }

    fn halved(&mut self, batch: &[Point], objective: &Objective, seed: u64) -> Result<Vec<Evaluation>, StudyError> {
        let mut all = Vec::new();
        let mut candidates = Vec::new();
        for points in batch.chunks(self.at_once()) {
            self.run_at_once(points)?;
            for point in points {
                let before = self.cost.seconds;
                let why = match self.facts(point)? {
                    Err(why) => why,
                    Ok(facts) => {
                        let exposure = self.exposure(objective, point)?;
                        let capsule = self.held(point);
                        candidates.push((all.len(), capsule, facts.instructions, exposure, Tally::default()));
                        nothing_landed()
                    }
                };
                all.push(Evaluation { value: Err(why), seconds: self.cost.seconds - before });
            }
        }
        halve(candidates.len(), |number, rung| {
            let (at, capsule, instructions, exposure, tally) = &mut candidates[number];
            let before = self.cost.seconds;
            let (point, runs, seed) = (&batch[*at], runs_of(rung), seed_of(seed, &batch[*at], rung as u64 + 1));
            let Ok(more) = self.sample_held(point, capsule, runs, seed)? else { return Ok(None) };
            tally.add(&more);
            all[*at].seconds += self.cost.seconds - before;
            let value = objective.value(tally, *instructions, exposure);
            if let Some(value) = value {
                all[*at].value = Ok(value.low);
            }
            Ok::<_, StudyError>(value.map(|value| value.value))
        })?;
        Ok(all)
    }
}

fn nothing_landed() -> String {
    "no fault lands in it".to_owned()
}
