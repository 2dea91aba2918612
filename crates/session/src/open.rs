//! The one order in which choices become a session.

use crate::capsules;
use crate::error::{ErrorKind, SessionError};
use crate::names::{absolute_directory, absolute_name};
use crate::networks;
use crate::recorded::{self, Recorded};
use crate::session::Session;
use crate::trust;
use crate::work::{Kind, Work, machine, setup};
use campaign::{Bytes, Choices, Config, Live, Results};
use inject::Setup;
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
    choices.selection.method = choices.selection.method.as_deref().map(registry::lasting).transpose()?;
    let is_network = choices.capsule.as_deref().is_some_and(|name| networks::named(name).is_some());
    choices.fuel = choices.fuel.or((choices.exhaustive && !is_network).then_some(Setup::FUEL_OF_ALL));
    // What is said of an application that is not named is meant of the recorded one.
    let said = if is_named { None } else { choices.live.first_explicit() };
    let live = if is_named { choices.live.clone() } else { Live::default() };
    let config = Choices { live, ..choices.clone() }.settle()?;
    let kind = Kind::of(&config)?;
    kind.check(&config)?;
    if kind == Kind::Gpu {
        // Sessions of a debugger share the GPU, not the cores.
        let alone = choices.live.in_place;
        let sessions = u32::try_from(debugger::sessions()).unwrap_or(1);
        choices.jobs = choices.jobs.or(Some(if alone { 1 } else { sessions }));
    }
    let (choices, work, note) = match recorded::application_of(&choices)? {
        Recorded::There { live, sees } => beside(choices, live, sees)?,
        Recorded::Away { why, note } => {
            if let (Some(key), Some(why)) = (said, why) {
                let message = format!("use `{key}`, which is for runs of the application: {why}");
                let help = format!("name the application with `--app 'APP ARGS'`, or leave `{key}` out");
                return Err(SessionError::new(ErrorKind::Words, message).with_help(help));
            }
            let work = Work::of(kind, &choices.clone().settle()?, true)?;
            (choices, work, note)
        }
    };
    let config = choices.judged_by(work.criteria()).settle()?;
    let mut session = with_method(work, config)?;
    session.note(note);
    session.limit_margin()?;
    Ok(session)
}

/// A capsule with its recorded application, or without it where it has nothing to decide, or cannot be asked and why.
fn beside(choices: Choices, live: Live, sees: bool) -> Result<(Choices, Work, Option<String>), SessionError> {
    let is_wanted = choices.live.first_explicit().is_some();
    let directory = choices.live.directory.clone().or(live.directory);
    let asking = Choices { live: Live { app: live.app, directory, ..choices.live.clone() }, ..choices.clone() };
    let config = asking.clone().settle()?;
    match Kind::Beside.check(&config).and_then(|()| Work::of(Kind::Beside, &config, true)) {
        Ok(Work::Live(target)) if !(sees || is_wanted || target.asks_at_end()) => {
            Ok((choices, Work::Capsule(Arc::clone(target.capsule())), None))
        }
        Ok(work) => {
            let app = &asking.live.app;
            let note = format!(
                "runs whose host sees a difference before the end are finished by `{app}`; `--no-app` leaves them undecided"
            );
            Ok((asking, work, sees.then_some(note)))
        }
        Err(error) if is_wanted => Err(error),
        Err(error) => {
            let what = if sees {
                "runs whose host sees a difference before the end stay undecided"
            } else {
                "what the host would do about results that differ is not found out"
            };
            let note = format!("{what}: its application cannot be asked: {error}");
            Ok((choices.clone(), Work::of(Kind::Capsule, &choices.settle()?, true)?, Some(note)))
        }
    }
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
    if networks::named(&config.capsule).is_some() {
        let session = of_config(config)?;
        if session.target().subject.digest() != results.digest()? {
            let message = "use the network of the campaign: the one of that name is another now";
            return Err(SessionError::new(ErrorKind::Refused, message));
        }
        return Ok(session);
    }
    let capsule = capsules::open_same(&config.capsule, &results.digest()?)?;
    let ready = |machine| capsules::target_on(machine, capsule, &setup(&config, false));
    let capsule = machine(&config).and_then(ready).map_err(refused)?;
    with_method(Work::Capsule(capsule), config).map_err(refused)
}

/// A configuration that was written by a campaign: the types that were found out stand in it, and what does not is
/// compared byte by byte.
fn of_config(config: Config) -> Result<Session, SessionError> {
    let kind = Kind::of(&config)?;
    let work = Work::of(kind, &config, false).map_err(refused)?;
    with_method(work, config).map_err(refused)
}

/// Nobody asks for what a campaign wrote: a mistake in its words is one in what is there.
fn refused(error: SessionError) -> SessionError {
    if error.why == ErrorKind::Words { error.refused() } else { error }
}

/// The method, if one is named, chooses sites of the capsule, whatever has the engines.
fn with_method(work: Work, mut config: Config) -> Result<Session, SessionError> {
    let method = match &work {
        // A network refuses methods itself.
        Work::Gpu(_) | Work::Network(_) => None,
        Work::Capsule(capsule) => registry::apply(capsule, &config.selection)?,
        Work::Live(target) => registry::apply(target.capsule(), &config.selection)?,
    };
    if let Some(method) = &method {
        config.selection.files = method.files();
    }
    Ok(Session::new(config, work, method))
}
