//! How a command fails: an exit code, a chain of errors, and a line of help.

use crate::stderr;
use anyhow::Error;
use session::{ErrorKind, SessionError};
use std::process::ExitCode;

/// The documented exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// Done.
    Done,
    /// The command line asks for something that cannot be.
    Usage,
    /// A stated bound was exceeded.
    Exceeded,
    /// Interrupted; what was done is kept and can be resumed.
    Interrupted,
    /// The golden run failed, nothing was injected.
    Golden,
    /// Input refused: a bad capsule, an unsupported instruction, an application that cannot run here.
    Refused,
    /// A stated bound could not be judged: runs failed, nothing landed, or it depends on runs that are undecided.
    Unjudged,
    /// Our bug.
    Bug,
    /// What the application returned.
    Application(u8),
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(match code {
            Code::Done => 0,
            Code::Usage => 1,
            Code::Exceeded => 2,
            Code::Interrupted => 3,
            Code::Golden => 4,
            Code::Refused => 5,
            Code::Unjudged => 6,
            Code::Bug => 70,
            Code::Application(code) => code,
        })
    }
}

/// A failed command.
#[derive(Debug)]
pub(crate) struct Failure {
    code: Code,
    error: Error,
    help: Option<String>,
}

impl Failure {
    /// A failure with its exit code; `error` follows "failed to".
    pub(crate) fn new(code: Code, error: impl Into<Error>) -> Self {
        Self { code, error: error.into(), help: None }
    }

    /// The same with a line that says what to do next.
    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// The chain of errors, which follows "failed to".
    pub(crate) fn message(&self) -> String {
        self.error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ")
    }

    /// Prints the failure and returns its code.
    pub(crate) fn report(&self) -> Code {
        let mut text = self.message();
        // Messages of other layers may be whole sentences already.
        if !text.starts_with("failed") && !text.starts_with("expected") {
            text = format!("failed to {text}");
        }
        stderr::line(&format!("error: {text}"));
        if let Some(help) = &self.help {
            stderr::line(&format!("help: {help}"));
        }
        self.code
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        let code = match error.why {
            ErrorKind::Words => Code::Usage,
            ErrorKind::Refused => Code::Refused,
            ErrorKind::Golden => Code::Golden,
            ErrorKind::Bug => Code::Bug,
        };
        let help = error.help.clone();
        Self { code, error: error.into(), help }
    }
}

/// Adds an exit code to an error.
pub(crate) trait Coded<T> {
    fn code(self, code: Code) -> Result<T, Failure>;
}

impl<T, E: Into<Error>> Coded<T> for Result<T, E> {
    fn code(self, code: Code) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(code, error))
    }
}

/// Says that something happened which must not.
pub(crate) fn report_bug(what: &str) {
    stderr::line(&format!("error: a defect of beamline {}: {what}", env!("CARGO_PKG_VERSION")));
    stderr::line("help: please report it with the command line and, if you can, the capsule");
}
