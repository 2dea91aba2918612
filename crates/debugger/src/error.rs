//! Why an application cannot be irradiated on a GPU, and what to do about it.

use crate::mi::Trouble;
use campaign::error_chain;
use live::LiveError;
use std::io;
use thiserror::Error;

/// Why there are no runs in the debugger. The text follows "failed to".
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DebuggerError {
    /// The debugger cannot be found or started.
    #[error("start `{program}`")]
    Start {
        /// The program.
        program: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The application does not run without a fault.
    #[error("complete a run on the GPU without a fault: the application {how}")]
    Ended {
        /// What it did.
        how: String,
    },
    /// The application or the debugger died in a run without a fault, as happens now and then.
    #[error("complete a run on the GPU without a fault: the application {how}")]
    Died {
        /// How.
        how: String,
    },
    /// A second session, tried because the first one died, failed as well.
    #[error("{second} (in a second session; the first failed to {first})")]
    Again {
        /// Why the first did.
        first: Box<Self>,
        /// Why the second did.
        second: Box<Self>,
    },
    /// No thread could be followed.
    #[error("follow thread {thread} of block {cta} of launch {launch} on the GPU: {reason}")]
    Profile {
        /// The launch.
        launch: u32,
        /// The block.
        cta: u64,
        /// The thread.
        thread: u32,
        /// What was in the way.
        reason: String,
    },
    /// The application is not the same twice, or cannot be made ready.
    #[error(transparent)]
    Application(#[from] LiveError),
    /// The debugger does not do what it should.
    #[error("{0}")]
    Debugger(String),
}

impl From<Trouble> for DebuggerError {
    fn from(trouble: Trouble) -> Self {
        Self::Debugger(error_chain(&trouble))
    }
}

impl DebuggerError {
    /// Makes an attempt, and a second one if a session died in the first without saying anything of the application.
    pub(crate) fn twice<T>(mut attempt: impl FnMut() -> Result<T, Self>) -> Result<T, Self> {
        match attempt() {
            Err(first @ (Self::Died { .. } | Self::Debugger(_))) => {
                attempt().map_err(|second| Self::Again { first: Box::new(first), second: Box::new(second) })
            }
            other => other,
        }
    }

    /// What to do next.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Start { .. } => {
                "install cuda-gdb, which comes with the CUDA toolkit, or name it in BEAMLINE_CUDA_GDB".to_owned()
            }
            Self::Ended { .. } | Self::Died { .. } => {
                "it needs a GPU, the driver and the CUDA runtime (LD_LIBRARY_PATH), and machine code for that GPU; see whether \
                 it runs in cuda-gdb by hand"
                    .to_owned()
            }
            Self::Profile { .. } | Self::Debugger(_) => {
                "see whether cuda-gdb stops in its kernels; fewer sessions at once (`--jobs 1`) are slower and surer"
                    .to_owned()
            }
            Self::Again { second, .. } => second.help(),
            Self::Application(error) => error.help(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn died(signal: &str) -> DebuggerError {
        DebuggerError::Died { how: format!("got the signal {signal}") }
    }

    #[test]
    fn a_session_that_died_is_tried_a_second_time_and_no_more() {
        let mut attempts = vec![Ok(7), Err(died("SIGSEGV"))];
        assert_eq!(DebuggerError::twice(|| attempts.pop().unwrap()).unwrap(), 7);
        let mut attempts = vec![Ok(7), Err(died("SIGBUS")), Err(died("SIGSEGV"))];
        let error = DebuggerError::twice(|| attempts.pop().unwrap()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "complete a run on the GPU without a fault: the application got the signal SIGBUS (in a second session; the \
             first failed to complete a run on the GPU without a fault: the application got the signal SIGSEGV)"
        );
        assert_eq!(error.help(), died("SIGBUS").help());
    }

    #[test]
    fn an_application_that_ended_itself_is_not_tried_again() {
        let ended = || DebuggerError::Ended { how: "ended with code 1".to_owned() };
        let mut attempts = vec![Ok(7), Err(ended())];
        assert!(matches!(DebuggerError::twice(|| attempts.pop().unwrap()), Err(DebuggerError::Ended { .. })));
    }
}
