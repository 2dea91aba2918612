//! The bench: inputs run, measured by campaigns and valued, with the cost of each.
//!
//! All that is asked of an input is a function of the input and a seed, so that a search is the same in any order, with any
//! number of workers, and again.

use campaign::{Planner, SelectionWords, Subject as _};
use serde::{Deserialize, Serialize};
use space::Point;
use std::collections::BTreeMap;

use super::cells::{CellFaults, Cells};
use super::ends::{Rate, Tally};
use super::executed::{Executed, Probabilities};
use super::fitness::Fitness;
use super::halving::{halve, runs_of};
use super::objective::{Exposure, Objective};
use crate::kit::{Campaigns, Inputs, OpenedCapsule, Realised, StudyError};

/// An input with its golden run done.
pub(super) type Ready = OpenedCapsule;

/// The facts of an input that its golden run tells.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct InputFacts {
    /// Instructions of all threads of all launches.
    pub(super) instructions: u64,
    /// Its fitness.
    pub(super) fitness: f64,
    /// Seconds of the process and of the golden run.
    seconds: f64,
}

/// The work that was done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cost {
    /// Injection runs.
    pub(super) runs: u64,
    /// Seconds of processes, golden runs and campaigns. An input that another search ran before costs the same again.
    pub(super) seconds: f64,
}

