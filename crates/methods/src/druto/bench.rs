//! The bench: inputs run, measured by campaigns and valued, with the cost of each.
//!
//! All that is asked of an input is a function of the input and a seed, so that a search is the same in any order, with any
//! number of workers, and again.

mod run;

use campaign::{SelectionWords, Subject as _};
use inject::Golden;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use space::Point;
use std::collections::{BTreeMap, BTreeSet};

use super::cells::{CellFaults, Cells};
use super::ends::{Ends, Rate, Tally};
use super::executed::{Executed, Probabilities};
use super::fitness::Fitness;
use super::objective::{Exposure, Objective};
use super::open_inputs::OpenInputs;
use crate::kit::{Campaigns, Inputs, OpenedCapsule, StudyError};

/// An input with its golden run done.
pub(super) type Ready = OpenedCapsule;

/// By cell, how its runs ended.
pub(super) type CellEnds = BTreeMap<u32, Ends>;

/// The facts of an input that its golden run tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct InputFacts {
    /// Instructions of all threads of all launches.
    pub(super) instructions: u64,
    /// Every fitness of the kernel, as [`Fitness::number`] numbers them.
    fitness: Vec<f64>,
    /// Seconds of the process and of the golden run.
    seconds: f64,
}

impl InputFacts {
    /// A fitness of the input.
    pub(super) fn fitness(&self, by: Fitness) -> f64 {
        self.fitness.get(by.number()).copied().unwrap_or_default()
    }
}

/// An input that cannot be run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RefusedInput {
    /// Why.
    pub(super) why: String,
    /// Seconds until that was known.
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
    known: BTreeMap<String, Result<InputFacts, RefusedInput>>,
    /// Of them, those that could not be run now and may another time.
    passing: BTreeSet<String>,
    open: OpenInputs,
}

impl<'a, 'c> Bench<'a, 'c> {
    pub(super) fn new(inputs: &'a mut dyn Inputs, campaigns: &'a mut Campaigns<'c>, fitness: Fitness) -> Self {
        let (kernel, cost) = (String::new(), Cost::default());
        Self {
            inputs,
            campaigns,
            kernel,
            fitness,
            cost,
            known: BTreeMap::new(),
            passing: BTreeSet::new(),
            open: OpenInputs::default(),
        }
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
        self.of_golden(point, "executed", Executed::of)
    }

    /// A value of the golden run of an input and the kernel; the input need not be run where it is known.
    pub(super) fn of_golden<T: Serialize + DeserializeOwned>(
        &mut self,
        point: &Point,
        what: &str,
        make: impl FnOnce(&Golden, &str) -> T,
    ) -> Result<Result<T, String>, StudyError> {
        if let Err(why) = self.facts(point)? {
            return Ok(Err(why));
        }
        let (text, what) = (point.to_string(), format!("{what} of {}", self.kernel));
        if let Some(value) = self.campaigns.known(&text, &what)? {
            return Ok(Ok(value));
        }
        let (capsule, _) = match self.open(point)? {
            Ok(opened) => opened,
            Err(refused) => return Ok(Err(refused.why)),
        };
        let value = make(capsule.golden_run(), &self.kernel);
        self.campaigns.keep(&text, &what, &value)?;
        Ok(Ok(value))
    }

    /// Runs faults in the kernel of an input, which need not be run where they are known.
    pub(super) fn sample_input(
        &mut self,
        point: &Point,
        runs: u64,
        seed: u64,
    ) -> Result<Result<Tally, String>, StudyError> {
        if let Err(why) = self.facts(point)? {
            return Ok(Err(why));
        }
        self.sample_held(point, &mut None, runs, seed)
    }

    /// The same of an input whose facts are known, and which may be open: it is opened only where the faults are not known.
    pub(super) fn sample_held(
        &mut self,
        point: &Point,
        held: &mut Option<Ready>,
        runs: u64,
        seed: u64,
    ) -> Result<Result<Tally, String>, StudyError> {
        let known = self.campaigns.known(&self.inputs.capsule_name(point), &self.words_of_sample(runs, seed))?;
        if let Some((tally, seconds)) = known {
            self.count(runs, seconds);
            return Ok(Ok(tally));
        }
        let capsule = match held.take() {
            Some(capsule) => capsule,
            None => match self.open(point)? {
                Ok((capsule, _)) => capsule,
                Err(refused) => return Ok(Err(refused.why)),
            },
        };
        let tally = self.sample(&capsule, runs, seed)?;
        *held = Some(capsule);
        Ok(Ok(tally))
    }

    /// The capsule of an input, if it is open.
    pub(super) fn held(&mut self, point: &Point) -> Option<Ready> {
        self.open.get(&point.to_string()).map(|(capsule, _)| capsule)
    }

