//! The minimiser (thesis, Algorithm 3.1): one parameter after the other, the smallest value that keeps the coverage.

use inject::CapsuleTarget;
use space::{Kind, Point, Space, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::coverage::Executed;
use crate::kit::{Campaigns, Inputs, Realised, StudyError};

/// An input that was run.
#[derive(Clone)]
pub(super) struct Evaluated {
    /// The input.
    pub(super) point: Point,
    /// Its golden run is done.
    pub(super) capsule: Arc<CapsuleTarget>,
    /// The share of the reference's instructions that it executes.
    pub(super) coverage: f64,
}

impl Evaluated {
    /// What its run costs: the objective of the search. Seconds would change from day to day.
    pub(super) fn instructions(&self) -> u64 {
        self.capsule.golden_run().thread_instructions()
    }
}

/// Looks for a small input.
pub(super) struct Minimiser<'a> {
    inputs: &'a mut dyn Inputs,
    space: Space,
    target: f64,
    reference: Executed,
    /// By its text, what an input came to; none if it could not be run.
    known: BTreeMap<String, Option<Evaluated>>,
    /// Inputs that could not be run, and why.
    pub(super) refused: Vec<(String, String)>,
}

/// A search that is over.
pub(super) struct Minimised {
    /// The reference input.
    pub(super) reference: Evaluated,
    /// The smallest input found; the reference if none is smaller.
    pub(super) smallest: Evaluated,
    /// How many inputs were run.
    pub(super) evaluations: u64,
    /// Inputs that could not be run, and why.
    pub(super) refused: Vec<(String, String)>,
    /// Static instructions that the reference executes.
    pub(super) instructions: u64,
}

impl<'a> Minimiser<'a> {
    /// Finds an input with at least the coverage `target`, from the reference.
    ///
    /// # Errors
    /// If the reference cannot be run, or the search is interrupted.
    pub(super) fn run(
        inputs: &'a mut dyn Inputs,
        target: f64,
        campaigns: &Campaigns<'_>,
    ) -> Result<Minimised, StudyError> {
        let space = inputs.space().clone();
        let point = space.reference();
        let capsule = match inputs.realise(&point)? {
            Realised::Ready(capsule, _) => capsule,
            Realised::Not(why) => {
                return Err(StudyError::Refused(format!(
                    "run {} with the reference input {point}: {why}",
                    inputs.name()
                )));
            }
        };
        let executed = Executed::of(capsule.golden_run());
        let reference = Evaluated { point, capsule, coverage: 1.0 };
        let known = BTreeMap::from([(reference.point.to_string(), Some(reference.clone()))]);
        let instructions = executed.len() as u64;
        let mut search = Self { inputs, space, target, reference: executed, known, refused: Vec::new() };
        let mut best = reference.clone();
        for number in search.order(&reference, campaigns)? {
            best = search.shrink(&best, number, campaigns)?;
        }
        let evaluations = search.known.len() as u64;
        Ok(Minimised { reference, smallest: best, evaluations, refused: search.refused, instructions })
    }

    /// Runs an input, once.
    fn evaluate(&mut self, point: &Point, campaigns: &Campaigns<'_>) -> Result<Option<Evaluated>, StudyError> {
        let text = point.to_string();
        if let Some(known) = self.known.get(&text) {
            return Ok(known.clone());
        }
        if campaigns.is_stopped() {
            return Err(StudyError::Unkept);
        }
        let found = match self.inputs.realise(point)? {
            Realised::Ready(capsule, _) => {
                let coverage = Executed::of(capsule.golden_run()).coverage(&self.reference);
                Some(Evaluated { point: point.clone(), capsule, coverage })
            }
            Realised::Not(why) => {
                self.refused.push((text.clone(), why));
                None
            }
        };
        self.known.insert(text, found.clone());
        Ok(found)
    }

    /// The parameters, the one with the largest effect on the cost first: of two values of each, with the others as in the
    /// reference, the one that saves more counts.
    fn order(&mut self, reference: &Evaluated, campaigns: &Campaigns<'_>) -> Result<Vec<usize>, StudyError> {
        let mut effects = Vec::new();
        for number in 0..self.space.parameters().len() {
            let mut least = reference.instructions();
            for value in self.tried(number, &reference.point) {
                let point = reference.point.with(number, value);
                least = least.min(self.evaluate(&point, campaigns)?.map_or(u64::MAX, |it| it.instructions()));
            }
            effects.push((least, number));
        }
        effects.sort_unstable();
        Ok(effects.into_iter().map(|(_, number)| number).collect())
    }

    /// The smallest value of a parameter and one in the middle; of a choice all others.
    fn tried(&self, number: usize, point: &Point) -> Vec<Value> {
        let (parameter, now) = (&self.space.parameters()[number], point.value(number));
        if let Kind::Choice(words) = &parameter.kind {
            return words.iter().cloned().map(Value::Text).filter(|word| Some(word) != now).collect();
        }
        let Some((least, now)) = parameter.smallest().zip(now).filter(|(least, now)| least < *now) else {
            return Vec::new();
        };
        let middle = parameter.middle(&least, now);
        std::iter::once(least).chain(middle).collect()
    }

    /// Whether an input keeps the coverage.
    fn passes(&self, found: &Evaluated) -> bool {
        found.coverage >= self.target
    }

    /// The input with the smallest value of one parameter that keeps the coverage and costs no more.
    fn shrink(&mut self, best: &Evaluated, number: usize, campaigns: &Campaigns<'_>) -> Result<Evaluated, StudyError> {
        let mut best = best.clone();
        let parameter = self.space.parameters()[number].clone();
        if !matches!(parameter.kind, Kind::Int { .. }) {
            for value in self.tried(number, &best.point) {
                let found = self.evaluate(&best.point.with(number, value), campaigns)?;
                if let Some(found) = found.filter(|it| self.passes(it) && it.instructions() < best.instructions()) {
                    best = found;
                }
            }
            return Ok(best);
        }
        let Some(mut low) = parameter.smallest() else { return Ok(best) };
        // The least value itself, then halves between one that fails and the best.
        let mut next = best.point.value(number).filter(|now| low < **now).map(|_| low.clone());
        while let Some(value) = next {
            let found = self.evaluate(&best.point.with(number, value.clone()), campaigns)?;
            match found.filter(|it| self.passes(it) && it.instructions() <= best.instructions()) {
                Some(found) => {
                    let least = value == low;
                    best = found;
                    if least {
                        break;
                    }
                }
                None => low = value,
            }
            next = best.point.value(number).and_then(|now| parameter.middle(&low, now));
        }
        Ok(best)
    }
}
