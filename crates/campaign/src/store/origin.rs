//! What a file of rows is of, and the stretches of work in which it was made.

use crate::race::DataRace;
use crate::site::LabelColumn;
use crate::sweep::Outline;
use crate::target::{GoldenSummary, KernelRegisters, Stratum, TargetSystem};

/// The tables of both.
pub(super) const TABLES: &str = "
    CREATE TABLE target (name TEXT NOT NULL, digest TEXT NOT NULL, launches INTEGER NOT NULL,
        threads INTEGER NOT NULL, thread_instructions INTEGER NOT NULL,
        races_unsearched TEXT) STRICT;
    CREATE TABLE session (session INTEGER PRIMARY KEY, golden_seconds REAL NOT NULL, jobs INTEGER NOT NULL,
        seconds REAL NOT NULL, runs INTEGER NOT NULL) STRICT;";

/// What the rows are of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Origin {
    pub(crate) name: String,
    pub(crate) digest: String,
    pub(crate) golden: GoldenSummary,
    /// What the target says of each site.
    pub(crate) labels: Vec<LabelColumn>,
    /// The data races of the golden run.
    pub(crate) races: Vec<DataRace>,
    /// How far races were looked for, in words; absent if everywhere.
    pub(crate) races_unsearched: Option<String>,
    /// For an exhaustive campaign, what all its units are of.
    pub(crate) outline: Option<Outline>,
    /// For a campaign with strata, these.
    pub(crate) strata: Vec<Stratum>,
    /// Where registers are hit, what each kernel is given.
    pub(crate) registers: Vec<KernelRegisters>,
}

impl Origin {
    pub(crate) fn of(target: TargetSystem<'_>, outline: Option<Outline>) -> Self {
        Self {
            name: target.subject.name().to_owned(),
            digest: target.subject.digest().to_owned(),
            golden: target.subject.golden(),
            labels: target.planner.labels().to_vec(),
            races: target.subject.races(),
            races_unsearched: target.subject.races_unsearched(),
            outline,
            strata: Vec::new(),
            registers: Vec::new(),
        }
    }
}

/// A stretch of work on the campaign by one process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Session {
    pub(crate) golden_seconds: f64,
    pub(crate) jobs: u32,
    pub(crate) seconds: f64,
    pub(crate) runs: u64,
}
