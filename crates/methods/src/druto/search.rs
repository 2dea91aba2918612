//! A search with a budget of inputs.

use space::Point;
use std::collections::BTreeMap;

use super::bench::Cost;
use super::searcher::Searcher;
use crate::kit::{StudyError, now};

/// How often a searcher is asked in vain for an input that is new before the space counts as used up.
const IDLE: u32 = 100;

/// The inputs and the time that a search may spend.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Different inputs.
    pub(super) inputs: u64,
    /// Seconds of evaluations and of choosing inputs, if they are limited: the batch of inputs in which they end is the last, and
    /// there is one in any case.
    pub(super) seconds: Option<f64>,
}

impl Budget {
    /// A multiple of it.
    pub(super) fn times(self, times: u64) -> Self {
        Self { inputs: self.inputs.saturating_mul(times), seconds: self.seconds.map(|seconds| seconds * times as f64) }
    }
}

/// An input that was evaluated.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Evaluation {
    /// Its value, or why it has none.
    pub(super) value: Result<f64, String>,
    /// Seconds of work.
    pub(super) seconds: f64,
}

/// The end of a search.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    /// The best input; none if none could be run.
    pub(super) best: Option<Point>,
    /// Inputs that have no value, and why.
    pub(super) refused: Vec<(String, String)>,
    /// The best value after each evaluation; none before an input has one.
    pub(super) course: Vec<Option<f64>>,
    /// Seconds of each evaluation.
    pub(super) seconds: Vec<f64>,
    /// The work, with what precedes the evaluations.
    pub(super) cost: Cost,
}

impl Found {
    /// Different inputs that were evaluated.
    pub(super) fn evaluations(&self) -> u64 {
        self.course.len() as u64
    }
}

/// Evaluates a batch of inputs, in their order.
pub(super) type Evaluate<'v> = dyn FnMut(&[Point]) -> Result<Vec<Evaluation>, StudyError> + 'v;

/// Asks a searcher for inputs until the budget is spent. An input that is known costs nothing. Values are told batch by batch,
/// in the order in which the searcher asked. The work is not counted here.
pub(super) fn search(
    searcher: &mut dyn Searcher,
    budget: Budget,
    evaluate: &mut Evaluate<'_>,
) -> Result<Found, StudyError> {
    let mut known: BTreeMap<String, Option<f64>> = BTreeMap::new();
    let mut found =
        Found { best: None, refused: Vec::new(), course: Vec::new(), seconds: Vec::new(), cost: Cost::default() };
    let (mut best, mut idle, mut choosing) = (None, 0, 0.0);
    while found.evaluations() < budget.inputs && idle < IDLE {
        let start = now();
        let asked = searcher.ask();
        choosing += start.elapsed().as_secs_f64();
        let batch = fresh(&asked, &known, budget.inputs - found.evaluations());
        idle = if batch.is_empty() { idle + 1 } else { 0 };
        for (point, evaluation) in batch.iter().zip(evaluate(&batch)?) {
            let text = point.to_string();
            let value = evaluation.value.map_err(|why| found.refused.push((text.clone(), why))).ok();
            if let Some(value) = value.filter(|value| best.is_none_or(|best| *value > best)) {
                (best, found.best) = (Some(value), Some(point.clone()));
            }
            found.course.push(best);
            found.seconds.push(evaluation.seconds);
            known.insert(text, value);
        }
        let value = |point: &Point| known.get(&point.to_string()).copied().flatten();
        searcher.tell(asked.into_iter().map(|point| (point.clone(), value(&point))).collect());
        if budget.seconds.is_some_and(|most| choosing + found.seconds.iter().sum::<f64>() >= most) {
            break;
        }
    }
    Ok(found)
}

/// Those of the inputs that are not known, each once, at most this number.
fn fresh(asked: &[Point], known: &BTreeMap<String, Option<f64>>, most: u64) -> Vec<Point> {
    let mut fresh: Vec<Point> = Vec::new();
    for point in asked {
        if fresh.len() as u64 == most {
            break;
        }
        if !known.contains_key(&point.to_string()) && !fresh.contains(point) {
            fresh.push(point.clone());
        }
    }
    fresh
}

#[cfg(test)]
mod tests {
    use super::super::searchers::SEARCHERS;
    use super::*;
    use space::{Space, Value};

    const TEXT: &str = "arguments = ['{x}', '{y}', '{way}']
        [[parameters]]\nname = 'x'\nkind = 'int'\nrange = [0, 30]\nreference = 5
        [[parameters]]\nname = 'y'\nkind = 'int'\nrange = [1, 64]\nscale = 'log'\nreference = 5
        [[parameters]]\nname = 'way'\nkind = 'choice'\nvalues = ['a', 'b', 'c']\nreference = 'a'";

