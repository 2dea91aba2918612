//! Searches with a budget of inputs, and what they find.

use campaign::SelectionWords;
use outcome::Class;
use space::{Point, Space};
use stats::{Confidence, Interval, Proportion};
use std::collections::BTreeMap;

use super::fitness::fitness;
use super::genetic::Genetic;
use super::searcher::{RandomPoints, Searcher};
use crate::kit::{Campaigns, Inputs, OpenedCapsule, Realised, StudyError};

/// How often a searcher is asked in vain for an input that is new before the space counts as used up.
const IDLE: u32 = 1000;
/// What makes the seeds of measurements unlike those of searches.
const MEASURED: u64 = 0x6d65_6173_7572_6564;

/// A measured rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rate {
    /// Runs that ended in silent data corruption.
    pub(super) count: u64,
    /// Runs that landed.
    pub(super) landed: u64,
}

impl Rate {
    /// The share.
    pub(super) fn rate(self) -> f64 {
        self.count as f64 / self.landed.max(1) as f64
    }

    /// Its bounds (Wilson, 95 %).
    pub(super) fn bounds(self) -> Interval {
        Proportion::from_counts(self.count, self.landed - self.count).wilson(Confidence::PERCENT_95)
    }
}

/// What a search came to.
pub(super) struct Found {
    /// The best input; none if none could be run.
    pub(super) best: Option<Point>,
    /// The value that it was chosen by.
    pub(super) value: f64,
    /// Different inputs that were evaluated.
    pub(super) evaluations: u64,
    /// Inputs that could not be run, and why.
    pub(super) refused: Vec<(String, String)>,
}

/// An application and the kernel whose rate is looked for.
pub(super) struct Searched<'a> {
    pub(super) inputs: &'a mut dyn Inputs,
    pub(super) kernel: String,
    pub(super) runs: u64,
}

impl Searched<'_> {
    /// The capsule of an input.
    pub(super) fn capsule(
        &mut self,
        point: &Point,
        campaigns: &Campaigns<'_>,
    ) -> Result<Result<OpenedCapsule, String>, StudyError> {
        if campaigns.is_stopped() {
            return Err(StudyError::Unkept);
        }
        Ok(match self.inputs.realise(point)? {
            Realised::Ready(capsule, _) => Ok(*capsule),
            Realised::Not(why) => Err(why),
        })
    }

    /// The rate of silent data corruption of the kernel in a capsule, by this many runs; none if nothing landed.
    pub(super) fn measure(
        &self,
        capsule: &OpenedCapsule,
        runs: u64,
        seed: u64,
        campaigns: &mut Campaigns<'_>,
    ) -> Result<Option<Rate>, StudyError> {
        if fitness(capsule.golden_run(), &self.kernel).is_none() {
            return Ok(None);
        }
        let selection = SelectionWords { kernel: vec![self.kernel.clone()], ..SelectionWords::default() };
        let results = campaigns.in_memory(capsule, None, selection, runs, seed)?;
        let (mut count, mut landed) = (0, 0);
        results.visit(&mut |row| {
            if let campaign::Finding::Seen { outcome, .. } = &row.finding
                && outcome.class().has_landed()
            {
                landed += 1;
                count += u64::from(outcome.class() == Class::Sdc);
            }
        })?;
        Ok((landed > 0).then_some(Rate { count, landed }))
    }

    /// Evaluates random inputs by measured rates, `budget` different ones.
    pub(super) fn random(
        &mut self,
        budget: u64,
        seed: u64,
        campaigns: &mut Campaigns<'_>,
    ) -> Result<Found, StudyError> {
        let mut points = RandomPoints { space: self.inputs.space().clone(), seed, next: 0 };
        self.search(budget, campaigns, &mut points, |searched, capsule, number, campaigns| {
            let seed = seed ^ MEASURED.wrapping_add(number);
            Ok(searched.measure(capsule, searched.runs, seed, campaigns)?.map(Rate::rate))
        })
    }

    /// The search of the paper, by the fitness of Equation 1.
    pub(super) fn druto(&mut self, budget: u64, seed: u64, campaigns: &mut Campaigns<'_>) -> Result<Found, StudyError> {
        let space: Space = self.inputs.space().clone();
        self.search(budget, campaigns, &mut Genetic::new(&space, seed), |searched, capsule, _, _| {
            Ok(fitness(capsule.golden_run(), &searched.kernel))
        })
    }

    /// Asks for inputs until `budget` different ones are evaluated. An input that is known costs nothing.
    fn search(
        &mut self,
        budget: u64,
        campaigns: &mut Campaigns<'_>,
        searcher: &mut dyn Searcher,
        value: impl Fn(&Self, &OpenedCapsule, u64, &mut Campaigns<'_>) -> Result<Option<f64>, StudyError>,
    ) -> Result<Found, StudyError> {
        let mut known: BTreeMap<String, Option<f64>> = BTreeMap::new();
        let mut found = Found { best: None, value: f64::NEG_INFINITY, evaluations: 0, refused: Vec::new() };
        let mut idle = 0;
        while found.evaluations < budget && idle < IDLE {
            let before = found.evaluations;
            let mut told = Vec::new();
            for point in searcher.ask() {
                let text = point.to_string();
                let worth = match known.get(&text) {
                    Some(worth) => *worth,
                    None if found.evaluations >= budget => None,
                    None => {
                        found.evaluations += 1;
                        let worth = match self.capsule(&point, campaigns)? {
                            Ok(capsule) => value(self, &capsule, found.evaluations, campaigns)?,
                            Err(why) => {
                                found.refused.push((text.clone(), why));
                                None
                            }
                        };
                        known.insert(text, worth);
                        worth
                    }
                };
                if let Some(worth) = worth.filter(|worth| *worth > found.value) {
                    (found.best, found.value) = (Some(point.clone()), worth);
                }
                told.push((point, worth));
            }
            searcher.tell(told);
            idle = if found.evaluations == before { idle + 1 } else { 0 };
        }
        Ok(found)
    }
}
