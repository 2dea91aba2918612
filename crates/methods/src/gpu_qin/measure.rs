//! Campaigns for studies: made once, kept, and read as trials.

use campaign::{
    CampaignError, Choices, ConfigError, Ended, Event, Results, Selection, Store, StoreError, Subject, Target,
    TargetError,
};
use inject::CapsuleTarget;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use super::estimate::{Estimates, KernelEstimate, estimates};
use super::grouping::Grouping;
use super::settings::Settings;
use super::target::GpuQin;
use super::trials::{Trial, trials};

/// How campaigns of studies are made.
pub struct Bench<'a> {
    /// Where they are kept; what is there already is not run again.
    pub dir: PathBuf,
    /// The seed.
    pub seed: u64,
    /// The kernels, or all.
    pub kernels: Vec<String>,
    /// Workers; one for each core if not said.
    pub jobs: Option<u32>,
    /// Ends the work in hand.
    pub stop: &'a AtomicBool,
    /// Is told of everything that happens.
    pub told: &'a mut dyn FnMut(&str, &Event),
}

/// What a campaign of a study came to.
pub struct Measured {
    /// The threads in groups.
    pub grouping: Grouping,
    /// Its trials.
    pub trials: Vec<Trial>,
    /// What the method makes of them.
    pub estimates: Estimates,
    /// Seconds of work.
    pub seconds: f64,
}

/// Why a study could not be made.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
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

impl Bench<'_> {
    /// Runs a campaign of so many runs with these settings, or reads the one that was made before.
    ///
    /// # Errors
    /// If it cannot be made, or is interrupted.
    pub fn measure(&mut self, capsule: &CapsuleTarget, settings: Settings, runs: u64) -> Result<Measured, StudyError> {
        let choices = Choices {
            capsule: Some(capsule.name().to_owned()),
            runs: Some(runs),
            seed: Some(self.seed),
            selection: Selection {
                kernel: self.kernels.clone(),
                method: Some(settings.to_string()),
                ..Selection::default()
            },
            jobs: self.jobs,
            fuel: Some(capsule.golden_run().fuel()),
            ..Choices::default()
        };
        let config = choices.judged_by(capsule.criteria()).settle()?;
        let method = GpuQin::new(capsule, &config.selection)?;
        let target = Target::from(capsule).planned_by(&method);
        let dir = self.place(capsule, settings, runs);
        let mut store = if dir.exists() { Store::resume(&dir, target)? } else { Store::create(&dir, config, target)? };
        let name = format!("{}, {settings}", capsule.name());
        let told = &mut self.told;
        let summary = match campaign::run(target, &mut store, self.stop, &mut |event| told(&name, &event))? {
            Ended::Finished(summary) => summary,
            Ended::Interrupted(_) | Ended::OutOfTime(_) => return Err(StudyError::Interrupted),
        };
        drop(store);
        let trials = trials(&Results::open(&dir)?, &method)?;
        let grouping = method.into_grouping();
        let estimates = estimates(&grouping, settings, &trials);
        Ok(Measured { grouping, trials, estimates, seconds: summary.speed.seconds })
    }

    /// A directory for each campaign, which says what it is of: another recording of the same name is another campaign.
    fn place(&self, capsule: &CapsuleTarget, settings: Settings, runs: u64) -> PathBuf {
        let digest: String = capsule.digest().chars().take(8).collect();
        let mut parts = vec![format!("{}-{digest}", capsule.name())];
        parts.extend(self.kernels.iter().cloned());
        let text = settings.to_string();
        parts.extend(text.split([':', ',']).skip(1).map(|part| part.replace('=', "-")));
        parts.push(format!("fuel-{}", capsule.golden_run().fuel()));
        parts.push(format!("seed-{}-runs-{runs}.campaign", self.seed));
        self.dir.join(parts.join("_").replace(['/', '#'], "-"))
    }
}

impl Measured {
    /// The estimate of a kernel.
    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<&KernelEstimate> {
        self.estimates.kernels.iter().find(|kernel| kernel.kernel == name)
    }
}
