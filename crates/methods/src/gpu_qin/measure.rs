//! Campaigns of this method, read as trials.

use super::estimate::{Estimated, KernelEstimate, estimates};
use super::grouping::Grouping;
use super::lost::Lost;
use super::settings::Settings;
use super::target::GpuQin;
use super::trials::{Trial, trials};
use crate::kit::{Campaigns, MethodSettings, OpenedCapsule, StudyError};

/// What a campaign came to.
pub struct Measured {
    /// The threads in groups.
    pub grouping: Grouping,
    /// Its trials.
    pub trials: Vec<Trial>,
    /// The runs that no rate is made of.
    pub lost: Lost,
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
    capsule: &OpenedCapsule,
    settings: Settings,
    runs: u64,
) -> Result<Measured, StudyError> {
    measure_by(campaigns, capsule, &choosing(campaigns, capsule, settings)?, runs)
}

/// The method with these settings, on the kernels of the campaigns.
///
/// # Errors
/// If it selects nothing.
pub fn choosing(campaigns: &Campaigns<'_>, capsule: &OpenedCapsule, settings: Settings) -> Result<GpuQin, StudyError> {
    Ok(GpuQin::new(capsule, &campaigns.selection(settings.choice()))?)
}

/// The same as [`measure`], by a method that is there already.
///
/// # Errors
/// If the campaign cannot be made, or is interrupted.
pub fn measure_by(
    campaigns: &mut Campaigns<'_>,
    capsule: &OpenedCapsule,
    method: &GpuQin,
    runs: u64,
) -> Result<Measured, StudyError> {
    let (settings, grouping) = (method.settings(), method.grouping().clone());
    let kept = campaigns.make(capsule, settings.choice(), method, runs)?;
    let (trials, lost) = (trials(&kept.results, method)?, Lost::of(&kept.results)?);
    let estimates = estimates(&grouping, settings, &trials);
    Ok(Measured { grouping, trials, lost, estimates, seconds: kept.seconds })
}

impl Measured {
    /// The estimate of a kernel.
    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<&KernelEstimate> {
        self.estimates.kernels.iter().find(|kernel| kernel.kernel == name)
    }
}
