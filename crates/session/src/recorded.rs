//! The application that a capsule was recorded from: where it is there and the same, and this user recorded it, it is asked what
//! its host would have done.

use crate::error::SessionError;
use crate::{bundled, capsules, networks, trust};
use campaign::{Choices, CommandLine, Live};
use capsule::{Capsule, Digest, Event, RecordedApplication};
use std::path::Path;
use std::{fs, io};

/// What is known of the application of a capsule.
pub(crate) enum Recorded {
    /// It can be asked.
    There(Live),
    /// It is not, with what is to be said of that; nothing where nobody has to ask it, or somebody has said what to do.
    Away(Option<String>),
}

/// What a campaign can ask of the application of its capsule.
///
/// # Errors
/// If the capsule cannot be read.
pub(crate) fn application_of(choices: &Choices) -> Result<Recorded, SessionError> {
    let Some(name) = choices.capsule.as_deref().filter(|_| choices.live.app.words().is_empty()) else {
        return Ok(Recorded::Away(None));
    };
    // All faults of a block are run without it, and it does what a GPU does.
    if choices.no_app || choices.exhaustive || choices.order.is_some() || choices.contract.is_some() {
        return Ok(Recorded::Away(None));
    }
    if bundled::find(name).is_some() || networks::named(name).is_some() {
        return Ok(Recorded::Away(None));
    }
    let capsule = capsules::open(name)?;
    if !may_decide(&capsule) {
        return Ok(Recorded::Away(None));
    }
    let away = |why: &str| {
        Recorded::Away(Some(format!(
            "runs whose host sees a difference before the end stay undecided: {why}; `--app 'APP ARGS'` names the application"
        )))
    };
    let Some(application) = &capsule.provenance.application else {
        return Ok(away("the capsule does not say how its application was started"));
    };
    let Some(live) = live(application) else { return Ok(away("the command of its application is empty")) };
    if !trust::is_known_command(&live) {
        return Ok(away("its application was not recorded by you on this machine"));
    }
    let same = fs::read(&application.program).is_ok_and(|bytes| Digest::of(&bytes) == application.digest);
    if !same || !Path::new(&application.directory).is_dir() {
        return Ok(away(&format!("its application, {}, is not there any more, or is another", application.program)));
    }
    Ok(Recorded::There(live))
}

/// Whether the host gets something before it gives the GPU the last of its work.
fn may_decide(capsule: &Capsule) -> bool {
    let last = capsule.events.iter().rposition(|event| matches!(event, Event::Launch(_))).unwrap_or(0);
    capsule.events[..last].iter().any(|event| matches!(event, Event::CopyOut { .. }))
}

fn live(application: &RecordedApplication) -> Option<Live> {
    let words = std::iter::once(&application.program).chain(&application.arguments).cloned().collect();
    let directory = Some(application.directory.clone());
    Some(Live { app: CommandLine::new(words).ok()?, directory, ..Live::default() })
}

/// Keeps in mind that this user has started the application of a recording: campaigns may ask it.
///
/// # Errors
/// If the recording cannot be read, or nothing can be written where the user's own state is kept.
pub fn trust_recorded(path: &Path) -> io::Result<()> {
    let capsule = Capsule::open(path).map_err(io::Error::other)?;
    match capsule.provenance.application.as_ref().and_then(live) {
        Some(live) => trust::remember_command(&live),
        None => Ok(()),
    }
}
