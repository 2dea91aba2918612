//! What runs: campaigns and single faults, on one thing that was opened.

use crate::error::{ErrorKind, SessionError};
use crate::systems::{self, StoredNumbers, System, SystemPart};
use crate::trust;
use campaign::story::Story;
use campaign::{
    CampaignEnd, CampaignError, CampaignEvent, Config, MarginBy, MarginRule, Results, SelectionWords, Site, Size,
    Store, StoreError, Stratify, TargetError, TargetSystem,
};
use fault::Fault;
use inject::CapsuleTarget;
use methods::kit::OpenedCapsule;
use methods::{Applied, Estimates};
use outcome::{Criteria, Observation};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs that a margin for each kernel may take without being told so: the plan of all of them is written first.
const MOST_UNSAID: u64 = 1_000_000;

/// What choices name, ready to run. Nothing of it can be changed.
pub struct Session {
    config: Config,
    system: Box<dyn System>,
    method: Option<Box<dyn Applied>>,
    /// What is to be said of its application.
    note: Option<String>,
}

impl Session {
    pub(crate) fn new(config: Config, system: Box<dyn System>, method: Option<Box<dyn Applied>>) -> Self {
        Self { config, system, method, note: None }
    }

    /// Adds what is to be said of its application.
    pub(crate) fn note(&mut self, note: Option<String>) {
        self.note = note;
    }

    /// Makes as many runs as the planner has, where it has a fixed number.
    ///
    /// # Errors
    /// When a campaign cannot have that number.
    pub(crate) fn take_runs_of_planner(&mut self) -> Result<(), SessionError> {
        if let Some(runs) = self.target().planner.runs() {
            self.config = self.config.clone().with_runs(runs)?;
        }
        Ok(())
    }

    /// Says after how many runs a margin for each kernel ends at the latest, where nobody does: the smallest kernel has as
    /// many by then as bound whatever rate.
    pub(crate) fn limit_margin(&mut self) -> Result<(), SessionError> {
        let Size::Margin(rule @ MarginRule { by: MarginBy::Kernel, at_most: None, .. }) = self.config.size else {
            return Ok(());
        };
        let help =
            "say with `runs` how many there may be at most, or give each kernel as many with `stratify = kernel`";
        let words = SelectionWords { stratify: Some(Stratify::Kernel), ..self.config.selection.clone() };
        let unknown = |error: TargetError| SessionError::from_error(ErrorKind::Words, &error).with_help(help);
        let strata = self.target().planner.strata(&words).map_err(unknown)?;
        let all: f64 = strata.iter().map(|kernel| kernel.members as f64).sum();
        let Some(least) = strata.iter().min_by_key(|kernel| kernel.members) else { return Ok(()) };
        let share = least.members as f64 / all;
        let runs = rule.runs_of_share(share, self.config.confidence, self.config.interval.method());
        if runs > MOST_UNSAID {
            let message = format!(
                "bound the rates of each kernel within ±{}: {} has {:.2e} of what runs are drawn from, so that it takes {runs} \
                 runs",
                rule.margin.get(),
                fault::base_name(&least.name),
                share
            );
            return Err(SessionError::new(ErrorKind::Words, message).with_help(help));
        }
        self.config.size = Size::Margin(MarginRule { at_most: Some(runs), ..rule });
        Ok(())
    }

    /// The effective configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The capsule: the one that was named, or the recording of the application. A network has none.
    #[must_use]
    pub fn capsule(&self) -> Option<&Arc<CapsuleTarget>> {
        self.system.capsule()
    }

    /// The capsule with its configuration, for campaigns of methods; none of what has no capsule. The commands of an application
    /// that finishes runs are from now on known to be this user's.
    ///
    /// # Errors
    /// If the user's own state cannot be written.
    pub fn opened_capsule(&self) -> Result<Option<OpenedCapsule>, SessionError> {
        let Some(capsule) = self.system.capsule() else { return Ok(None) };
        let engines = self.system.application();
        if engines.is_some() {
            trust::remember(&self.config).map_err(|error| SessionError::from_error(ErrorKind::Refused, &error))?;
        }
        Ok(Some(OpenedCapsule { capsule: Arc::clone(capsule), config: self.config.clone(), engines }))
    }

    /// The parts that bounds may name, of what has no capsule.
    #[must_use]
    pub fn parts(&self) -> Vec<SystemPart> {
        self.system.parts()
    }

    /// How the numbers are stored whose bits are hit; none where numbers are stored in several ways.
    #[must_use]
    pub fn stored_numbers(&self) -> Option<StoredNumbers> {
        self.system.stored_numbers()
    }

    /// The name of what is irradiated.
    #[must_use]
    pub fn name(&self) -> &str {
        self.system.target().subject.name()
    }

