//! A capsule by itself: the simulator executes the recorded work.

use super::application::ApplicationSystem;
use super::beside::{self, BesideKind};
use super::program;
use super::system::{OpenedSystem, System, SystemKind, WantedApplication};
use crate::capsules;
use crate::error::{ErrorKind, SessionError};
use crate::recorded::{self, Recorded};
use ::capsule::Capsule;
use campaign::{Config, Description, Engine, EngineOffer, Live, Site, Size, TargetSystem};
use inject::{CapsuleTarget, Setup, Strategy};
use methods::hardening::Scheme;
use outcome::Observation;
use std::sync::Arc;

/// The kind.
pub(super) struct CapsuleKind;

impl SystemKind for CapsuleKind {
    fn takes(&self, config: &Config) -> bool {
        !config.capsule.is_empty() && config.live.is_none()
    }

    fn engines(&self) -> &'static [EngineOffer] {
        &inject::ENGINES
    }

    fn with_defaults(&self, mut config: Config) -> Config {
        let fuel = (config.size == Size::Exhaustive).then_some(Setup::FUEL_OF_ALL);
        config.fuel = config.fuel.or(fuel);
        config
    }

    fn check(&self, config: &Config) -> Result<(), SessionError> {
        program::check(config)
    }

    fn describe(&self, config: &Config) -> Description {
        program::describe(config)
    }

    fn open(&self, config: &Config, infer: bool) -> Result<Box<dyn System>, SessionError> {
        let machine = program::machine(config)?;
        let capsule = capsules::ready_on(machine, &config.capsule, &program::setup(config, infer))?;
        refuse_proxy(capsule.golden_run().capsule())?;
        Ok(Box::new(CapsuleSystem(capsule)))
    }

    /// The application that the capsule was recorded from finishes runs, where it is there and has something to decide.
    fn open_new(&self, config: Config, wanted: &WantedApplication) -> Result<OpenedSystem, SessionError> {
        match recorded::application_of(&config, wanted.none)? {
            Recorded::There { live, sees } => self.open_asking(config, wanted, live, sees),
            Recorded::Away { why: Some(why), .. } if wanted.live.first_explicit().is_some() => {
                let key = wanted.live.first_explicit().unwrap_or_default();
                let message = format!("use `{key}`, which is for runs of the application: {why}");
                let help = format!("name the application with `--app 'APP ARGS'`, or leave `{key}` out");
                Err(SessionError::new(ErrorKind::Words, message).with_help(help))
            }
            Recorded::Away { note, .. } => {
                let config = config.with_application(wanted.live.clone())?;
                Ok(OpenedSystem { system: self.open(&config, true)?, config, note })
            }
        }
    }
}

impl CapsuleKind {
    /// A capsule with its recorded application, or without it where it has nothing to decide, or cannot be asked and why.
    fn open_asking(
        &self,
        config: Config,
        wanted: &WantedApplication,
        live: Live,
        sees: bool,
    ) -> Result<OpenedSystem, SessionError> {
        let is_wanted = wanted.live.first_explicit().is_some();
        let directory = wanted.live.directory.clone().or(live.directory);
        let live = Live { app: live.app, directory, ..wanted.live.clone() };
        let asking = config.clone().with_application(live.clone())?;
        match BesideKind.check(&asking).and_then(|()| beside::open(&asking, true)) {
            Ok(target) if !(sees || is_wanted || target.asks_at_end()) => {
                let system = Box::new(CapsuleSystem(Arc::clone(target.capsule())));
                Ok(OpenedSystem { config, system, note: None })
            }
            Ok(target) => {
                let app = &live.app;
                let note = format!(
                    "runs whose host sees a difference before the end are finished by `{app}`; `--no-app` leaves them undecided"
                );
                let system = Box::new(ApplicationSystem::new(target));
                Ok(OpenedSystem { config: asking, system, note: sees.then_some(note) })
            }
            Err(error) if is_wanted => Err(error),
            Err(error) => {
                let what = if sees {
                    "runs whose host sees a difference before the end stay undecided"
                } else {
                    "what the host would do about results that differ is not found out"
                };
                let note = Some(format!("{what}: its application cannot be asked: {error}"));
                Ok(OpenedSystem { system: self.open(&config, true)?, config, note })
            }
        }
    }
}

/// A campaign on kernels that stand for the cost of hardware would say of its faults that nothing notices them.
fn refuse_proxy(capsule: &Capsule) -> Result<(), SessionError> {
    let Some(hardening) = &capsule.provenance.hardening else { return Ok(()) };
    if !Scheme::from_word(&hardening.scheme).is_some_and(Scheme::is_proxy) {
        return Ok(());
    }
    let (name, scheme) = (&capsule.name, &hardening.scheme);
    let message = format!("irradiate {name}: {scheme} is a performance proxy, which detects nothing");
    let help = "take the capsule that it was made of, or harden that by a scheme that detects";
    Err(SessionError::new(ErrorKind::Refused, message).with_help(help))
}

/// A recording that is in no file.
///
/// # Errors
/// When it cannot be executed.
pub(crate) fn of_recording(config: &Config, recording: Arc<Capsule>) -> Result<Box<dyn System>, SessionError> {
    let setup = program::setup(config, true);
    let capsule = capsules::target_on(program::machine(config)?, recording, &setup)?;
    Ok(Box::new(CapsuleSystem(capsule)))
}

/// A capsule, ready for faults.
#[derive(Debug)]
struct CapsuleSystem(Arc<CapsuleTarget>);

impl System for CapsuleSystem {
    fn target(&self) -> TargetSystem<'_> {
        TargetSystem::from(&*self.0)
    }

    fn capsule(&self) -> Option<&Arc<CapsuleTarget>> {
        Some(&self.0)
    }

    fn site(&self, id: &str) -> Result<Site, SessionError> {
        Ok(self.0.site_of(&program::fault(id)?)?)
    }

    fn run(&self, site: &Site, engine: &Engine) -> Result<Observation, SessionError> {
        let fault = program::fault_of(site)?;
        Ok(self.0.runner(Strategy::try_from(engine)?).run(&fault)?)
    }
}
