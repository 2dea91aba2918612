//! Why an application cannot be run, and what to do about it.

use std::io;
use std::path::PathBuf;

/// Why an application was not run. The text says what was expected and found; [`RunError::help`] says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Nothing has that name.
    #[error("failed to find the application `{name}`")]
    NotFound {
        /// The name.
        name: String,
        /// The file of that name in the current directory, if there is one.
        here: bool,
    },
    /// It cannot be opened or read.
    #[error("failed to read `{path}`: {error}")]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// It is no file, or may not be executed.
    #[error("expected a program in `{path}`, found {found}")]
    NotAProgram {
        /// Its path.
        path: PathBuf,
        /// What it is.
        found: NotAProgram,
    },
    /// It is a program for another machine.
    #[error("expected a program for x86-64 Linux in `{path}`, found one for {found}")]
    Foreign {
        /// Its path.
        path: PathBuf,
        /// What it is for.
        found: String,
    },
    /// It loads no shared libraries, so none can stand in for the CUDA runtime.
    #[error("expected a dynamically linked program in `{path}`, found a static one")]
    Static {
        /// Its path.
        path: PathBuf,
    },
    /// The CUDA runtime is linked into it.
    #[error("expected an application that loads the CUDA runtime, but `{path}` has it linked in statically")]
    StaticRuntime {
        /// The program or the library of it that has.
        path: PathBuf,
    },
    /// It was built for a CUDA runtime that is not covered.
    #[error("expected an application of CUDA 12 or 13, but `{path}` needs `{library}`")]
    Version {
        /// The program or the library of it that needs it.
        path: PathBuf,
        /// What it needs.
        library: String,
    },
    /// It talks to the driver itself.
    #[error("expected an application that uses the CUDA runtime, but `{path}` uses only the driver (`{library}`)")]
    DriverOnly {
        /// The program or the library of it that does.
        path: PathBuf,
        /// The driver.
        library: String,
    },
    /// It has nothing to do with CUDA.
    #[error("expected a CUDA application, but neither `{path}` nor its libraries need the CUDA runtime")]
    NoCuda {
        /// Its path.
        path: PathBuf,
    },
    /// Our own runtime is not where it should be.
    #[error("failed to find the simulated CUDA runtime `{}`, looked for {}", super::versions::FILE_NAME, listed(.looked))]
    NoRuntime {
        /// Where it was looked for.
        looked: Vec<PathBuf>,
    },
    /// There is no place for the files that the loader needs.
    #[error("failed to prepare `{path}` for the loader: {error}")]
    NoPlace {
        /// The last place that was tried.
        path: PathBuf,
        /// Why it would not do.
        error: io::Error,
    },
    /// The capsule was recorded and cannot be put where it should be.
    #[error("failed to put the capsule at `{path}`: {error}")]
    Keep {
        /// The path of the capsule.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// The capsule cannot be written where it should.
    #[error("failed to find the directory of the capsule `{path}`")]
    NoRecordDirectory {
        /// The path of the capsule.
        path: PathBuf,
    },
    /// The system refused to start it.
    #[error("failed to start `{path}`: {error}")]
    Start {
        /// Its path.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
}

/// What a path names that is no program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotAProgram {
    /// A directory, a device, and so on.
    NotAFile,
    /// A file without permission to execute it.
    NotExecutable,
    /// A script, and what interprets it.
    Script(String),
    /// A shared library.
    Library,
    /// Something else.
    Other,
}

impl RunError {
    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            Self::NotFound { name, here: true } => format!("write `./{name}` for the file in this directory"),
            Self::NotFound { .. } => "check the spelling, or give the path of the program".to_owned(),
            Self::Unreadable { .. } => "see that the file may be read".to_owned(),
            Self::NotAProgram { found, .. } => found.help().to_owned(),
            Self::Foreign { .. } => "build it for this machine; Beamline runs applications of x86-64 Linux".to_owned(),
            Self::Static { .. } => "link it without `-static`, and with `nvcc -cudart shared`".to_owned(),
            Self::StaticRuntime { .. } => {
                "link it with `nvcc -cudart shared` (CMake: set CUDA_RUNTIME_LIBRARY to Shared)".to_owned()
            }
            Self::Version { .. } => "build it with CUDA 12 or 13 and `nvcc -cudart shared`".to_owned(),
            Self::DriverOnly { .. } => {
                "Beamline stands in for the runtime (`cuda…` calls), not for the driver (`cu…` calls)".to_owned()
            }
            Self::NoCuda { .. } => "name the CUDA application itself, built with `nvcc -cudart shared`".to_owned(),
            Self::NoRuntime { .. } => {
                "build it with `cargo build --release`, keep it beside `beamline`, or name it in BEAMLINE_CUDART"
                    .to_owned()
            }
            Self::NoPlace { .. } => "set XDG_CACHE_HOME to a directory that may be written".to_owned(),
            Self::Keep { .. } => "see that the path can be written".to_owned(),
            Self::NoRecordDirectory { .. } => "create the directory first".to_owned(),
            Self::Start { .. } => "see that the program runs without Beamline".to_owned(),
        }
    }
}

impl NotAProgram {
    fn help(&self) -> &'static str {
        match self {
            Self::NotAFile | Self::Other => "name the program itself",
            Self::NotExecutable => "make it executable with `chmod +x`",
            Self::Script(_) => "name the program that the script starts, with its arguments",
            Self::Library => "name the program that loads the library",
        }
    }
}

impl std::fmt::Display for NotAProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotAFile => f.write_str("something that is not a file"),
            Self::NotExecutable => f.write_str("a file that may not be executed"),
            Self::Script(interpreter) => write!(f, "a script for `{interpreter}`"),
            Self::Library => f.write_str("a shared library"),
            Self::Other => f.write_str("a file that is neither a program nor a script"),
        }
    }
}

fn listed(paths: &[PathBuf]) -> String {
    let shown: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    if shown.is_empty() { "nowhere".to_owned() } else { shown.join(", ") }
}
