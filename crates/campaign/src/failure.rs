//! What stops a target, and what stops a single run: a chain of errors as text, since the campaign knows no target.

use std::error::Error;

/// Why a target could not plan or work: its own chain of errors, as text, since the campaign knows no target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TargetError(String);

/// Why one run could not be made: stored in its row, and the campaign goes on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RunFailure(String);

impl TargetError {
    /// Keeps the message, one line that follows "failed to".
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Keeps an error and all its sources.
    #[must_use]
    pub fn from_error(error: &dyn Error) -> Self {
        Self(error_chain(error))
    }
}

impl RunFailure {
    /// Keeps the message, one line that follows "failed to".
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Keeps an error and all its sources.
    #[must_use]
    pub fn from_error(error: &dyn Error) -> Self {
        Self(error_chain(error))
    }

    /// The message.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0
    }
}

/// The messages of an error and of its sources, outermost first, joined by colons.
#[must_use]
pub fn error_chain(error: &dyn Error) -> String {
    let sources = std::iter::successors(Some(error), |&error| error.source());
    sources.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_error_keeps_the_whole_chain() {
        #[derive(Debug, thiserror::Error)]
        #[error("load the capsule")]
        struct Outer(#[source] std::num::ParseIntError);
        let error = Outer("x".parse::<u8>().unwrap_err());
        assert_eq!(TargetError::from_error(&error).to_string(), "load the capsule: invalid digit found in string");
    }
}
