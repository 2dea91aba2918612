//! The application that a capsule was recorded from: where it is there and the same, and this user recorded it, it is asked what
//! its host would have done.

use crate::bundled::{self, BUNDLED, Bundled};
use crate::error::{ErrorKind, SessionError};
use crate::{capsules, trust};
use campaign::{CommandLine, Config, Live, Size};
use capsule::{Capsule, Digest, RecordedApplication};
use std::path::Path;
use std::{fs, io};

/// What is known of the application of a capsule.
pub(crate) enum Recorded {
    /// It can be asked.
    There {
        /// How it is started.
        live: Live,
        /// The host gets something before it gives the GPU the last of its work, and may decide by it.
        sees: bool,
    },
    /// It is not asked.
    Away {
        /// Why, where there may be one.
        why: Option<String>,
        /// What is to be said of that; nothing where nobody has to ask it, or somebody has said what to do.
        note: Option<String>,
    },
}

/// What a campaign can ask of the application of its capsule.
///
/// # Errors
/// If the capsule cannot be read.
pub(crate) fn application_of(config: &Config, no_app: bool) -> Result<Recorded, SessionError> {
    let silent = |why: Option<&str>| Ok(Recorded::Away { why: why.map(str::to_owned), note: None });
    let name = config.capsule.as_str();
    let capsule = capsules::open(name)?;
    let (application, sees) = (&capsule.provenance.application, capsule.host_may_decide());
    let workload = bundled::find(name);
    // The check that ends a workload is no part of what it stands for: only a host that decides in between is asked.
    if workload.is_some() && !sees {
        return silent(no_app.then_some("`no-app` asks no application"));
    }
    if let Some(what) = asks_none(config, no_app) {
        let why = format!("{what} asks no application");
        let note = format!("{why}: what the host would do about a difference is not found out");
        let has_application = application.is_some() || workload.is_some();
        return Ok(Recorded::Away { why: Some(why), note: has_application.then_some(note) });
    }
    if let Some(workload) = workload {
        return of_workload(workload);
    }
    let away = |why: String| {
        let note = sees.then(|| stays_undecided(&why));
        Ok(Recorded::Away { why: Some(why), note })
    };
    let Some(application) = application else {
        return away("the capsule does not say how its application was started".to_owned());
    };
    let Some(live) = live(application) else { return away("the command of its application is empty".to_owned()) };
    if !trust::is_known_command(&live) {
        return away("its application was not recorded by you on this machine".to_owned());
    }
    let same = fs::read(&application.program).is_ok_and(|bytes| Digest::of(&bytes) == application.digest);
    if !same || !Path::new(&application.directory).is_dir() {
        return away(format!("its application, {}, is not there any more, or is another", application.program));
    }
    Ok(Recorded::There { live, sees })
}

/// What of a campaign an application has no part in: all faults of a block are run without it, and it does what a GPU does.
fn asks_none(config: &Config, no_app: bool) -> Option<&'static str> {
    let said = [
        (no_app, "`no-app`"),
        (config.size == Size::Exhaustive, "an exhaustive campaign"),
        (config.order.is_some(), "a campaign with `order`"),
        (config.contract.is_some(), "a campaign with `contract`"),
    ];
    said.into_iter().find_map(|(said, what)| said.then_some(what))
}

/// The executable of a bundled workload whose host decides, where it can be put somewhere.
fn of_workload(workload: Bundled) -> Result<Recorded, SessionError> {
    if let Err(error) = workload.place_application() {
        let why = format!("failed to {error}");
        let note = Some(stays_undecided(&why));
        return Ok(Recorded::Away { why: Some(why), note });
    }
    let words = std::iter::once(format!("{BUNDLED}{}", workload.name)).chain(workload.arguments()).collect();
    let app = CommandLine::new(words).map_err(|error| SessionError::from_error(ErrorKind::Refused, &error))?;
    Ok(Recorded::There { live: Live { app, ..Live::default() }, sees: true })
}

fn stays_undecided(why: &str) -> String {
    format!(
        "runs whose host sees a difference before the end stay undecided: {why}; `--app 'APP ARGS'` names the application"
    )
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
