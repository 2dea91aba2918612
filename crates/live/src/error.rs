//! Why an application cannot be run live, and what to do about it.

use cudart::runner::RunError;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why there are no live runs of an application. The text follows "failed to".
#[derive(Debug, Error)]
pub enum LiveError {
    /// The runner does not take it.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The directory that it is to be started for is not there.
    #[error("read the directory {path} of the application")]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// There is no place for files, or no process to be had.
    #[error("prepare live runs")]
    Prepare(#[source] io::Error),
    /// A signal or its time ended it, without a fault.
    #[error("complete the golden run: the application {how}{}", quoted(said))]
    Ended {
        /// How it ended.
        how: String,
        /// The end of what it said on standard error.
        said: String,
    },
    /// It took longer than the user allows a run, without a fault.
    #[error("complete the golden run: the application did not end within the {limit} seconds that a run may take")]
    TimeOver {
        /// What a run may take, in seconds.
        limit: f64,
    },
    /// It gave the GPU nothing to do, or something that cannot be recorded.
    #[error("record the golden run: the application left no recording{}", quoted(said))]
    NotRecorded {
        /// The end of what it said on standard error.
        said: String,
    },
    /// The recording cannot be read.
    #[error("read the recording of the application")]
    Recording(#[from] capsule::Error),
    /// A file that was named is not there.
    #[error("find the file `{name}` that the application was to leave")]
    NoFile {
        /// Its name.
        name: String,
    },
    /// It wrote to a file of the directory that it was started for.
    #[error("keep the runs of the application apart: it wrote to `{name}`, of which there is only one")]
    Shared {
        /// The file.
        name: String,
    },
    /// It does something else than the capsule.
    #[error(
        "find the capsule's work in the application: event {event} is {expected} in the capsule, and the application's is \
         {found}, or has other places, bytes or arguments"
    )]
    OtherWork {
        /// The event.
        event: usize,
        /// What it is in the capsule.
        expected: String,
        /// What the application does.
        found: String,
    },
    /// It is not the same twice.
    #[error("repeat the golden run: {0}")]
    NotRepeated(String),
}

impl LiveError {
    /// What to do next.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Run(error) => error.help(),
            Self::Directory { .. } => "name a directory that can be read".to_owned(),
            Self::Prepare(_) => "live runs need /bin/sh, memory files and a temporary directory (TMPDIR)".to_owned(),
            Self::Ended { .. } => "it must run correctly, and end by itself, before faults make sense".to_owned(),
            Self::TimeOver { .. } => {
                "see with `beamline run -- APP` whether it ends by itself, and allow more with `--timeout`".to_owned()
            }
            Self::NotRecorded { .. } => {
                "see whether `beamline run --record F.capsule -- APP` writes a capsule".to_owned()
            }
            Self::Recording(error) => error.help().to_owned(),
            Self::NoFile { .. } => "name files by their paths below the application's directory".to_owned(),
            Self::Shared { name } => {
                format!("name it with `--file {name}`, or run one after the other with `--in-place`")
            }
            Self::OtherWork { .. } => {
                "name the application, with its arguments, that the capsule was recorded from; `beamline live` records \
                 it anew"
                    .to_owned()
            }
            Self::NotRepeated(_) => {
                "live runs need an application that does and prints the same every time; a judge (`--judge`) may allow \
                 for what it prints"
                    .to_owned()
            }
        }
    }
}

fn quoted(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!("; it said `{said}`") }
}

/// The end of what was said, in one line.
pub(crate) fn tail(said: &[u8]) -> String {
    const MOST: usize = 300;
    let text = String::from_utf8_lossy(said);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let joined = lines.join("; ");
    let cut = joined.char_indices().rev().nth(MOST - 1).map_or(0, |(at, _)| at);
    joined[cut..].to_owned()
}
