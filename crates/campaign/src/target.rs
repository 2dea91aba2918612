//! What a campaign runs on: anything that can name sites and run one.
//!
//! `inject` implements the three parts of a [`TargetSystem`] for a capsule on the machine; tests do it in a few lines.

use serde::{Deserialize, Serialize};

use crate::config::SelectionWords;
use crate::engine::{Engine, EngineOffer};
use crate::failure::{RunFailure, TargetError};
use crate::race::DataRace;
use crate::site::{LabelColumn, RunIndex, Site};
use crate::sweep::{Sweep, Sweeper, SweptFault};
use outcome::Criteria;
use outcome::Observation;
use std::collections::BTreeMap;

/// A part of the population that is sampled by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stratum {
    /// Its name, unlike those of others: a kernel, a group, a class of threads.
    pub name: String,
    /// How many members of the population it has, at least one. A member is what a run of a campaign without strata
    /// draws first, each with the same chance.
    pub members: u64,
}

/// What a kernel is given of the register file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelRegisters {
    /// The kernel.
    pub kernel: String,
    /// Registers of 32 bits that each of its threads has.
    pub registers_per_thread: u32,
    /// The share of the device's registers that are allocated while it runs, from 0 to 1.
    pub share: f64,
}

/// The size of the fault-free run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoldenSummary {
    /// Kernel launches.
    pub launches: u64,
    /// Threads over all launches.
    pub threads: u64,
    /// Instructions executed by all threads.
    pub thread_instructions: u64,
    /// How long it took; the only part that differs between repetitions.
    pub seconds: f64,
}

/// What a campaign's golden run and what was derived from it take of memory, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryUse {
    /// What they may take together.
    pub limit: u64,
    /// The most that the process has had.
    pub peak: u64,
    /// The golden run: memory at its launches, and copies to the host.
    pub golden: u64,
    /// The index of what its blocks read and write.
    pub index: u64,
    /// States within its long blocks.
    pub checkpoints: u64,
    /// What was left out so that they fit, if something was. It makes runs slower and nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coarsened: Option<String>,
}

/// What is irradiated, with its golden run done.
pub trait Subject: Send + Sync {
    /// The name for reports.
    fn name(&self) -> &str;

    /// The digest of the program and its inputs: rows of different digests are never joined.
    fn digest(&self) -> &str;

    /// The size of the golden run.
    fn golden(&self) -> GoldenSummary;

    /// The data races that the golden run was found to have.
    fn races(&self) -> Vec<DataRace> {
        Vec::new()
    }

    /// How far data races were looked for, in words; `None` if everywhere.
    fn races_unsearched(&self) -> Option<String> {
        None
    }
}

/// What chooses sites: uniformly as a selection says, or as a published method does.
pub trait Planner: Send + Sync {
    /// What is said of each site besides its spot: the columns of rows that are this target's own.
    fn labels(&self) -> &[LabelColumn] {
        &[]
    }

    /// How many runs it has, where it has a fixed number: a list of faults, or one run for each class. A campaign that names no
    /// number makes all of them.
    fn runs(&self) -> Option<u64> {
        None
    }

    /// The texts of files that the settings of its method name, by these names: a campaign keeps them in
    /// [`SelectionWords::files`], so that it can be planned and reported again whatever becomes of the files.
    fn files(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// The sites of `runs`, one each, in their order.
    ///
    /// A pure function: the site of a run depends on (target, selection, seed, index) and not on what else is asked
    /// for, so that a shard plans its own runs only, and a plan lost before its first run can be made again.
    ///
    /// In a campaign with strata (`selection.stratify`), run i is drawn from stratum i mod K of the K strata that
    /// [`strata`](Self::strata) gives for this selection: uniformly from its members, and then as otherwise. Its site
    /// says so in [`Site::stratum`], which is absent from the sites of other campaigns.
    ///
    /// # Errors
    /// When the selection names what the target does not have, or selects nothing.
    fn plan(&self, runs: &[RunIndex], selection: &SelectionWords, seed: u64) -> Result<Vec<Site>, TargetError>;

    /// The strata of the population that `selection` selects, divided as `selection.stratify` says.
    ///
    /// Each member of the population belongs to exactly one of them; each has at least one member; names are unlike each
    /// other. A pure function, order included, as [`plan`](Self::plan) is: shards, and a campaign that goes on, find the
    /// same ones. At most [`MAX_STRATA`](crate::MAX_STRATA).
    ///
    /// # Errors
    /// When the selection names what the target does not have, or selects nothing, or the target cannot divide it so.
    fn strata(&self, selection: &SelectionWords) -> Result<Vec<Stratum>, TargetError> {
        let by = selection.stratify.map_or("", |stratify| stratify.word());
        Err(TargetError::new(format!("divide the population by {by}: this target has no strata; leave `stratify` out")))
    }

    /// What each kernel that `selection` selects is given of the register file, if registers are what it hits.
    ///
    /// A pure function, as [`plan`](Self::plan) is.
    fn registers(&self, selection: &SelectionWords) -> Vec<KernelRegisters> {
        let _ = selection;
        Vec::new()
    }

    /// Every fault that `selection` names, for an exhaustive campaign.
    ///
    /// A pure function, as [`plan`](Self::plan) is.
    ///
    /// # Errors
    /// When the selection names what the target does not have, or selects nothing, or the target cannot be swept.
    fn sweep(&self, selection: &SelectionWords) -> Result<Sweep, TargetError> {
        let _ = selection;
        Err(TargetError::new("list every fault: this target only samples; give `runs` or `margin`"))
    }

    /// The faults of a unit of its [`sweep`](Self::sweep), in their order, where the planner lists them: workers run them one by
    /// one. `None` where the engines know them by their number: then an [`Engines::sweeper`] runs the unit.
    ///
    /// A pure function, as [`plan`](Self::plan) is.
    ///
    /// # Errors
    /// When `unit` is none of the sweep.
    fn unit(&self, selection: &SelectionWords, unit: u64) -> Result<Option<Vec<SweptFault>>, TargetError> {
        let _ = (selection, unit);
        Ok(None)
    }
}

/// What runs faults.
pub trait Engines: Send + Sync {
    /// What there is to choose from; the first is the usual one.
    fn offered(&self) -> &[EngineOffer];

