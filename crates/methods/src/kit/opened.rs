//! A capsule with the configuration that a session opened it with.

use super::error::StudyError;
use campaign::{Config, Engines, TargetSystem};
use inject::{CapsuleTarget, MachineWords};
use outcome::Criteria;
use std::ops::Deref;
use std::sync::Arc;

/// A capsule as a session opened it. It is the capsule wherever one is wanted.
#[derive(Clone)]
pub struct OpenedCapsule {
    /// The capsule, its golden run done.
    pub capsule: Arc<CapsuleTarget>,
    /// Its configuration, of which campaigns of methods replace the selection, the number of runs and the seed.
    pub config: Config,
    /// The engines of its application, where that finishes some runs.
    pub engines: Option<Arc<dyn Engines>>,
}

impl OpenedCapsule {
    /// The same work on another machine or judged by other criteria, as `capsule` says; no application takes part.
    ///
    /// # Errors
    /// If the criteria do not go with the configuration.
    pub fn variant(&self, capsule: Arc<CapsuleTarget>) -> Result<Self, StudyError> {
        let MachineWords { addresses, contract, order } = capsule.golden_run().machine_words();
        let fuel = capsule.golden_run().explicit_fuel();
        let mut config = self.config.clone();
        (config.addresses, config.contract, config.order) = (addresses, contract, order);
        (config.fuel, config.live, config.no_app) = (fuel, None, true);
        config.criteria = Criteria::default();
        Ok(Self { config: config.judged_by(capsule.criteria())?, capsule, engines: None })
    }

    /// The system on which campaigns on it run.
    #[must_use]
    pub fn target(&self) -> TargetSystem<'_> {
        let target = TargetSystem::from(&*self.capsule);
        self.engines.as_deref().map_or(target, |engines| target.run_by(engines))
    }
}

impl Deref for OpenedCapsule {
    type Target = Arc<CapsuleTarget>;

    fn deref(&self) -> &Arc<CapsuleTarget> {
        &self.capsule
    }
}

impl std::fmt::Debug for OpenedCapsule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenedCapsule")
            .field("capsule", &self.capsule)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
