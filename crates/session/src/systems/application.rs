//! A running application: every run is a process of it, whose kernels the simulator executes.

use super::program;
use super::system::{System, SystemKind};
use crate::error::{ErrorKind, SessionError};
use campaign::{Config, Description, Engine, EngineOffer, Engines, Site, TargetSystem};
use debugger::CUDA_GDB;
use inject::{CapsuleTarget, Strategy};
use live::{LiveRuns, LiveTarget};
use outcome::Observation;
use std::sync::Arc;

/// The kind.
pub(super) struct ApplicationKind;

impl SystemKind for ApplicationKind {
    fn takes(&self, config: &Config) -> bool {
        config.capsule.is_empty() && config.live.is_some() && config.engine != CUDA_GDB
    }

    fn engines(&self) -> &'static [EngineOffer] {
        &live::ENGINES
    }

    fn check(&self, config: &Config) -> Result<(), SessionError> {
        program::check_running(config)?;
        program::check(config)
    }

    fn describe(&self, config: &Config) -> Description {
        program::describe(config)
    }

    fn open(&self, config: &Config, infer: bool) -> Result<Box<dyn System>, SessionError> {
        let strategy = Strategy::try_from(&config.engine)?;
        let (capsule, application) = program::recorded(config, infer)?;
        let target = LiveTarget::new(capsule, application, LiveRuns::All, strategy)?;
        Ok(Box::new(ApplicationSystem::new(target)))
    }
}

/// An application with the capsule that was recorded from it.
#[derive(Debug)]
pub(super) struct ApplicationSystem(Arc<LiveTarget>);

impl ApplicationSystem {
    pub(super) fn new(target: LiveTarget) -> Self {
        Self(Arc::new(target))
    }
}

impl System for ApplicationSystem {
    fn target(&self) -> TargetSystem<'_> {
        self.0.target()
    }

    fn capsule(&self) -> Option<&Arc<CapsuleTarget>> {
        Some(self.0.capsule())
    }

    fn application_notes(&self) -> Vec<String> {
        self.0.notes()
    }

    fn application(&self) -> Option<Arc<dyn Engines>> {
        let engines: Arc<dyn Engines> = Arc::clone(&self.0) as _;
        Some(engines)
    }

    fn site(&self, id: &str) -> Result<Site, SessionError> {
        Ok(self.0.capsule().site_of(&program::fault(id)?)?)
    }

    /// The run is one of the application, whether its host could act on a difference or not.
    fn run(&self, site: &Site, engine: &Engine) -> Result<Observation, SessionError> {
        let fault = program::fault_of(site)?;
        let seen = self.0.inject(&fault, Strategy::try_from(engine)?);
        seen.map_err(|error| SessionError::from_error(ErrorKind::Golden, &error))
    }
}
