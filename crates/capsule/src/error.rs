//! What can keep a capsule from being read, checked or written.
//!
//! An [`Error`] is one sentence: what failed, on which file, what was expected, what was found, where, and what to do next.
//! [`Error::problem`] gives the middle of it as data and [`Error::help`] the end, for those who lay it out themselves.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::{Digest, Foreign, Part, format};

/// Why a capsule could not be read, checked or written.
#[derive(Debug, thiserror::Error)]
#[error("failed to {action} capsule {origin}: {problem}: {}", .problem.help())]
pub struct Error {
    action: Action,
    origin: Origin,
    problem: Box<Problem>,
}

/// What was being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Reading a file, or a blob of it.
    Read,
    /// Validating a capsule in memory.
    Check,
    /// Writing a file.
    Write,
}

/// Where the bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// In a file.
    File(PathBuf),
    /// In memory: bundled, or not yet written.
    Memory,
}

/// A stretch of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSection {
    /// The header.
    Header,
    /// The table of contents.
    Table {
        /// Of how many parts.
        parts: u32,
    },
    /// One part.
    Part(Part),
}

/// What is wrong.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The system could not do what was asked of it.
    #[error("{error} while {doing}")]
    Io {
        /// What was asked.
        doing: &'static str,
        /// The system's reason.
        error: io::Error,
    },
    /// The path names something that is not a file.
    #[error("expected a file, found {found}")]
    NotAFile {
        /// What it names.
        found: &'static str,
    },
    /// The bytes are not a capsule.
    #[error("expected a capsule, found {found}")]
    Foreign {
        /// What they look like.
        found: Foreign,
    },
    /// The major version is newer than ours.
    #[error("made by a newer Beamline (format {major}.{minor}, this one reads {}.x)", format::MAJOR)]
    Newer {
        /// The file's major version.
        major: u16,
        /// The file's minor version.
        minor: u16,
    },
    /// The major version is one that no Beamline has ever written.
    #[error("at byte 8: expected format {}.x, found {major}.{minor}, which never existed", format::MAJOR)]
    NoSuchVersion {
        /// The file's major version.
        major: u16,
        /// The file's minor version.
        minor: u16,
    },
    /// The file ends too early.
    #[error("cut short: expected at least {expected} bytes for {section}, found {found}")]
    Truncated {
        /// The stretch that is not complete.
        section: FileSection,
        /// Where it should end.
        expected: u64,
        /// Where the file ends.
        found: u64,
    },
    /// The file goes on after its last part.
    #[error("expected {expected} bytes in all, found {found}")]
    Appended {
        /// Where the last part ends.
        expected: u64,
        /// Where the file ends.
        found: u64,
    },
    /// A size exceeds what a capsule may have.
    #[error("{section}: expected at most {bound} {what}, found {declared}")]
    TooLarge {
        /// Of what.
        section: FileSection,
        /// What the size counts.
        what: &'static str,
        /// The size.
        declared: u64,
        /// The bound.
        bound: u64,
    },
    /// The table lists no part at all, not even a manifest.
    #[error("at byte 12: expected at least one part, found none")]
    NoManifest,
    /// Header or table changed after they were written.
    #[error("header and table of contents, bytes 0 to {end}: expected digest {expected:.16}…, found {found:.16}…")]
    Seal {
        /// Where the table ends.
        end: u64,
        /// The digest that the header states.
        expected: Digest,
        /// The digest of what is there.
        found: Digest,
    },
    /// A part's packed bytes changed after they were written.
    #[error("{part} at byte {offset}: expected digest {expected:.16}…, found {found:.16}…")]
    Damaged {
        /// Which one.
        part: Part,
        /// Where it begins.
        offset: u64,
        /// The digest that the table states.
        expected: Digest,
        /// The digest of what is there.
        found: Digest,
    },
    /// A part cannot be decompressed to what the table says about it, though it is as it was written.
    #[error("{part} at byte {offset}: expected {expected}, found {found}")]
    Packing {
        /// Which one.
        part: Part,
        /// Where it begins.
        offset: u64,
        /// What should come out.
        expected: String,
        /// What came out.
        found: String,
    },
    /// The manifest is not what this format calls one.
    #[error("{} at byte {offset}: expected a manifest in JSON, found a mistake in it: {reason}", Part(0))]
    Manifest {
        /// Where the part begins.
        offset: u64,
        /// What is wrong, with line and column of the raw manifest.
        reason: String,
    },
    /// The content contradicts itself or exceeds what a GPU can do.
    #[error("{place}: expected {expected}, found {found}")]
    Invalid {
        /// The event, module, output or source.
        place: String,
        /// What would be right.
        expected: String,
        /// What is there.
        found: String,
    },
}

impl Error {
    pub(crate) fn new(action: Action, origin: &Origin, problem: Problem) -> Self {
        Self { action, origin: origin.clone(), problem: Box::new(problem) }
    }

    /// What was being done.
    pub fn action(&self) -> Action {
        self.action
    }

    /// Where the bytes are.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// What was expected, what was found, and where.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// What to do next.
    pub fn help(&self) -> &'static str {
        self.problem.help()
    }
}

impl Problem {
    /// What to do next.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Io { .. } => "see that the path exists, may be accessed and has room",
            Self::NotAFile { .. } => "name the capsule file itself",
            Self::Foreign { found } => found.help(),
            Self::Newer { .. } => "update Beamline, or record the application again with this one",
            Self::Truncated { .. } => "copy or download the file again",
            Self::NoSuchVersion { .. } | Self::Appended { .. } | Self::Seal { .. } | Self::Damaged { .. } => {
                "the file changed after it was written; copy or download it again"
            }
            Self::TooLarge { .. } => "record a smaller run, or do not trust this file",
            Self::NoManifest | Self::Packing { .. } | Self::Manifest { .. } => {
                "whatever wrote this file is at fault; record the application again, or do not trust the file"
            }
            Self::Invalid { .. } => {
                "whatever made this capsule is at fault; record the application again and report it if that does not help"
            }
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Check => "check",
            Self::Write => "write",
        })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "`{}`", path.display()),
            Self::Memory => f.write_str("in memory"),
        }
    }
}

impl fmt::Display for FileSection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => f.write_str("the header"),
            Self::Table { parts } => write!(f, "the table of contents of {parts} parts"),
            Self::Part(part) => part.fmt(f),
        }
    }
}

/// Text of a file as an error may show it: without control characters, which could play tricks on a terminal, and of which
/// only the beginning and the end if it is long.
pub(crate) fn shown(text: &str) -> String {
    const BEGINNING: usize = 120;
    const END: usize = 60;
    let start_of = |place: Option<(usize, char)>| place.map_or(0, |(start, _)| start);
    if text.char_indices().nth(BEGINNING + END).is_none() {
        return escape(text);
    }
    let beginning = &text[..start_of(text.char_indices().nth(BEGINNING))];
    let end = &text[start_of(text.char_indices().nth_back(END - 1))..];
    format!("{} … {}", escape(beginning), escape(end))
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    escaped
}