    /// Runs faults in the kernel, drawn from all its launches.
    pub(super) fn sample(&mut self, capsule: &Ready, runs: u64, seed: u64) -> Result<Tally, StudyError> {
        let (what, selection) = (self.words_of_sample(runs, seed), self.selection());
        let (tally, seconds): (Tally, f64) = self.campaigns.value(capsule.name(), &what, |campaigns| {
            let results = campaigns.in_memory(capsule, None, selection, runs, seed)?;
            Ok((Tally::of(&results, runs)?, results.summary()?.speed.seconds))
        })?;
        self.count(runs, seconds);
        Ok(tally)
    }

    fn words_of_sample(&self, runs: u64, seed: u64) -> String {
        format!("sample {} runs={runs} seed={seed}", self.kernel)
    }

    fn selection(&self) -> SelectionWords {
        SelectionWords { kernel: vec![self.kernel.clone()], ..SelectionWords::default() }
    }

    fn count(&mut self, runs: u64, seconds: f64) {
        self.cost.runs += runs;
        self.cost.seconds += seconds;
    }

    /// Runs the same number of faults in each cell, with each of several seeds; by seed and cell, those that it has.
    pub(super) fn sample_cells<const N: usize>(
        &mut self,
        capsule: &Ready,
        cells: &Cells,
        each: u64,
        seeds: [u64; N],
    ) -> Result<[CellEnds; N], StudyError> {
        let words = |seed| format!("cells {} of {} each={each} seed={seed}", cells.digest(), self.kernel);
        let whats = seeds.map(words);
        let mut known: Vec<Option<(CellEnds, u64, f64)>> = Vec::new();
        for what in &whats {
            known.push(self.campaigns.known(capsule.name(), what)?);
        }
        if known.iter().any(Option::is_none) {
            let plans = CellFaults::plan(capsule, &self.kernel, cells, each, &seeds)?;
            for (((known, what), faults), seed) in known.iter_mut().zip(&whats).zip(&plans).zip(seeds) {
                if known.is_none() {
                    let results =
                        self.campaigns.in_memory(capsule, Some(faults), self.selection(), faults.runs(), seed)?;
                    let ends = faults.cells.iter().copied().zip(Tally::of(&results, each)?.cells).collect();
                    let found = (ends, faults.runs(), results.summary()?.speed.seconds);
                    self.campaigns.keep(capsule.name(), what, &found)?;
                    *known = Some(found);
                }
            }
        }
        let mut all = std::array::from_fn(|_| CellEnds::default());
        for (into, (ends, runs, seconds)) in all.iter_mut().zip(known.into_iter().flatten()) {
            self.count(runs, seconds);
            *into = ends;
        }
        Ok(all)
    }

    /// The probabilities of the static instructions of the kernel in an input, by this number of faults in each; by seed.
    pub(super) fn probabilities<const N: usize>(
        &mut self,
        capsule: &Ready,
        faults: u64,
        seeds: [u64; N],
    ) -> Result<[Probabilities; N], StudyError> {
        let rates_of = |cells: CellEnds| {
            let last = cells.keys().max().map_or(0, |last| *last as usize + 1);
            let mut rates = vec![Rate::default(); last];
            cells.iter().for_each(|(&at, ends)| rates[at as usize] = ends.sdc());
            Probabilities(rates)
        };
        Ok(self.sample_cells(capsule, &Cells::Instructions, faults, seeds)?.map(rates_of))
    }

    /// Instructions of all threads of an input that was run.
    pub(super) fn known_instructions(&self, point: &Point) -> u64 {
        let facts = self.known.get(&point.to_string());
        facts.and_then(|facts| facts.as_ref().ok()).map_or(0, |facts| facts.instructions)
    }

    /// How often strikes hit an input, where the objective asks for it.
    pub(super) fn exposure(&mut self, objective: &Objective, point: &Point) -> Result<Exposure, StudyError> {
        let Objective::Fit(table) = objective else { return Ok(Exposure::default()) };
        let Ok((capsule, _)) = self.open(point)? else { return Ok(Exposure::default()) };
        let golden = capsule.golden_run();
        Exposure::of(table, golden, &Executed::of(golden, &self.kernel)).map_err(StudyError::Refused)
    }
}

fn nothing_said() -> RefusedInput {
    RefusedInput { why: "its golden run says nothing".to_owned(), seconds: 0.0 }
}

/// The seed of a measurement of an input: unlike that of any other input, stage and search.
pub(super) fn seed_of(seed: u64, point: &Point, stage: u64) -> u64 {
    let text = format!("{seed} {stage} {point}");
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..8]);
    // Documents hold seeds as numbers that are exact everywhere.
    u64::from_le_bytes(bytes) >> 11
}
