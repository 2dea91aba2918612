//! The errors of studies.

use campaign::{CampaignError, ConfigError, StoreError, TargetError};

/// Why a study could not be made.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// What is asked means nothing.
    #[error("{0}")]
    Words(String),
    /// A file that was given cannot be used.
    #[error("{0}")]
    Refused(String),
    /// The choices make no campaign.
    #[error(transparent)]
    Config(Box<ConfigError>),
    /// The method cannot choose sites.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The campaign cannot be kept or read.
    #[error(transparent)]
    Store(Box<StoreError>),
    /// The campaign failed.
    #[error(transparent)]
    Campaign(Box<CampaignError>),
    /// It was interrupted.
    #[error("finish the study: it was interrupted; the same command goes on with it")]
    Interrupted,
    /// It was interrupted, and what it found is lost.
    #[error("follow the faults: it was interrupted, and nothing is kept; the same command begins anew")]
    Unkept,
    /// There is nothing to compare.
    #[error("study {0}: {1}")]
    Nothing(&'static str, String),
}

impl From<ConfigError> for StudyError {
    fn from(error: ConfigError) -> Self {
        Self::Config(Box::new(error))
    }
}

impl From<StoreError> for StudyError {
    fn from(error: StoreError) -> Self {
        Self::Store(Box::new(error))
    }
}

impl From<CampaignError> for StudyError {
    fn from(error: CampaignError) -> Self {
        Self::Campaign(Box::new(error))
    }
}
