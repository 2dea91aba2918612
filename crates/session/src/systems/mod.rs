//! The target systems there are: each is a module here and a line of [`KINDS`].

mod application;
mod beside;
mod capsule;
mod gpu;
mod language;
mod network;
mod program;
mod system;

pub(crate) use capsule::of_recording;
pub(crate) use program::fault;
pub use program::machine_of;
pub(crate) use system::{OpenedSystem, System, SystemKind, WantedApplication};
pub use system::{StoredNumbers, SystemPart};

use crate::error::{ErrorKind, SessionError};
use campaign::{Config, Description};
use debugger::CUDA_GDB;

/// The kinds; a configuration is of the first that takes it.
static KINDS: [&dyn SystemKind; 6] = [
    &network::NetworkKind,
    &language::LanguageKind,
    &gpu::GpuKind,
    &application::ApplicationKind,
    &beside::BesideKind,
    &capsule::CapsuleKind,
];

/// The kind of system that a configuration names.
///
/// # Errors
/// When it names none.
pub(crate) fn of(config: &Config) -> Result<&'static dyn SystemKind, SessionError> {
    let found = KINDS.into_iter().find(|kind| kind.takes(config));
    found.ok_or_else(|| SessionError::new(ErrorKind::Words, "find out what to irradiate: name a capsule or a workload"))
}

/// Refuses, before any work is done, what the kind of system cannot do.
///
/// # Errors
/// When the engine is none of its own, and as [`SystemKind::check`].
pub(crate) fn check(kind: &dyn SystemKind, config: &Config) -> Result<(), SessionError> {
    if let Err(error) = config.engine.among(kind.engines()) {
        let refused = SessionError::from_error(ErrorKind::Words, &error);
        let help = format!("`{CUDA_GDB}` runs applications: see `beamline live`");
        return Err(if config.engine == CUDA_GDB { refused.with_help(help) } else { refused });
    }
    kind.check(config)
}

/// The faults of a campaign, in the sentences of its target system.
#[must_use]
pub fn describe(config: &Config) -> Description {
    of(config).map_or_else(|_| Description::default(), |kind| kind.describe(config))
}

/// A fault of a campaign in a sentence, by its text id; none where its target system has no sentence for it.
#[must_use]
pub fn fault_sentence(config: &Config, id: &str) -> Option<String> {
    of(config).ok().and_then(|kind| kind.sentence(config, id))
}
