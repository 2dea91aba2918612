//! How a capsule begins, and what a file that is none looks like, so that the error can say so and help.

use std::fmt;

/// How a capsule begins: not text, and telling when a transfer "converted line endings" (after PNG).
pub(crate) const MAGIC: [u8; 8] = *b"\x89BMC\r\n\x1a\n";

/// What bytes that are not a capsule look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Foreign {
    /// Nothing at all.
    Empty,
    /// A program or library for Linux, or a device binary.
    Elf,
    /// A fat binary of device code.
    Fatbin,
    /// PTX text.
    Ptx,
    /// A SQLite database, as in the directory of a campaign.
    Sqlite,
    /// A ZIP archive.
    Zip,
    /// Something compressed by gzip.
    Gzip,
    /// Something compressed by zstd.
    Zstd,
    /// A placeholder of Git LFS for a file that was not fetched.
    LfsPointer,
    /// A capsule whose line endings some transfer changed.
    ConvertedCapsule,
    /// Some other text.
    Text,
    /// Bytes of no known kind.
    Unknown,
}

/// How files of other kinds begin.
const BEGINNINGS: [(&[u8], Foreign); 12] = [
    (b"\x7fELF", Foreign::Elf),
    (b"\x50\xed\x55\xba", Foreign::Fatbin),
    (b"SQLite format 3\0", Foreign::Sqlite),
    (b"PK\x03\x04", Foreign::Zip),
    (b"PK\x05\x06", Foreign::Zip),
    (b"\x1f\x8b", Foreign::Gzip),
    (b"\x28\xb5\x2f\xfd", Foreign::Zstd),
    (b"version https://git-lfs", Foreign::LfsPointer),
    (b"\x89BMC\n", Foreign::ConvertedCapsule),
    (b"\x89BMC\r\r", Foreign::ConvertedCapsule),
    (b"\xc2\x89BMC", Foreign::ConvertedCapsule),
    (b"\xef\xbf\xbdBMC", Foreign::ConvertedCapsule),
];

impl Foreign {
    /// How much of a file's beginning [`Foreign::of`] wants to see.
    pub(crate) const PREFIX_BYTES: u64 = 4096;

    /// What a file that begins like this is, if it is not a capsule (or the beginning of one).
    pub(crate) fn of(prefix: &[u8]) -> Option<Self> {
        if prefix.is_empty() {
            return Some(Self::Empty);
        }
        let shared = prefix.len().min(MAGIC.len());
        if prefix[..shared] == MAGIC[..shared] {
            return None;
        }
        let known = BEGINNINGS.iter().find(|(beginning, _)| prefix.starts_with(beginning));
        Some(known.map_or_else(|| Self::of_text(prefix), |&(_, foreign)| foreign))
    }

    fn of_text(prefix: &[u8]) -> Self {
        let text = match std::str::from_utf8(prefix) {
            Ok(text) => text,
            // A character that the end of the prefix cuts in two is no reason not to be text.
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(&prefix[..error.valid_up_to()]).unwrap_or("")
            }
            Err(_) => return Self::Unknown,
        };
        if text.chars().any(|character| character.is_control() && !character.is_whitespace()) || text.is_empty() {
            Self::Unknown
        } else if text.lines().any(|line| line.starts_with(".version")) && text.contains(".target") {
            Self::Ptx
        } else {
            Self::Text
        }
    }

    /// What to do with it.
    pub(crate) fn help(self) -> &'static str {
        match self {
            Self::Elf => "record an application with `beamline run --record F.capsule -- APP` and name F.capsule",
            Self::Fatbin | Self::Ptx => {
                "record the application that launches it with `beamline run --record F.capsule -- APP`"
            }
            Self::Sqlite => "name the campaign's directory to `beamline report`, or the capsule it was made from",
            Self::Zip | Self::Gzip | Self::Zstd => "unpack it and name the capsule inside",
            Self::LfsPointer => "fetch the file with `git lfs pull`",
            Self::ConvertedCapsule => "transfer the file again in binary mode",
            Self::Empty | Self::Text | Self::Unknown => {
                "name a file that `beamline run --record` wrote, or a bundled workload"
            }
        }
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "an empty file",
            Self::Elf => "an ELF file (a program, a library or a cubin)",
            Self::Fatbin => "a CUDA fat binary",
            Self::Ptx => "PTX text",
            Self::Sqlite => "a SQLite database",
            Self::Zip => "a ZIP archive",
            Self::Gzip => "a gzip file",
            Self::Zstd => "a zstd file",
            Self::LfsPointer => "a Git LFS pointer to a file that was not fetched",
            Self::ConvertedCapsule => "a capsule that was transferred as if it were text",
            Self::Text => "a text file",
            Self::Unknown => "bytes of no known kind",
        })
    }
}
