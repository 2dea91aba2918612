//! The configuration of a campaign, checked: what was chosen, with every default filled in.
//!
//! [`Choices`] is what users write, on the command line and in files, in the same words: one table makes what is kept,
//! what is read and what is printed. [`Choices::settle`] turns it into a [`Config`], which contradicts itself nowhere;
//! its text forms, `campaign.toml` and the command that makes the campaign again, are [`Choices`] again, so there is
//! one reader and one writer.

mod args;
mod bytes;
mod choices;
mod error;
mod keys;
mod limits;
mod live;
mod margin;
mod method;
mod read;
mod selection;
mod settle;
mod shard;
mod shell;
#[cfg(test)]
mod tests;

use std::num::NonZeroU32;

use stats::{Confidence, IntervalKind, Proportion, Sequential};

use crate::bound::Bound;
use crate::engine::Engine;
use crate::tally::Tally;
use outcome::{Criteria, words};

pub use bytes::{Bytes, NotBytes};
pub use choices::Choices;
pub use error::ConfigError;
pub use keys::OptionWords;
pub use limits::{DEFAULT_RUNS, MAX_RUNS, MAX_SECONDS};
pub use live::Live;
pub use margin::{MarginBy, MarginRule};
pub use method::{MethodChoice, NotAMethod};
pub use selection::{SelectionWords, Stratify};
pub use shard::{NotAShard, Shard};
pub use shell::{CommandLine, NotACommand, quoted, shell_line};

/// The effective configuration of a campaign.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// The file or the bundled workload to irradiate; empty where an application is recorded and every run is live.
    pub capsule: String,
    /// How many runs, or how tight.
    pub size: Size,
    /// After how many seconds of work it ends, whatever is left to do. Changes how many rows there are, never what one
    /// says.
    pub seconds: Option<f64>,
    /// The confidence of every reported interval.
    pub confidence: Confidence,
    /// The seed of all random choices.
    pub seed: u64,
    /// Which sites.
    pub selection: SelectionWords,
    /// What makes a corrupted output good or bad.
    pub criteria: Criteria,
    /// What the campaign fails by. Never changes a result.
    pub bounds: Vec<Bound>,
    /// Whether a bound that cannot be decided is exceeded.
    pub undecided_fails: bool,
    /// Instructions that a thread may execute beyond ten times its fault-free ones before it is stopped; the
    /// target's default if not said.
    pub fuel: Option<u32>,
    /// The profile of addresses by its name or its file: what becomes of accesses that miss what the program was given; the
    /// target's default if not said.
    pub addresses: Option<String>,
    /// Which products are joined with the sums that read them, by a word; the target's default if not said.
    pub contract: Option<String>,
    /// In which order warps and blocks execute, by a word; the target's default if not said.
    pub order: Option<String>,
    /// The way in which the target makes runs.
    pub engine: Engine,
    /// The kind of interval.
    pub interval: IntervalMethod,
    /// Which part of the runs is made here.
    pub shard: Shard,
    /// How many workers; every core if not said. Never changes a result.
    pub jobs: Option<NonZeroU32>,
    /// What may be kept in memory; half of the machine's if not said. Never changes a result.
    pub memory: Option<Bytes>,
    /// The application itself, where there are runs that have its host in the loop.
    pub live: Option<Live>,
    /// Whether the application that a capsule was recorded from is left out, so that what its host would decide stays undecided.
    pub no_app: bool,
}

impl Config {
    /// Whether anything says how good a corrupted output is: a criterion, or a judge of live runs.
    #[must_use]
    pub fn is_judged(&self) -> bool {
        self.criteria.judges() || self.live.as_ref().is_some_and(|live| live.judge.is_some())
    }
}

/// When a campaign is finished.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// After this many runs.
    Runs(u64),
    /// When the rates that it is for are within a margin.
    Margin(MarginRule),
    /// When every fault that is selected was run.
    Exhaustive,
}

words! {
    /// The kind of interval that bounds a rate.
    pub enum IntervalMethod ("interval") {
        /// Wilson's score interval.
        Wilson = "wilson",
        /// Clopper and Pearson's.
        ClopperPearson = "clopper-pearson",
    }
}

impl IntervalMethod {
    /// The formula.
    #[must_use]
    pub fn method(self) -> IntervalKind {
        match self {
            Self::Wilson => IntervalKind::Wilson,
            Self::ClopperPearson => IntervalKind::ClopperPearson,
        }
    }
}

impl Config {
    /// The stopping rule, where the campaign stops by margin.
    #[must_use]
    pub fn sequential(&self) -> Option<Sequential> {
        match self.size {
            Size::Runs(_) | Size::Exhaustive => None,
            Size::Margin(rule) => Some(rule.sequential(self.confidence, self.interval.method())),
        }
    }

    /// The rates that have to be within the margin, of all runs and of each kernel; none without a margin.
    #[must_use]
    pub fn within_margin(&self, all: &Tally, kernels: &[Tally]) -> Vec<Proportion> {
        match self.size {
            Size::Runs(_) | Size::Exhaustive => Vec::new(),
            Size::Margin(rule) => rule.proportions(all, kernels),
        }
    }

    /// The level of each interval: the confidence, or what a campaign that stops by margin pays with for its looks.
    #[must_use]
    pub fn level(&self) -> Confidence {
        self.sequential().map_or(self.confidence, |rule| rule.level())
    }

    /// The number of runs to plan, over all shards: what was asked for, or the most that the margin takes. None for an
    /// exhaustive campaign, whose target says what there is to run.
    #[must_use]
    pub fn planned(&self) -> u64 {
        match self.size {
            Size::Runs(runs) => runs,
            Size::Margin(_) => self.sequential().map_or(0, |rule| rule.worst_case()),
            Size::Exhaustive => 0,
        }
    }

    /// What rows depend on: the configuration of the unsharded campaign, wherever the capsule lies, however many
    /// workers, however much memory and time it has, and whatever it fails by. Shards that are equal in this are parts of
    /// one campaign.
    #[must_use]
    pub fn unsharded(&self) -> Self {
        Self {
            capsule: String::new(),
            seconds: None,
            shard: Shard::WHOLE,
            jobs: None,
            memory: None,
            bounds: Vec::new(),
            undecided_fails: false,
            ..self.clone()
        }
    }
}
