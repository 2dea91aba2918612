//! What a campaign runs on: anything that can name sites and run one.
//!
//! `inject` implements [`Target`] for a capsule on the machine; tests implement it in a few lines.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::config::Selection;
use crate::engine::{Engine, EngineOffer};
use crate::sweep::{Sweep, Sweeper};
use outcome::{Criteria, Observation};

/// The number of a run in its campaign, from 0; with the seed, it determines the run's random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunIndex(pub u64);

impl fmt::Display for RunIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One planned fault: its text id, and the labels that results are grouped by.
///
/// The id alone is enough to repeat the run; the labels are what the target knows about the site without running it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// The text id of the fault; prints and parses to itself.
    pub id: String,
    /// The kernel's name.
    pub kernel: String,
    /// The launch, in the order of launches.
    pub launch: u32,
    /// The block, linear in its grid.
    pub cta: u64,
    /// The thread, linear in its block.
    pub thread: u32,
    /// The dynamic instruction of the thread.
    pub dynamic: u64,
    /// The static instruction of the kernel.
    pub pc: u32,
    /// The operand that is hit, such as `dst0`.
    pub target: String,
    /// The fault model.
    pub model: String,
    /// The bits or the value, as the id writes them.
    pub bits: String,
    /// The instruction group.
    pub group: String,
    /// The instruction's mnemonic.
    pub opcode: String,
    /// The source file, where known.
    pub file: Option<String>,
    /// The source line, where known.
    pub line: Option<u32>,
    /// The stratum that it was drawn from, by its number in [`Target::strata`], if the campaign has strata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stratum: Option<u32>,
}

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
pub struct Golden {
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
pub struct Memory {
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

/// A program to irradiate, with its golden run done.
pub trait Target: Sync {
    /// The name for reports.
    fn name(&self) -> &str;

    /// The digest of the program and its inputs: rows of different digests are never joined.
    fn digest(&self) -> &str;

    /// The size of the golden run.
    fn golden(&self) -> Golden;

    /// The engines that make its runs; the first is the usual one.
    fn engines(&self) -> &[EngineOffer];

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
    fn plan(&self, runs: &[RunIndex], selection: &Selection, seed: u64) -> Result<Vec<Site>, TargetError>;

    /// The strata of the population that `selection` selects, divided as `selection.stratify` says.
    ///
    /// Each member of the population belongs to exactly one of them; each has at least one member; names are unlike each
    /// other. A pure function, order included, as [`plan`](Self::plan) is: shards, and a campaign that goes on, find the
    /// same ones. At most [`MAX_STRATA`](crate::MAX_STRATA).
    ///
    /// # Errors
    /// When the selection names what the target does not have, or selects nothing, or the target cannot divide it so.
    fn strata(&self, selection: &Selection) -> Result<Vec<Stratum>, TargetError> {
        let by = selection.stratify.map_or("", |stratify| stratify.word());
        Err(TargetError::new(format!("divide the population by {by}: this target has no strata; leave `stratify` out")))
    }

    /// What each kernel that `selection` selects is given of the register file, if registers are what it hits.
    ///
    /// A pure function, as [`plan`](Self::plan) is.
    fn registers(&self, selection: &Selection) -> Vec<KernelRegisters> {
        let _ = selection;
        Vec::new()
    }

    /// A worker for one thread, using the engine asked for.
    ///
    /// # Errors
    /// When a worker cannot be had, or the engine is none of [`engines`](Self::engines).
    fn worker(&self, engine: &Engine) -> Result<Box<dyn Worker + '_>, TargetError>;

    /// Every fault that `selection` names, for an exhaustive campaign.
    ///
    /// A pure function, as [`plan`](Self::plan) is.
    ///
    /// # Errors
    /// When the selection names what the target does not have, or selects nothing, or the target cannot be swept.
    fn sweep(&self, selection: &Selection) -> Result<Sweep, TargetError> {
        let _ = selection;
        Err(TargetError::new("list every fault: this target only samples; give `runs` or `margin`"))
    }

    /// What runs the units of [`sweep`](Self::sweep) on one thread, using the engine asked for.
    ///
    /// # Errors
    /// As [`sweep`](Self::sweep), and when the engine is none of [`engines`](Self::engines).
    fn sweeper(
        &self,
        engine: &Engine,
        selection: &Selection,
        criteria: &Criteria,
    ) -> Result<Box<dyn Sweeper + '_>, TargetError> {
        let _ = (engine, criteria);
        self.sweep(selection)?;
        Err(TargetError::new("run every fault: this target only lists them"))
    }

    /// What is kept in memory for the workers, once there is something.
    fn memory(&self) -> Option<Memory> {
        None
    }
}

/// Runs one fault after the other; lives on one thread.
pub trait Worker {
    /// Runs the fault of `site`; what it returns depends on the site alone, not on the runs before.
    ///
    /// # Errors
    /// When the run could not be made. What the *program* did wrong is an observation, not an error.
    fn run(&mut self, site: &Site) -> Result<Observation, RunFailure>;
}

/// Why a target could not plan or work: its own chain of errors, as text, since the campaign knows no target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TargetError(String);

/// Why one run could not be made: stored in its row, and the campaign goes on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RunFailure(String);

impl TargetError {
    /// Keeps the message, one line that follows "failed to".
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Keeps an error and all its sources.
    #[must_use]
    pub fn from_error(error: &dyn Error) -> Self {
        Self(error_chain(error))
    }
}

impl RunFailure {
    /// Keeps the message, one line that follows "failed to".
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Keeps an error and all its sources.
    #[must_use]
    pub fn from_error(error: &dyn Error) -> Self {
        Self(error_chain(error))
    }

    /// The message.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0
    }
}

/// The messages of an error and of its sources, outermost first, joined by colons.
#[must_use]
pub fn error_chain(error: &dyn Error) -> String {
    let sources = std::iter::successors(Some(error), |&error| error.source());
    sources.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_error_keeps_the_whole_chain() {
        #[derive(Debug, thiserror::Error)]
        #[error("load the capsule")]
        struct Outer(#[source] std::num::ParseIntError);
        let error = Outer("x".parse::<u8>().unwrap_err());
        assert_eq!(TargetError::from_error(&error).to_string(), "load the capsule: invalid digit found in string");
    }
}
