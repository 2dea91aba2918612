//! Why there is nothing to run.

use campaign::{ConfigError, StoreError, TargetError, error_chain};
use debugger::DebuggerError;
use device::DeviceError;
use inject::{GoldenError, InjectError};
use live::LiveError;
use std::error::Error;

/// The kind of an error: the place of the mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// In the words of who asks.
    Words,
    /// In what is there: a capsule, an application or a campaign that cannot be used.
    Refused,
    /// The run without a fault fails, or is not the one that was recorded.
    Golden,
    /// In us.
    Bug,
}

/// Why there is nothing to run. Its text is a fragment that follows "failed to".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SessionError {
    /// Where the mistake is.
    pub why: ErrorKind,
    message: String,
    /// What to do next, if something is known to help.
    pub help: Option<String>,
}

impl SessionError {
    pub(crate) fn new(why: ErrorKind, message: impl Into<String>) -> Self {
        Self { why, message: message.into(), help: None }
    }

    /// An error with all its causes.
    pub(crate) fn from_error(why: ErrorKind, error: &dyn Error) -> Self {
        Self::new(why, error_chain(error))
    }

    pub(crate) fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// The same mistake in what is there, where nobody asked for it in words.
    pub(crate) fn refused(self) -> Self {
        Self { why: ErrorKind::Refused, ..self }
    }
}

impl From<ConfigError> for SessionError {
    fn from(error: ConfigError) -> Self {
        Self::from_error(ErrorKind::Words, &error)
    }
}

impl From<methods::kit::patterns::PatternsError> for SessionError {
    fn from(error: methods::kit::patterns::PatternsError) -> Self {
        Self::new(ErrorKind::Words, error.to_string()).with_help(error.help)
    }
}

impl From<TargetError> for SessionError {
    fn from(error: TargetError) -> Self {
        Self::from_error(ErrorKind::Words, &error)
    }
}

impl From<StoreError> for SessionError {
    fn from(error: StoreError) -> Self {
        Self::from_error(ErrorKind::Refused, &error)
    }
}

impl From<capsule::Error> for SessionError {
    fn from(error: capsule::Error) -> Self {
        let what = format!("read {}: {}", error.origin(), error.problem());
        Self::new(ErrorKind::Refused, what).with_help(error.help())
    }
}

impl From<GoldenError> for SessionError {
    fn from(error: GoldenError) -> Self {
        let (why, help) = match &error {
            GoldenError::Capsule(_) | GoldenError::NoCode(_) | GoldenError::NoLaunch => {
                (ErrorKind::Refused, "record the application again with `beamline run --record F.capsule -- APP`")
            }
            GoldenError::Event { source, .. } if matches!(**source, DeviceError::Module(_)) => {
                (ErrorKind::Refused, "docs/supported.md lists the instructions that can be executed")
            }
            GoldenError::Event { .. } | GoldenError::Differs { .. } => {
                (ErrorKind::Golden, "record the application again with this version of beamline")
            }
            GoldenError::Guest(_) => (ErrorKind::Bug, "choose another name for the guest"),
            GoldenError::Trapped(_) => (ErrorKind::Golden, "the program must run correctly before faults make sense"),
        };
        Self::from_error(why, &error).with_help(help)
    }
}

impl From<LiveError> for SessionError {
    fn from(error: LiveError) -> Self {
        let why = match error {
            LiveError::Run(_) | LiveError::Recording(_) | LiveError::Prepare(_) => ErrorKind::Refused,
            LiveError::Directory { .. } => ErrorKind::Words,
            LiveError::Ended { .. }
            | LiveError::TimeOver { .. }
            | LiveError::NotRecorded { .. }
            | LiveError::NoFile { .. }
            | LiveError::Shared { .. }
            | LiveError::OtherWork { .. }
            | LiveError::NotRepeated(_) => ErrorKind::Golden,
        };
        Self::from_error(why, &error).with_help(error.help())
    }
}

impl From<DebuggerError> for SessionError {
    fn from(error: DebuggerError) -> Self {
        let why = match error {
            DebuggerError::Application(error) => return error.into(),
            DebuggerError::Ended { .. } | DebuggerError::Profile { .. } => ErrorKind::Golden,
            _ => ErrorKind::Refused,
        };
        Self::from_error(why, &error).with_help(error.help())
    }
}

/// A place that does not exist is a mistake of who names it.
impl From<InjectError> for SessionError {
    fn from(error: InjectError) -> Self {
        match &error {
            InjectError::Isa { .. }
            | InjectError::Launch { .. }
            | InjectError::Cta { .. }
            | InjectError::Thread { .. } => {
                let help = "`beamline info CAPSULE` and `profile` show launches and threads";
                Self::from_error(ErrorKind::Words, &error).with_help(help)
            }
            InjectError::Dynamic { launch, cta, thread, .. } => {
                let help =
                    format!("`beamline profile CAPSULE --trace launch={launch},cta={cta},thread={thread}` lists them");
                Self::from_error(ErrorKind::Words, &error).with_help(help)
            }
            InjectError::Operand { .. } | InjectError::Bits { .. } => Self::from_error(ErrorKind::Words, &error),
            InjectError::Together { .. } => Self::from_error(ErrorKind::Refused, &error),
            _ => Self::from_error(ErrorKind::Bug, &error),
        }
    }
}