    /// What a user should know before it runs, a line each.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.system.notes();
        notes.extend(self.application_notes());
        notes
    }

    /// What a user should know of the part that an application has in its runs, a line each.
    #[must_use]
    pub fn application_notes(&self) -> Vec<String> {
        self.note.iter().cloned().chain(self.system.application_notes()).collect()
    }

    /// What a campaign runs on.
    #[must_use]
    pub fn target(&self) -> TargetSystem<'_> {
        let target = self.system.target();
        match &self.method {
            None => target,
            Some(method) => target.planned_by(&**method),
        }
    }

    /// Makes a campaign in `dir`.
    ///
    /// # Errors
    /// As [`Store::create`]: a selection that selects nothing is a mistake in the words, a directory that cannot be used
    /// is one, too.
    pub fn create(&self, dir: &Path) -> Result<Store, SessionError> {
        let has_outputs = self.capsule().is_none_or(|capsule| capsule.golden_run().has_outputs());
        if !self.config.capsule.is_empty() && !has_outputs {
            let message = format!(
                "irradiate {}: nothing in it is an output, so that no corruption could be seen",
                self.config.capsule
            );
            let scratch = "`--scratch` leaves out all that is copied to the host: name fewer buffers";
            let help = "nothing is copied to the host and no kernel prints: record a run that copies its results to the host, or let \
                        `beamline live -- APP` compare what the application itself leaves";
            let help = if self.config.criteria.scratch.is_empty() { help } else { scratch };
            return Err(SessionError::new(ErrorKind::Refused, message).with_help(help));
        }
        let words = |error: StoreError| SessionError::from_error(ErrorKind::Words, &error);
        Store::create(dir, self.config.clone(), self.target()).map_err(words)
    }

    /// Keeps in mind that this user started the commands that the session runs, if it runs some: campaigns that run them are
    /// gone on with unasked.
    ///
    /// # Errors
    /// If nothing can be written where the user's own state is kept.
    pub fn trust(&self) -> std::io::Result<()> {
        trust::remember(&self.config)
    }

    /// Opens the campaign in `dir` to go on with it.
    ///
    /// # Errors
    /// As [`Store::resume`].
    pub fn resume(&self, dir: &Path) -> Result<Store, SessionError> {
        let mut store = Store::resume(dir, self.target())?;
        store.set_jobs(self.config.jobs);
        store.set_memory(self.config.memory);
        Ok(store)
    }

    /// Makes the runs of a campaign that have no row yet.
    ///
    /// # Errors
    /// As [`campaign::run`].
    pub fn run(
        &self,
        store: &mut Store,
        stop: &AtomicBool,
        told: &mut dyn FnMut(CampaignEvent<'_>),
    ) -> Result<CampaignEnd, CampaignError> {
        campaign::run(self.target(), store, stop, told)
    }

    /// Makes all runs of the configuration and keeps their rows in memory, not on disk.
    ///
    /// # Errors
    /// As [`campaign::run_in_memory`].
    pub fn run_in_memory(
        &self,
        stop: &AtomicBool,
        told: &mut dyn FnMut(CampaignEvent<'_>),
    ) -> Result<(CampaignEnd, Results), CampaignError> {
        campaign::run_in_memory(self.target(), &self.config, stop, told)
    }

    /// The reading of the rows by the method that chose the sites, or by the target system itself; none if neither has one.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub fn estimates(&self, results: &Results) -> Result<Option<Estimates>, StoreError> {
        match &self.method {
            Some(method) => method.estimates(results).map(Some),
            None => self.system.estimates(results),
        }
    }

    /// What makes outputs good: what was said, and what the capsule says.
    #[must_use]
    pub fn criteria(&self) -> Criteria {
        self.config.criteria.clone().or(self.system.criteria())
    }

    /// Runs one fault by its text id, by the engine of the configuration.
    ///
    /// # Errors
    /// If the id cannot be read or names a place that does not exist, or the run cannot be made.
    pub fn inject(&self, id: &str) -> Result<(Site, Observation), SessionError> {
        let site = self.system.site(id)?;
        let observation = self.system.run(&site, &self.config.engine)?;
        Ok((site, observation))
    }

    /// The story of a fault that a row names.
    ///
    /// # Errors
    /// If it is no fault, and as [`story`](Self::story).
    pub fn story_of(&self, id: &str) -> Result<Story, SessionError> {
        self.story(&systems::fault(id)?)
    }

    /// The story of one fault in the capsule: what was hit, how it spread, what came of it.
    ///
    /// # Errors
    /// If its place does not exist, or the run cannot be made.
    pub fn story(&self, fault: &Fault) -> Result<Story, SessionError> {
        let capsule = self.capsule().ok_or_else(no_program)?;
        Ok(capsule.story(fault, &self.criteria())?)
    }
}

fn no_program() -> SessionError {
    SessionError::new(ErrorKind::Words, "follow a fault of a program: a neural network is irradiated")
}
