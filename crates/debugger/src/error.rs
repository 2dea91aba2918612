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
    /// What to do next.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Start { .. } => {
                "install cuda-gdb, which comes with the CUDA toolkit, or name it in BEAMLINE_CUDA_GDB".to_owned()
            }
            Self::Ended { .. } => {
                "it needs a GPU, the driver and the CUDA runtime (LD_LIBRARY_PATH), and machine code for that GPU; see whether \
                 it runs in cuda-gdb by hand"
                    .to_owned()
            }
            Self::Profile { .. } | Self::Debugger(_) => {
                "see whether cuda-gdb stops in its kernels; fewer sessions at once (`--jobs 1`) are slower and surer"
                    .to_owned()
            }
            Self::Application(error) => error.help(),
        }
    }
}
