//! Outcomes that are claimed of bits of destinations without a run.

use outcome::Class;

/// An outcome that is claimed of a bit of a destination without a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Claim {
    /// No instruction reads the value.
    NeverRead,
    /// Instructions read other bits of the value only.
    UnreadBit,
    /// The first instruction that reads the bit accesses memory at an address that is not aligned.
    Misaligned,
    /// The first instruction that reads the bit accesses memory where nothing is mapped.
    Unmapped,
}

/// All claims.
pub(super) const CLAIMS: [Claim; 4] = [Claim::NeverRead, Claim::UnreadBit, Claim::Misaligned, Claim::Unmapped];

impl Claim {
    /// The class of the outcome.
    pub(super) fn class(self) -> Class {
        match self {
            Self::NeverRead | Self::UnreadBit => Class::Masked,
            Self::Misaligned | Self::Unmapped => Class::Due,
        }
    }

    /// Its key in documents, and its title in tables.
    pub(super) fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::NeverRead => ("never_read", "never read: masked"),
            Self::UnreadBit => ("unread_bits", "bit not read: masked"),
            Self::Misaligned => ("misaligned", "misaligned address: DUE"),
            Self::Unmapped => ("unmapped", "unmapped address: DUE"),
        }
    }
}
