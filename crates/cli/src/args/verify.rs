//! What is checked of a capsule, and by whom.

use super::select::Select;
use clap::{Args as Group, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Group)]
pub(crate) struct Verify {
    /// A capsule file, or the name of a bundled workload
    #[arg(value_name = "CAPSULE")]
    pub(crate) capsule: String,
    /// Faults to run by every engine; 0 for none [default: 1000, with --faults 0]
    #[arg(long, value_name = "N")]
    pub(crate) runs: Option<u64>,
    /// Seed of the choice of faults
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Fail where there is no GPU to compare with
    #[arg(long)]
    pub(crate) gpu: bool,
    /// Faults to write into the kernels and to compare one by one with the same faults injected: on the GPU with --gpu,
    /// else on the simulator itself
    #[arg(long, value_name = "N")]
    pub(crate) faults: Option<u64>,
    #[command(flatten)]
    pub(crate) select: Select,
    /// Directory in which the faults that were compared are kept; those that are there are not run again, and all of them
    /// are counted
    #[arg(long, value_name = "DIR", requires = "faults")]
    pub(crate) out: Option<PathBuf>,
    /// Judge the faults that are kept in this directory again: beside what the machine said then stands what the simulator
    /// says now. Needs no GPU
    #[arg(long, value_name = "DIR", conflicts_with_all = ["faults", "gpu"])]
    pub(crate) again: Option<PathBuf>,
    /// Number of processes that run written faults [default: one for each core]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<u32>,
    /// How long a written fault may run before it counts as a hang, in seconds [default: 2, and as long as the simulator's
    /// fault-free run takes]
    #[arg(long, value_name = "S", requires = "faults")]
    pub(crate) limit: Option<f64>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// What runs faults that are written into kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MachineWord {
    /// The first GPU of this machine
    Gpu,
    /// The simulator, which is told nothing of the fault
    Simulator,
}

impl MachineWord {
    /// The word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Gpu => "gpu",
            Self::Simulator => "simulator",
        }
    }
}

#[derive(Debug, Group)]
pub(crate) struct Worker {
    /// What runs them
    #[arg(value_enum)]
    pub(crate) machine: MachineWord,
    /// A capsule file, or the name of a bundled workload
    #[arg(value_name = "CAPSULE")]
    pub(crate) capsule: String,
}
