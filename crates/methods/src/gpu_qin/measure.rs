//! Campaigns of this method, read as trials.

use inject::CapsuleTarget;
use std::sync::Arc;

use super::estimate::{Estimated, KernelEstimate, estimates};
use super::grouping::Grouping;
use super::settings::Settings;
use super::target::GpuQin;
use super::trials::{Trial, trials};
use crate::kit::{Campaigns, StudyError};

/// What a campaign came to.
pub struct Measured {
    /// The threads in groups.
    pub grouping: Grouping,
    /// Its trials.
    pub trials: Vec<Trial>,
    /// What the method makes of them.
    pub estimates: Estimated,
    /// Seconds of work.
    pub seconds: f64,
}

/// Runs a campaign of so many runs with these settings, or reads the one that was made before.
///
/// # Errors
/// If it cannot be made, or is interrupted.
pub fn measure(
    campaigns: &mut Campaigns<'_>,
    capsule: &Arc<CapsuleTarget>,
    settings: Settings,
    runs: u64,
) -> Result<Measured, StudyError> {
    let word = settings.to_string();
    let method = GpuQin::new(capsule, &campaigns.selection(&word))?;
    let kept = campaigns.make(capsule, &word, &method, runs)?;
    let trials = trials(&kept.results, &method)?;
    let grouping = method.into_grouping();
    let estimates = estimates(&grouping, settings, &trials);
    Ok(Measured { grouping, trials, estimates, seconds: kept.seconds })
}

impl Measured {
    /// The estimate of a kernel.
    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<&KernelEstimate> {
        self.estimates.kernels.iter().find(|kernel| kernel.kernel == name)
    }
}
