//! A target system as a session has it, and its kind.

use crate::error::{ErrorKind, SessionError};
use campaign::{Config, Description, Engine, EngineOffer, Engines, Live, Results, Site, StoreError, TargetSystem};
use inject::CapsuleTarget;
use methods::{Applied, Estimates, registry};
use nn::ValueFormat;
use outcome::{Criteria, Observation};
use std::fmt::Debug;
use std::sync::Arc;

/// A kind of target system, before anything is opened.
pub(crate) trait SystemKind: Sync {
    /// Whether the configuration names such a system.
    fn takes(&self, config: &Config) -> bool;

    /// The engines that it has.
    fn engines(&self) -> &'static [EngineOffer];

    /// The configuration with its defaults for keys that are not set.
    fn with_defaults(&self, config: Config) -> Config {
        config
    }

    /// Refuses, before any work is done, what it cannot do.
    ///
    /// # Errors
    /// When a key has no meaning here, or a value is unknown.
    fn check(&self, config: &Config) -> Result<(), SessionError>;

    /// Its faults in sentences for reports.
    fn describe(&self, config: &Config) -> Description;

    /// A fault of it in a sentence, by its text id; none where the id alone is what there is to read.
    fn sentence(&self, config: &Config, id: &str) -> Option<String> {
        let _ = (config, id);
        None
    }

    /// Opens what the configuration names and executes its golden run. With `infer`, types of outputs that the
    /// configuration does not give are read off the program.
    ///
    /// # Errors
    /// When it is not there or cannot be used, or the golden run fails.
    fn open(&self, config: &Config, infer: bool) -> Result<Box<dyn System>, SessionError>;

    /// As [`open`](Self::open) for a new campaign, whose application may be chosen, too.
    ///
    /// # Errors
    /// As [`open`](Self::open), and when `wanted` is about an application that there is not.
    fn open_new(&self, config: Config, wanted: &WantedApplication) -> Result<OpenedSystem, SessionError> {
        let config = if config.live.is_some() { config } else { config.with_application(wanted.live.clone())? };
        Ok(OpenedSystem { system: self.open(&config, true)?, config, note: None })
    }
}

/// The choices about the application of a capsule that names one itself.
pub(crate) struct WantedApplication {
    /// How it runs: everything but its command.
    pub(crate) live: Live,
    /// It is not to be asked.
    pub(crate) none: bool,
}

/// A system that was opened for a new campaign.
pub(crate) struct OpenedSystem {
    /// The configuration, with the application that finishes runs.
    pub(crate) config: Config,
    /// The system.
    pub(crate) system: Box<dyn System>,
    /// A fact about the application for the user.
    pub(crate) note: Option<String>,
}

/// A target system, with its golden run done.
pub(crate) trait System: Debug + Send + Sync {
    /// The parts of which a campaign is made.
    fn target(&self) -> TargetSystem<'_>;

    /// The capsule whose faults it runs; none of what is not a program on a GPU.
    fn capsule(&self) -> Option<&Arc<CapsuleTarget>> {
        None
    }

    /// The criteria by which it judges its outputs itself.
    fn criteria(&self) -> Criteria {
        self.capsule().map_or_else(Criteria::default, |capsule| capsule.criteria())
    }

    /// Facts for its user, a line each.
    fn notes(&self) -> Vec<String> {
        self.capsule().map_or_else(Vec::new, |capsule| capsule.notes().to_vec())
    }

    /// Facts about the part that an application has in its runs, a line each.
    fn application_notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The engines of an application that finishes runs of the capsule.
    fn application(&self) -> Option<Arc<dyn Engines>> {
        None
    }

    /// The parts that bounds may name, where it has no capsule.
    fn parts(&self) -> Vec<SystemPart> {
        Vec::new()
    }

    /// The method that the configuration names.
    ///
    /// # Errors
    /// When it cannot choose sites here.
    fn method(&self, config: &Config) -> Result<Option<Box<dyn Applied>>, SessionError> {
        match self.capsule() {
            Some(capsule) => Ok(registry::apply(capsule, &config.selection)?),
            None => Ok(None),
        }
    }

    /// Its own reading of the rows of a campaign without a method, beyond outcomes.
    ///
    /// # Errors
    /// When the rows cannot be read.
    fn estimates(&self, results: &Results) -> Result<Option<Estimates>, StoreError> {
        let _ = results;
        Ok(None)
    }

    /// How the numbers are stored whose bits its faults hit; none where numbers are stored in several ways.
    fn stored_numbers(&self) -> Option<StoredNumbers> {
        None
    }

    /// The site of a fault, by its text id.
    ///
    /// # Errors
    /// When the id cannot be read, or names a place that does not exist.
    fn site(&self, id: &str) -> Result<Site, SessionError>;

    /// Runs the fault of a site.
    ///
    /// # Errors
    /// When the run cannot be made.
    fn run(&self, site: &Site, engine: &Engine) -> Result<Observation, SessionError> {
        let mut worker = self.target().engines.worker(engine)?;
        worker.run(site).map_err(|error| SessionError::from_error(ErrorKind::Words, &error))
    }
}

/// A part of a target system that is not a program on a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemPart {
    /// Its name, as `by_kernel` of a summary has it.
    pub name: String,
    /// Its group, as `by_group` of a summary has it.
    pub group: String,
}

/// How the numbers of a target system are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredNumbers {
    /// As integers, whose bits have numbers alone.
    Integers,
    /// In a format of floating point, whose bits have fields.
    Floats(ValueFormat),
}

impl StoredNumbers {
    /// The name of the field that a bit is in, where numbers have fields.
    #[must_use]
    pub fn field(self, bit: u32) -> Option<&'static str> {
        match self {
            Self::Integers => None,
            Self::Floats(format) => Some(format.field(bit).word()),
        }
    }
}
