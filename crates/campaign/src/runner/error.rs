//! Why a campaign can stop before its end.

use crate::failure::TargetError;
use crate::plan::PlanError;
use crate::store::StoreError;

/// Why a campaign stopped. What was written stays, and can be resumed.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// A row could not be written, or read back.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The plan could not be read.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The target gave no worker.
    #[error("start a worker")]
    Worker(#[source] TargetError),
    /// A worker's thread could not be started.
    #[error("start {jobs} workers; choose fewer with `jobs`")]
    Threads {
        /// How many were wanted.
        jobs: u32,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A worker panicked outside of a run, where no row can tell of it.
    #[error("keep the workers running: {0}; this is a bug")]
    Panic(String),
}
