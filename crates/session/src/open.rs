//! The one order in which choices become a session.

use crate::addresses;
use crate::error::{ErrorKind, SessionError};
use crate::names::{absolute_directory, absolute_name};
use crate::session::Session;
use crate::systems::{self, OpenedSystem, System, WantedApplication};
use crate::trust;
use ::capsule::Capsule;
use campaign::{Bytes, Choices, Config, Live, Results};
use methods::kit::patterns;
use methods::registry;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

/// Opens what choices name, for a new campaign or for single faults.
///
/// # Errors
/// If the choices mean nothing or contradict each other, what they name is not there or cannot be used, or its golden run
/// fails.
pub fn open(mut choices: Choices) -> Result<Session, SessionError> {
    choices.capsule = choices.capsule.map(|name| absolute_name(&name));
    let is_named = !choices.live.app.words().is_empty();
    if is_named || choices.live.directory.is_some() {
        choices.live.directory = absolute_directory(choices.live.directory.as_deref());
    }
    choices.selection.model = patterns::looked_up(choices.selection.model)?;
    registry::lasting(&mut choices.selection)?;
    choices.addresses = match choices.addresses {
        Some(word) => Some(addresses::keep(&word, &mut choices.selection.files)?),
        None => None,
    };
    // What is said of an application that is not named is meant of the recorded one.
    let live = if is_named { Live::default() } else { std::mem::take(&mut choices.live) };
    let wanted = WantedApplication { live, none: choices.no_app };
    let has_size = choices.runs.is_some() || choices.margin.is_some() || choices.exhaustive;
    let config = choices.settle()?;
    let kind = systems::of(&config)?;
    let config = kind.with_defaults(config);
    systems::check(kind, &config)?;
    let OpenedSystem { config, system, note } = kind.open_new(config, &wanted)?;
    let config = config.judged_by(system.criteria())?;
    let mut session = with_method(system, config)?;
    if !has_size {
        session.take_runs_of_planner()?;
    }
    session.note(note);
    session.limit_margin()?;
    Ok(session)
}

/// Opens a recording that is in no file, for campaigns in memory. Its name is that of the capsule; no application is asked.
///
/// # Errors
/// If choices contradict each other or the recording cannot be executed.
pub fn open_recording(choices: Choices, recording: Arc<Capsule>) -> Result<Session, SessionError> {
    let config = Choices { capsule: Some(recording.name.clone()), no_app: true, ..choices }.settle()?;
    let kind = systems::of(&config)?;
    let config = kind.with_defaults(config);
    systems::check(kind, &config)?;
    let system = systems::of_recording(&config, recording)?;
    let config = config.judged_by(system.criteria())?;
    with_method(system, config)
}

/// What may be said of a campaign that goes on: no result depends on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changes {
    /// Workers.
    pub jobs: Option<NonZeroU32>,
    /// What may be kept in memory.
    pub memory: Option<Bytes>,
    /// The commands that the campaign runs are to be run, whoever named them.
    pub trust: bool,
}

/// Opens what the campaign in `dir` irradiates, to go on with it.
///
/// # Errors
/// If there is no campaign, it runs commands that are neither this user's nor trusted, what it irradiates is not there or
/// cannot be used, or its golden run fails.
pub fn open_campaign(dir: &Path, changes: Changes) -> Result<Session, SessionError> {
    let mut config = campaign::read_config(dir)?;
    if !changes.trust && !trust::is_known(&config) {
        let (commands, dir) = (trust::commands(&config), dir.display());
        let message = format!("go on in {dir}: it runs {commands}, which you did not start here");
        let help = format!("if these commands are to be run, `beamline resume {dir} --trust` runs them");
        return Err(SessionError::new(ErrorKind::Refused, message).with_help(help));
    }
    // Runs in place are one at a time.
    if !config.live.as_ref().is_some_and(|live| live.in_place) {
        config.jobs = changes.jobs.or(config.jobs);
    }
    config.memory = changes.memory.or(config.memory);
    of_config(config)
}

/// Opens the capsule of a finished campaign again, by another name if one is given: for stories, and for what a method
/// makes of rows. Its application is not asked for.
///
/// # Errors
/// If there is no such capsule, or it is not the one that was irradiated.
pub fn open_results(results: &Results, name: Option<&str>) -> Result<Session, SessionError> {
    let mut config = results.config().clone();
    if let Some(name) = name {
        name.clone_into(&mut config.capsule);
    }
    config.live = None;
    let digest = results.digest()?;
    let kind = systems::of(&config)?;
    let system = kind.open(&config, false).map_err(refused)?;
    if system.target().subject.digest() != digest {
        let name = &config.capsule;
        let message = format!("use `{name}`: it is not what was irradiated, but another of that name");
        return Err(SessionError::new(ErrorKind::Refused, message));
    }
    with_method(system, config).map_err(refused)
}

/// A configuration that was written by a campaign: the types that were found out stand in it, and what does not is
/// compared byte by byte.
fn of_config(config: Config) -> Result<Session, SessionError> {
    let system = systems::of(&config)?.open(&config, false).map_err(refused)?;
    with_method(system, config).map_err(refused)
}

/// Nobody asks for what a campaign wrote: a mistake in its words is one in what is there.
fn refused(error: SessionError) -> SessionError {
    if error.why == ErrorKind::Words { error.refused() } else { error }
}

/// The method, if one is named, chooses sites. The configuration keeps the texts of the files that it was opened with.
fn with_method(system: Box<dyn System>, mut config: Config) -> Result<Session, SessionError> {
    let method = system.method(&config)?;
    config.selection.files.extend(method.iter().flat_map(|method| method.files()));
    Ok(Session::new(config, system, method))
}
