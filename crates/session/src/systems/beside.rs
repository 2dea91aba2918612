//! A capsule with its application beside it: the application finishes those runs in which its host could act on a difference.

use super::application::ApplicationSystem;
use super::program;
use super::system::{System, SystemKind};
use crate::capsules;
use crate::error::SessionError;
use campaign::{Config, Description, EngineOffer};
use inject::Strategy;
use live::{LiveRuns, LiveTarget};

/// The kind.
pub(super) struct BesideKind;

impl SystemKind for BesideKind {
    fn takes(&self, config: &Config) -> bool {
        !config.capsule.is_empty() && config.live.is_some()
    }

    fn engines(&self) -> &'static [EngineOffer] {
        &inject::ENGINES
    }

    fn check(&self, config: &Config) -> Result<(), SessionError> {
        program::check_running(config)?;
        program::check(config)
    }

    fn describe(&self, config: &Config) -> Description {
        program::describe(config)
    }

    fn open(&self, config: &Config, infer: bool) -> Result<Box<dyn System>, SessionError> {
        Ok(Box::new(ApplicationSystem::new(open(config, infer)?)))
    }
}

/// Opens both.
///
/// # Errors
/// When either cannot be used, or the application does something else than the capsule.
pub(super) fn open(config: &Config, infer: bool) -> Result<LiveTarget, SessionError> {
    let machine = program::machine(config)?;
    let capsule = capsules::ready_on(machine, &config.capsule, &program::setup(config, infer))?;
    let (application, strategy) = (program::application(config)?, Strategy::try_from(&config.engine)?);
    Ok(LiveTarget::new(capsule, application, LiveRuns::Visible, strategy)?)
}