/// The way in which a batch of inputs is valued.
#[derive(Clone, Copy)]
pub(super) enum Valuation<'v> {
    /// By the fitness.
    Fitness,
    /// By the expected rate.
    Expected(&'v Probabilities),
    /// By an objective, each with this number of runs.
    Runs(&'v Objective, u64),
    /// By the lower bound of an objective, with few runs for most.
    Halving(&'v Objective),
}

/// Runs and measures inputs of an application, in one kernel.
pub(super) struct Bench<'a, 'c> {
    /// The application.
    pub(super) inputs: &'a mut dyn Inputs,
    /// Makes campaigns.
    pub(super) campaigns: &'a mut Campaigns<'c>,
    /// The kernel; empty until the reference is known.
    pub(super) kernel: String,
    /// The fitness.
    pub(super) fitness: Fitness,
    /// The work so far.
    pub(super) cost: Cost,
    /// By input, its facts, or why it cannot be run.
    known: BTreeMap<String, Result<InputFacts, String>>,
    executed: BTreeMap<String, Executed>,
}

impl<'a, 'c> Bench<'a, 'c> {
    pub(super) fn new(inputs: &'a mut dyn Inputs, campaigns: &'a mut Campaigns<'c>, fitness: Fitness) -> Self {
        let (kernel, cost) = (String::new(), Cost::default());
        Self { inputs, campaigns, kernel, fitness, cost, known: BTreeMap::new(), executed: BTreeMap::new() }
    }

    /// Runs an input. The inner error says why the input cannot be run.
    pub(super) fn run(&mut self, point: &Point) -> Result<Result<Ready, String>, StudyError> {
        if self.campaigns.is_stopped() {
            return Err(self.campaigns.interrupted());
        }
        let text = point.to_string();
        if let Some(Err(why)) = self.known.get(&text) {
            return Ok(Err(why.clone()));
        }
        let (capsule, process) = match self.inputs.realise(point)? {
            Realised::Ready(capsule, seconds) => (*capsule, seconds),
            Realised::Not(why) => return Ok(Err(self.refuse(text, why))),
        };
        let golden = capsule.golden_run();
        let seconds = process + golden.seconds() + golden.race_seconds();
        self.cost.seconds += seconds;
        if self.kernel.is_empty() {
            return Ok(Ok(capsule));
        }
        let Some(fitness) = self.fitness.of(golden, &self.kernel) else {
            let why = format!("it does not launch {}", fault::base_name(&self.kernel));
            return Ok(Err(self.refuse(text, why)));
        };
        self.known.insert(text, Ok(InputFacts { instructions: golden.thread_instructions(), fitness, seconds }));
        Ok(Ok(capsule))
    }

    /// Goes by another fitness.
    pub(super) fn go_by(&mut self, fitness: Fitness) {
        self.fitness = fitness;
        self.known.retain(|_, facts| facts.is_err());
    }

    fn refuse(&mut self, text: String, why: String) -> String {
        self.known.insert(text, Err(why.clone()));
        why
    }

    /// The facts of an input.
    pub(super) fn facts(&mut self, point: &Point) -> Result<Result<InputFacts, String>, StudyError> {
        let text = point.to_string();
        match self.known.get(&text) {
            Some(Ok(facts)) => self.cost.seconds += facts.seconds,
            Some(Err(_)) => {}
            None => {
                let what = format!("facts {} {:?}", self.kernel, self.fitness);
                match self.campaigns.known::<Result<InputFacts, String>>(&text, &what)? {
                    Some(facts) => {
                        self.cost.seconds += facts.as_ref().map_or(0.0, |facts| facts.seconds);
                        self.known.insert(text.clone(), facts);
                    }
                    None => {
                        drop(self.run(point)?);
                        let facts = self.known.entry(text.clone()).or_insert_with(|| Err(nothing_said()));
                        self.campaigns.keep(&text, &what, facts)?;
                    }
                }
            }
        }
        Ok(self.known.get(&text).cloned().unwrap_or_else(|| Err(nothing_said())))
    }

    /// A digest of the work that an input makes of the application: the instructions of every thread, and every copy to the
    /// host.
    pub(super) fn work_of(&self, capsule: &Ready) -> String {
        let mut hasher = blake3::Hasher::new();
        let golden = capsule.golden_run();
        for launch in golden.launches() {
            for count in launch.counts().iter() {
                hasher.update(&count.to_le_bytes());
            }
        }
        for copy in golden.copies() {
            hasher.update(&(copy.bytes.len() as u64).to_le_bytes()).update(&copy.bytes);
        }
        hasher.finalize().to_hex().to_string()
    }

    /// How often an input executes each static instruction.
    pub(super) fn executed(&mut self, point: &Point) -> Result<Result<Executed, String>, StudyError> {
        let text = point.to_string();
        if let Some(executed) = self.executed.get(&text).cloned() {
            return Ok(self.facts(point)?.map(|_| executed));
        }
        Ok(self.run(point)?.map(|capsule| {
            let executed = Executed::of(capsule.golden_run(), &self.kernel);
            self.executed.insert(text, executed.clone());
            executed
        }))
    }

    /// Runs faults in the kernel, drawn from all its launches.
    pub(super) fn sample(&mut self, capsule: &Ready, runs: u64, seed: u64) -> Result<Tally, StudyError> {
        self.campaign(capsule, None, runs, seed, runs)
    }

    /// Runs the same number of faults in each cell; by cell, those that it has.
    pub(super) fn sample_cells(
        &mut self,
        capsule: &Ready,
        cells: &Cells,
        each: u64,
        seed: u64,
    ) -> Result<BTreeMap<u32, super::ends::Ends>, StudyError> {
        let faults = CellFaults::plan(capsule, &self.kernel, cells, each, seed)?;
        let tally = self.campaign(capsule, Some(&faults), faults.runs(), seed, each)?;
        Ok(faults.cells.iter().copied().zip(tally.cells).collect())
    }

    /// The one place that makes campaigns.
    fn campaign(
        &mut self,
        capsule: &Ready,
        cells: Option<&CellFaults>,
        runs: u64,
        seed: u64,
        each: u64,
    ) -> Result<Tally, StudyError> {
        let selection = SelectionWords { kernel: vec![self.kernel.clone()], ..SelectionWords::default() };
        let kind = cells.map_or_else(|| "sample".to_owned(), |faults| format!("cells {}", faults.digest()));
        let what = format!("{kind} {} runs={runs} each={each} seed={seed}", self.kernel);
        let planner = cells.map(|faults| -> &dyn Planner { faults });
        let (tally, seconds): (Tally, f64) = self.campaigns.value(capsule.name(), &what, |campaigns| {
            let results = campaigns.in_memory(capsule, planner, selection, runs, seed)?;
            Ok((Tally::of(&results, each)?, results.summary()?.speed.seconds))
        })?;
        self.cost.runs += runs;
        self.cost.seconds += seconds;
        Ok(tally)
    }

    /// The probabilities of the static instructions of the kernel in an input, by this number of faults in each.
    pub(super) fn probabilities(
        &mut self,
        capsule: &Ready,
        faults: u64,
        seed: u64,
    ) -> Result<Probabilities, StudyError> {
        let cells = self.sample_cells(capsule, &Cells::Instructions, faults, seed)?;
        let last = cells.keys().max().map_or(0, |last| *last as usize + 1);
        let mut rates = vec![Rate::default(); last];
        cells.iter().for_each(|(&at, ends)| rates[at as usize] = ends.sdc());
        Ok(Probabilities(rates))
    }

    /// How often strikes hit an input, where the objective asks for it.
    pub(super) fn exposure(&mut self, objective: &Objective, capsule: &Ready) -> Result<Exposure, StudyError> {
        let Objective::Fit(table) = objective else { return Ok(Exposure::default()) };
        let golden = capsule.golden_run();
        Exposure::of(table, golden, &Executed::of(golden, &self.kernel)).map_err(StudyError::Refused)
    }

    /// The values of a batch of inputs, in their order, or why an input has none.
    pub(super) fn values(
        &mut self,
        batch: &[Point],
        valuation: Valuation<'_>,
        seed: u64,
    ) -> Result<Vec<Result<f64, String>>, StudyError> {
        match valuation {
            Valuation::Fitness => batch.iter().map(|point| Ok(self.facts(point)?.map(|facts| facts.fitness))).collect(),
            Valuation::Expected(probabilities) => batch
                .iter()
                .map(|point| {
                    let expected = |executed: Executed| probabilities.expected(&executed).ok_or_else(nothing_landed);
                    Ok(self.executed(point)?.and_then(expected))
                })
                .collect(),
            Valuation::Runs(objective, runs) => {
                batch.iter().map(|point| self.value_of_runs(point, objective, runs, seed)).collect()
            }
            Valuation::Halving(objective) => self.halved(batch, objective, seed),
        }
    }

    fn value_of_runs(
        &mut self,
        point: &Point,
        objective: &Objective,
        runs: u64,
        seed: u64,
    ) -> Result<Result<f64, String>, StudyError> {
        let capsule = match self.run(point)? {
            Ok(capsule) => capsule,
            Err(why) => return Ok(Err(why)),
        };
        let exposure = self.exposure(objective, &capsule)?;
        let tally = self.sample(&capsule, runs, seed_of(seed, point, 0))?;
        let value = objective.value(&tally, capsule.golden_run().thread_instructions(), &exposure);
        Ok(value.map(|value| value.value).ok_or_else(nothing_landed))
    }

    fn halved(
        &mut self,
        batch: &[Point],
        objective: &Objective,
        seed: u64,
    ) -> Result<Vec<Result<f64, String>>, StudyError> {
        let mut values = Vec::new();
        let mut candidates = Vec::new();
        for (at, point) in batch.iter().enumerate() {
            match self.run(point)? {
                Err(why) => values.push(Err(why)),
                Ok(capsule) => {
                    let exposure = self.exposure(objective, &capsule)?;
                    candidates.push((at, capsule, exposure, Tally::default()));
                    values.push(Err(nothing_landed()));
                }
            }
        }
        halve(candidates.len(), |number, rung| {
            let (at, capsule, exposure, tally) = &mut candidates[number];
            let more = self.sample(capsule, runs_of(rung), seed_of(seed, &batch[*at], rung as u64 + 1))?;
            tally.add(&more);
            let value = objective.value(tally, capsule.golden_run().thread_instructions(), exposure);
            if let Some(value) = value {
                values[*at] = Ok(value.low);
            }
            Ok::<_, StudyError>(value.map(|value| value.value))
        })?;
        Ok(values)
    }
}

fn nothing_said() -> String {
    "its golden run says nothing".to_owned()
}

fn nothing_landed() -> String {
    "no fault lands in it".to_owned()
}

/// The seed of a measurement of an input: unlike that of any other input, stage and search.
pub(super) fn seed_of(seed: u64, point: &Point, stage: u64) -> u64 {
    let text = format!("{seed} {stage} {point}");
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..8]);
    // Documents hold seeds as numbers that are exact everywhere.
    u64::from_le_bytes(bytes) >> 11
}
