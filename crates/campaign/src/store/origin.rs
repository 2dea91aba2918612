//! What a file of rows is of, and the stretches of work in which it was made.

use crate::site::LabelColumn;
use crate::sweep::Outline;
use crate::target::{GoldenSummary, KernelRegisters, Stratum, TargetSystem};

/// What the rows are of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Origin {
    pub(crate) name: String,
    pub(crate) digest: String,
    pub(crate) golden: GoldenSummary,
    /// What the target says of each site.
    pub(crate) labels: Vec<LabelColumn>,
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
