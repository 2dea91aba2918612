//! Campaigns that are made once and kept: those of studies, and of commands that methods add.

use clap::Args as Group;
use std::path::PathBuf;

/// The options of such campaigns.
#[derive(Debug, Group)]
pub(crate) struct StudyOptions {
    /// Kernel, or its n-th launch counted from 0
    #[arg(long, value_name = "NAME[#n]", value_delimiter = ',')]
    pub(crate) kernel: Vec<String>,
    /// Seed of all random choices
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Instructions that a thread may execute beyond ten times its fault-free ones before it is stopped
    /// [default: 500000, and what loops take that are known to end]
    #[arg(long, value_name = "N")]
    pub(crate) fuel: Option<u32>,
    /// Number of workers [default: one for each core]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<u32>,
    /// Where campaigns are kept; those that are there already are not run again
    #[arg(long, value_name = "DIR", default_value = "study.campaigns")]
    pub(crate) out: PathBuf,
}
