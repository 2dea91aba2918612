//! What can go wrong with a plan.

use std::io;
use std::path::{Path, PathBuf};

use crate::failure::TargetError;
use crate::site::RunIndex;

/// The format of the file. Version 1 had sites of one kind of target only.
pub(super) const FORMAT: &str = "beamline.plan/2";

/// Why a plan cannot be made or used.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The file system said no.
    #[error("use the plan {path}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The target cannot plan what was selected.
    #[error("plan the campaign")]
    Target(#[source] TargetError),
    /// The target broke its promise.
    #[error("plan the campaign: the target gave {found} sites for {asked} runs; this is a bug in it")]
    Count {
        /// How many sites there should be.
        asked: usize,
        /// How many there were.
        found: usize,
    },
    /// The target broke its promise about strata.
    #[error("divide the population into strata: {0}; this is a bug in the target")]
    Strata(String),
    /// The target broke its promise about sites.
    #[error("plan the campaign: {0}; this is a bug in the target")]
    Site(String),
    /// The file is something else.
    #[error("read the plan {path}: it is not of the format {FORMAT}; {}", again(path))]
    Format {
        /// The file.
        path: PathBuf,
    },
    /// The file is cut short, or was added to.
    #[error("read the plan {path}: it holds {found} of {expected} runs; {}", again(path))]
    Truncated {
        /// The file.
        path: PathBuf,
        /// How many lines its head announces.
        expected: u64,
        /// How many it has.
        found: u64,
    },
    /// A line is not that of its run.
    #[error("read the plan {path}: the line of run {run} is damaged; {}", again(path))]
    Line {
        /// The file.
        path: PathBuf,
        /// The run.
        run: RunIndex,
    },
}

/// What helps against a damaged plan: it is a pure function of the configuration, so it can be made again.
fn again(path: &Path) -> String {
    let dir = path.parent().unwrap_or(path).display();
    format!("delete it and `beamline resume {dir}` makes it again")
}