    /// A worker for one thread, using the engine asked for.
    ///
    /// # Errors
    /// When a worker cannot be had, or the engine is none of those [`offered`](Self::offered).
    fn worker(&self, engine: &Engine) -> Result<Box<dyn Worker + '_>, TargetError>;

    /// What runs the units of [`Planner::sweep`] on one thread, using the engine asked for.
    ///
    /// # Errors
    /// As [`Planner::sweep`], and when the engine is none of those [`offered`](Self::offered).
    fn sweeper(
        &self,
        engine: &Engine,
        selection: &SelectionWords,
        criteria: &Criteria,
    ) -> Result<Box<dyn Sweeper + '_>, TargetError> {
        let _ = (engine, selection, criteria);
        Err(TargetError::new("run every fault: this target only samples; give `runs` or `margin`"))
    }

    /// How many runs a thread takes from the plan at a time, at most, if more than usual are worth it: its worker then has them at
    /// once, and a campaign that is interrupted makes them first.
    fn batch_size(&self, engine: &Engine) -> usize {
        let _ = engine;
        1
    }

    /// What is kept in memory for the workers, once there is something.
    fn memory(&self) -> Option<MemoryUse> {
        None
    }
}

/// The target system, what a campaign runs on: something that is irradiated, who chooses its sites, and who runs them.
/// An application has the planner of its capsule and engines of its own; a method is a planner for whatever runs.
#[derive(Clone, Copy)]
pub struct TargetSystem<'t> {
    /// What is irradiated.
    pub subject: &'t dyn Subject,
    /// Who chooses sites.
    pub planner: &'t dyn Planner,
    /// Who runs them.
    pub engines: &'t dyn Engines,
}

impl<'t, T: Subject + Planner + Engines> From<&'t T> for TargetSystem<'t> {
    /// What is all three.
    fn from(all: &'t T) -> Self {
        Self { subject: all, planner: all, engines: all }
    }
}

impl<'t> TargetSystem<'t> {
    /// The same with another choice of sites.
    #[must_use]
    pub fn planned_by(self, planner: &'t dyn Planner) -> Self {
        Self { planner, ..self }
    }

    /// The same with other engines.
    #[must_use]
    pub fn run_by(self, engines: &'t dyn Engines) -> Self {
        Self { engines, ..self }
    }
}

/// Runs one fault after the other; lives on one thread.
pub trait Worker {
    /// Runs the fault of `site`; what it returns depends on the site alone, not on the runs before. Sites that are given
    /// up are never asked for.
    ///
    /// # Errors
    /// When the run could not be made. What the *program* did wrong is an observation, not an error.
    fn run(&mut self, site: &Site) -> Result<Observation, RunFailure>;

    /// How many sites it takes at a time, at most; one is the usual number. It asks for more if runs share work.
    fn batch_size(&self) -> usize {
        1
    }

    /// Runs the faults of several sites, no more than [`batch_size`](Self::batch_size): a result for each, in their order,
    /// which is the one that [`run`](Self::run) gives.
    fn run_batch(&mut self, sites: &[Site]) -> Vec<Result<Observation, RunFailure>> {
        sites.iter().map(|site| self.run(site)).collect()
    }
}