    /// Two hills; inputs of way c cannot be run.
    fn value(point: &Point) -> Result<f64, String> {
        let number =
            |at| if let Some(Value::Int(value)) = point.value(at) { *value as f64 } else { panic!("a number") };
        let (x, y) = (number(0), number(1).ln());
        let hill = |at_x: f64, at_y: f64| (-((x - at_x) / 8.0).powi(2) - (y - at_y).powi(2)).exp();
        match point.value(2) {
            Some(Value::Text(way)) if way == "a" => Ok(hill(24.0, 3.0)),
            Some(Value::Text(way)) if way == "b" => Ok(0.7 * hill(5.0, 1.0)),
            _ => Err("it crashes".to_owned()),
        }
    }

    /// A search, with the inputs that had to be evaluated although `store` holds what was evaluated before.
    fn of(name: &str, seed: u64, budget: u64, store: &mut BTreeMap<String, Result<f64, String>>) -> (Found, u64) {
        let space = Space::read(TEXT).unwrap();
        let offer = SEARCHERS.iter().find(|offer| offer.name == name).unwrap();
        let mut made = 0;
        let budget = Budget { inputs: budget, seconds: None };
        let found = search((offer.make)(&space, seed).as_mut(), budget, &mut |batch| {
            let mut all = Vec::new();
            for point in batch {
                made += u64::from(!store.contains_key(&point.to_string()));
                let value = store.entry(point.to_string()).or_insert_with(|| value(point)).clone();
                all.push(Evaluation { value, seconds: 0.5 });
            }
            Ok(all)
        });
        (found.unwrap(), made)
    }

    #[test]
    fn every_searcher_spends_its_budget_on_different_inputs_and_goes_on_where_it_was_ended() {
        for offer in &SEARCHERS {
            let (whole, made) = of(offer.name, 7, 75, &mut BTreeMap::new());
            assert_eq!((whole.evaluations(), made, whole.seconds.len()), (75, 75, 75), "{}", offer.name);
            assert!(whole.refused.iter().all(|(input, why)| input.contains("way=c") && why == "it crashes"));
            assert!(whole.course.is_sorted(), "{}", offer.name);
            // A search that ended anywhere is a beginning of the whole one, and its values cost nothing again.
            let mut store = BTreeMap::new();
            let (part, _) = of(offer.name, 7, 33, &mut store);
            assert_eq!(part.course[..], whole.course[..33], "{}", offer.name);
            assert_eq!(of(offer.name, 7, 75, &mut store), (whole, 42), "{}", offer.name);
        }
    }

    #[test]
    fn the_genetic_search_comes_nearer_to_the_best_than_random_search() {
        let best = |name, seed| of(name, seed, 80, &mut BTreeMap::new()).0.course[79].unwrap();
        let mean = |name| (0..20).map(|seed| best(name, seed)).sum::<f64>() / 20.0;
        let (random, guided) = (mean("random"), mean("druto"));
        assert!(random < guided && guided <= 1.0, "{guided} and {random}");
    }

    #[test]
    fn a_space_that_is_used_up_ends_the_search() {
        let text = "arguments = ['{x}']\n[[parameters]]\nname = 'x'\nkind = 'int'\nrange = [0, 6]\nreference = 5";
        let space = Space::read(text).unwrap();
        for offer in &SEARCHERS {
            let mut searcher = (offer.make)(&space, 1);
            let found = search(searcher.as_mut(), Budget { inputs: 50, seconds: None }, &mut alike).unwrap();
            assert_eq!(found.evaluations(), 7, "{}", offer.name);
        }
    }

    /// Every input has the value 1 and takes half a second.
    fn alike(batch: &[Point]) -> Result<Vec<Evaluation>, StudyError> {
        Ok(vec![Evaluation { value: Ok(1.0), seconds: 0.5 }; batch.len()])
    }

    #[test]
    fn a_budget_of_seconds_ends_with_the_batch_in_which_they_end() {
        let space = Space::read(TEXT).unwrap();
        for offer in &SEARCHERS {
            let of = |seconds| {
                let mut searcher = (offer.make)(&space, 1);
                search(searcher.as_mut(), Budget { inputs: 500, seconds: Some(seconds) }, &mut alike).unwrap()
            };
            let mut batches = Vec::new();
            let mut searcher = (offer.make)(&space, 1);
            let mut count = |batch: &[Point]| {
                batches.push(batch.len() as u64);
                alike(batch)
            };
            drop(search(searcher.as_mut(), Budget { inputs: 500, seconds: None }, &mut count).unwrap());
            let first = batches.iter().find(|batch| **batch > 0).copied();
            assert_eq!(Some(of(0.5).evaluations()), first, "{}", offer.name);
            // Choosing takes some milliseconds.
            let found = of(30.0).evaluations();
            assert!((40..80).contains(&found), "{}: {found}", offer.name);
            assert_eq!(Some(of(0.0).evaluations()), first, "{}", offer.name);
        }
    }
}
