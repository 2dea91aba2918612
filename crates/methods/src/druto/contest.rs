//! Searches side by side: each searcher with each seed, and what it finds measured anew.

use campaign::TargetError;
use space::Point;
use stats::Bounded;

use super::bench::{Bench, Cost, Ready, seed_of};
use super::ends::Tally;
use super::executed::Probabilities;
use super::objective::Objective;
use super::search::{Budget, Found, search};
use super::searchers::{Guidance, SearcherOffer};
use super::valuation::Valuation;
use crate::kit::{StudyError, StudyEvent};

/// The stage of the measurement of every answer, whose seed no search has seen.
const FINAL: u64 = 1000;
/// The stage of the measurement of the best answer, chosen by the one before.
const CROWN: u64 = 1001;
/// The stage of the campaign that gives static instructions their probabilities.
const PROBABILITIES: u64 = 1002;

/// The settings of the searches.
#[derive(Clone)]
pub(super) struct Rules {
    /// The inputs and the time of each search.
    pub(super) budget: Budget,
    /// How many times this the searchers of other techniques may spend.
    pub(super) times: u64,
    /// Runs of an input where all have the same number.
    pub(super) runs: u64,
    /// Runs of an answer.
    pub(super) last: u64,
    /// Faults in each static instruction.
    pub(super) faults: u64,
    /// The aim.
    pub(super) objective: Objective,
}

/// An input and its final measurement.
#[derive(Clone)]
pub(super) struct Measured {
    /// The input.
    pub(super) point: Point,
    /// Instructions of all its threads.
    pub(super) instructions: u64,
    /// Its runs.
    pub(super) tally: Tally,
    /// Seconds of the input and the runs.
    pub(super) seconds: f64,
    /// Its value by the objective; none if no fault landed.
    pub(super) value: Option<Bounded>,
}

/// A search that is over.
pub(super) struct Entry {
    /// The searcher.
    pub(super) searcher: &'static str,
    /// Its seed.
    pub(super) seed: u64,
    /// The search.
    pub(super) found: Found,
    /// Its answer, measured; none if no input could be run.
    pub(super) answer: Option<Measured>,
}

/// Runs a searcher with a seed, and measures its answer.
pub(super) fn enter(
    bench: &mut Bench<'_, '_>,
    offer: &'static SearcherOffer,
    rules: &Rules,
    reference: &Ready,
    seed: u64,
) -> Result<Entry, StudyError> {
    let (before, measured) = (bench.cost, Objective::Sdc);
    let name = format!("{}, {}, seed {seed}", bench.inputs.name(), offer.name);
    let mut budget = rules.budget.times(if offer.guidance == Guidance::Objective { 1 } else { rules.times });
    (bench.campaigns.told)(&name, &StudyEvent::Inputs { done: 0, all: budget.inputs, best: None });
    let probabilities = match offer.guidance {
        Guidance::Expected => {
            let point = bench.inputs.space().reference();
            let [found] = bench.probabilities(reference, rules.faults, [seed_of(seed, &point, PROBABILITIES)])?;
            found
        }
        Guidance::Objective | Guidance::Measured | Guidance::Predicted => Probabilities::default(),
    };
    let valuation = match (offer.guidance, &rules.objective) {
        (Guidance::Expected, _) => Valuation::Expected(&probabilities),
        (Guidance::Predicted, _) => Valuation::Predicted,
        (Guidance::Objective, Objective::Proxy) => Valuation::Fitness,
        (Guidance::Measured, Objective::Proxy) => Valuation::Runs(&measured, rules.runs),
        (Guidance::Objective | Guidance::Measured, objective) => Valuation::Halving(objective),
    };
    let mut searcher = (offer.make)(bench.inputs.space(), seed);
    // What precedes the evaluations is a part of the time.
    let spent = bench.cost.seconds - before.seconds;
    budget.seconds = budget.seconds.map(|seconds| (seconds - spent).max(0.0));
    let (mut done, mut best) = (0, None);
    let mut found = search(searcher.as_mut(), budget, &mut |batch| {
        let evaluations = bench.evaluate(batch, valuation, seed)?;
        done += evaluations.len() as u64;
        let values = evaluations.iter().filter_map(|it| it.value.as_ref().ok().copied());
        best = values.chain(best).reduce(f64::max);
        (bench.campaigns.told)(&name, &StudyEvent::Inputs { done, all: budget.inputs, best });
        Ok(evaluations)
    })?;
    found.cost = Cost { runs: bench.cost.runs - before.runs, seconds: bench.cost.seconds - before.seconds };
    let answer = match found.best.clone() {
        Some(point) => measure(bench, &point, rules, seed, false)?,
        None => None,
    };
    Ok(Entry { searcher: offer.name, seed, found, answer })
}

/// Measures an input with a seed that no search has seen; none if it cannot be run again.
pub(super) fn measure(
    bench: &mut Bench<'_, '_>,
    point: &Point,
    rules: &Rules,
    seed: u64,
    is_crown: bool,
) -> Result<Option<Measured>, StudyError> {
    let (stage, before) = (if is_crown { CROWN } else { FINAL }, bench.cost.seconds);
    let Ok(tally) = bench.sample_input(point, rules.last, seed_of(seed, point, stage))? else { return Ok(None) };
    let exposure = bench.exposure(&rules.objective, point)?;
    let instructions = bench.known_instructions(point);
    let value = rules.objective.value(&tally, instructions, &exposure);
    let seconds = bench.cost.seconds - before;
    Ok(Some(Measured { point: point.clone(), instructions, tally, seconds, value }))
}

/// The answer of the highest value, the first of equal ones.
pub(super) fn best_of<'m>(answers: impl Iterator<Item = &'m Measured>) -> Option<&'m Measured> {
    let value = |it: &Measured| it.value.map_or(f64::NEG_INFINITY, |value| value.value);
    answers.reduce(|best, other| if value(other) > value(best) { other } else { best })
}

/// The best answer among entries, the first of equal ones; where it was chosen among several, measured once more.
pub(super) fn crown(
    bench: &mut Bench<'_, '_>,
    entries: &[&Entry],
    rules: &Rules,
    seed: u64,
) -> Result<Option<Measured>, StudyError> {
    let answers = || entries.iter().filter_map(|entry| entry.answer.as_ref());
    match best_of(answers()) {
        Some(best) if answers().count() > 1 => {
            let again = measure(bench, &best.point, rules, seed, true)?;
            let gone = || TargetError::new(format!("run the input {} again: it ran before", best.point));
            Ok(Some(again.ok_or_else(gone)?))
        }
        best => Ok(best.cloned()),
    }
}
