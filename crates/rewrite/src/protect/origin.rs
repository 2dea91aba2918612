//! Where each instruction of a protected function comes from.

use facts::Pc;

/// Where an instruction comes from. Instructions are those of the function as it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// It was there before.
    Original(Pc),
    /// It computes the same once more, in other registers.
    Duplicate(Pc),
    /// It copies what an instruction without a duplicate wrote into the shadow registers.
    Copy(Pc),
    /// It compares a value that an instruction is going to read, or has just written, with its duplicate, or tests the
    /// signature before an instruction.
    Check(Pc),
    /// It says that a comparison failed.
    Notify,
    /// It makes what the others need, where the function begins.
    Entry,
}

/// How many instructions there are of each origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OriginCounts {
    /// Those that were there before.
    pub original: u64,
    /// Duplicates.
    pub duplicate: u64,
    /// Copies.
    pub copy: u64,
    /// Comparisons.
    pub check: u64,
    /// Notifications.
    pub notify: u64,
    /// Those at the entry.
    pub entry: u64,
}

impl OriginCounts {
    /// Counts origins.
    #[must_use]
    pub fn of<'a>(origins: impl IntoIterator<Item = &'a Origin>) -> Self {
        let mut counts = Self::default();
        for origin in origins {
            *match origin {
                Origin::Original(_) => &mut counts.original,
                Origin::Duplicate(_) => &mut counts.duplicate,
                Origin::Copy(_) => &mut counts.copy,
                Origin::Check(_) => &mut counts.check,
                Origin::Notify => &mut counts.notify,
                Origin::Entry => &mut counts.entry,
            } += 1;
        }
        counts
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.original + self.duplicate + self.copy + self.check + self.notify + self.entry
    }
}

impl Origin {
    /// The same where instructions have other places.
    pub(super) fn of(self, place: impl Fn(Pc) -> Pc) -> Self {
        match self {
            Self::Original(pc) => Self::Original(place(pc)),
            Self::Duplicate(pc) => Self::Duplicate(place(pc)),
            Self::Copy(pc) => Self::Copy(place(pc)),
            Self::Check(pc) => Self::Check(place(pc)),
            Self::Notify => Self::Notify,
            Self::Entry => Self::Entry,
        }
    }
}
