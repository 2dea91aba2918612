//! What can be wrong with a configuration, and what to do about it.

use std::io;

use stats::OutOfRange;

use super::limits::{MAX_RUNS, MAX_SECONDS};
use super::margin::MarginBy;
use outcome::QualityError;

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The text does not parse, or a value has the wrong type.
    #[error("read {name}{}: {message}", at_line(*line))]
    Syntax {
        /// The file.
        name: String,
        /// The line, from 1, where known.
        line: Option<usize>,
        /// What is wrong there.
        message: String,
    },
    /// A key that means nothing.
    #[error("read {name}{}: unknown key `{key}`; did you mean `{nearest}`?", at_line(*line))]
    UnknownKey {
        /// The file.
        name: String,
        /// The line, from 1, where known.
        line: Option<usize>,
        /// The key.
        key: String,
        /// The key that it resembles most.
        nearest: &'static str,
    },
    /// Nothing says what to irradiate.
    #[error("start a campaign without a capsule: name a file or a bundled workload")]
    NoCapsule,
    /// Which rates have to be within a margin, and no margin.
    #[error(
        "stop by {by} rates without a margin: say with `margin` how tight they have to be, or leave `margin-by` out"
    )]
    MarginByAlone {
        /// Which rates.
        by: MarginBy,
    },
    /// A margin, divided over shards.
    #[error(
        "combine `margin` with `shard`: stopping early needs the rows of all shards in one place; \
         use `runs = {runs}` instead, which bounds the rates of all runs as tightly"
    )]
    MarginWithShard {
        /// The runs that give the margin without looking.
        runs: u64,
    },
    /// Both every fault and a number of them.
    #[error(
        "take both `exhaustive` and `runs`: keep `exhaustive` for every fault there is, `runs` for a sample of them"
    )]
    ExhaustiveWithRuns,
    /// Both every fault and a margin.
    #[error(
        "take both `exhaustive` and `margin`: the rates of every fault there is are exact; \
         keep `exhaustive` for that, `margin` to stop when rates of a sample are that tight"
    )]
    ExhaustiveWithMargin,
    /// Every fault of a model that has too many.
    #[error(
        "run an exhaustive campaign with the model `{model}`: only single bits of `flip` can all be tried; \
         leave `model` out, or sample with `runs` or `margin`"
    )]
    ExhaustiveModel {
        /// The model.
        model: String,
    },
    /// Every fault, in strata.
    #[error("take both `exhaustive` and `stratify`: strata are for samples; every fault there is needs none")]
    StratifyExhaustive,
    /// A margin, in strata.
    #[error(
        "combine `margin` with `stratify`: when to stop is decided on rates of plain samples only; \
         use `runs`: {runs} bound the rates of a plain sample as tightly"
    )]
    StratifyMargin {
        /// The runs that give the margin without strata.
        runs: u64,
    },
    /// More runs than there can be, or none.
    #[error("plan {runs} runs: a campaign has from 1 to {} runs", MAX_RUNS)]
    Runs {
        /// The number asked for.
        runs: u64,
    },
    /// A margin that needs more runs than there can be.
    #[error(
        "bound rates within ±{margin}: that takes {runs} runs; a campaign has at most {}, \
         so ask for a wider margin",
        MAX_RUNS
    )]
    MarginTooTight {
        /// The margin asked for.
        margin: f64,
        /// The runs it takes.
        runs: u64,
    },
    /// More parts than runs.
    #[error("divide {runs} runs into {count} shards: shard {number} would have none; use at most {runs} shards")]
    EmptyShard {
        /// All runs.
        runs: u64,
        /// The shard's number.
        number: u32,
        /// How many shards.
        count: u32,
    },
    /// A time in which no campaign ends.
    #[error("end the campaign after {seconds} seconds: give `seconds` a number above 0, at most {}", MAX_SECONDS)]
    Seconds {
        /// The time.
        seconds: f64,
    },
    /// No workers.
    #[error("run with 0 jobs: give `jobs` a number from 1, or leave it out to use every core")]
    NoJobs,
    /// A seed beyond what TOML and SQLite hold.
    #[error("use the seed {seed}: the largest is {}", i64::MAX)]
    Seed {
        /// The seed.
        seed: u64,
    },
    /// A tolerance that is no distance.
    #[error("use {value} as the tolerance of `{output}`: a relative error is a number from 0")]
    Tolerance {
        /// The output.
        output: String,
        /// The tolerance.
        value: f64,
    },
    /// A quality that contradicts itself.
    #[error("judge `{output}`")]
    Quality {
        /// The output.
        output: String,
        /// Why.
        #[source]
        source: QualityError,
    },
    /// What is said of an application that nothing names.
    #[error("use `{key}`, which is for live runs: name the application with `app`, or use `beamline live`")]
    NoApp {
        /// The key.
        key: &'static str,
    },
    /// A time that no application can keep.
    #[error("stop the application after {seconds} seconds: give `timeout` a number above 0, at most 1000000")]
    Timeout {
        /// The time.
        seconds: f64,
    },
    /// A file that no run has for itself.
    #[error("compare the file `{name}`: expected a name below the application's directory, without `.` and `..`")]
    OutsideFile {
        /// The name.
        name: String,
    },
    /// Runs that share a directory, side by side.
    #[error("run in place with several workers: they would share their files; add `jobs = 1`")]
    InPlaceJobs,
    /// Every fault, of an application.
    #[error("run every fault live: that would be a process for each; leave out `exhaustive`, or `app`")]
    ExhaustiveLive,
    /// A confidence or a margin that promises nothing.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// The configuration has no text form.
    #[error("write the configuration as TOML")]
    Write(#[source] toml::ser::Error),
    /// The file cannot be read.
    #[error("read {name}")]
    Io {
        /// The file.
        name: String,
        /// Why.
        #[source]
        source: io::Error,
    },
}

fn at_line(line: Option<usize>) -> String {
    line.map(|line| format!(", line {line}")).unwrap_or_default()
}
