//! How many sites each heuristic takes away.

use outcome::{Class, Due, Masked, Outcome, TrapKind};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::ops::AddAssign;

use super::ends::SiteEnd;

/// Why the outcome of a site is known without a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pruning {
    /// No instruction reads the bit: masked.
    Unread,
    /// The first instruction that reads it accesses global memory where nothing is mapped: it traps.
    Unmapped,
    /// The first instruction that reads it accesses global memory at an address that is not aligned: it traps.
    Misaligned,
}

/// Error sites of a kernel by what is known of them before a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HeuristicCounts {
    /// All.
    pub(super) all: u64,
    /// Of them, those that an instruction reads.
    pub(super) uses: u64,
    /// Of all, those in predicates: registers of one bit, which are no general registers.
    pub(super) predicates: u64,
    /// Bits that no instruction reads: masked.
    pub(super) unread: u64,
    /// Bits of addresses whose flip leaves what is mapped: DUE.
    pub(super) unmapped: u64,
    /// Bits of addresses whose flip makes them misaligned: DUE.
    pub(super) misaligned: u64,
    /// First uses of a definition, which end as it does, those of known outcome left out. A class represents them, unless it is not covered.
    pub(super) def_use: u64,
    /// Sites under store equivalence.
    pub(super) stores: StoreCounts,
    /// Reads of guards by instructions that were not executed, and of those that no flip before another instruction meets
    /// first. No fault names them: they are not among all sites.
    pub(super) unnamed: u64,
}

/// Sites under store equivalence, and the pilots that it saves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StoreCounts {
    /// The sites.
    pub(super) sites: u64,
    /// Their classes.
    pub(super) classes: u64,
    /// The pilots of these, if all are studied.
    pub(super) pilots: u64,
    /// The classes of control equivalence that the sites would be in.
    pub(super) classes_by_control: u64,
    /// The pilots of these.
    pub(super) pilots_by_control: u64,
}

impl Pruning {
    /// Its word.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Unread => "unread",
            Self::Unmapped => "unmapped",
            Self::Misaligned => "misaligned",
        }
    }

    /// The class of the outcome.
    pub(super) fn class(self) -> Class {
        match self {
            Self::Unread => Class::Masked,
            Self::Unmapped | Self::Misaligned => Class::Due,
        }
    }

    /// The kind of the outcome, where there is one for all such sites.
    pub(super) fn kind(self) -> Option<String> {
        let outcome = match self {
            Self::Unread => Outcome::Masked(Masked::NeverRead),
            // What lies in the windows of other state spaces traps otherwise than what lies nowhere.
            Self::Unmapped => return None,
            Self::Misaligned => Outcome::Due(Due::Crash(TrapKind::MisalignedAddress)),
        };
        outcome.kind().map(Cow::into_owned)
    }

    /// All reasons.
    pub(super) const ALL: [Self; 3] = [Self::Unread, Self::Unmapped, Self::Misaligned];

    /// How the sites end.
    pub(super) fn end(self) -> SiteEnd {
        match self {
            Self::Unread => SiteEnd::Masked,
            Self::Unmapped | Self::Misaligned => SiteEnd::Detected,
        }
    }
}

impl HeuristicCounts {
    /// Those of known outcome.
    pub(super) fn pruned(&self) -> u64 {
        self.unread + self.unmapped + self.misaligned
    }

    /// Those of known outcome that end in a class.
    pub(super) fn of_class(&self, class: Class) -> u64 {
        match class {
            Class::Masked => self.unread,
            Class::Due => self.unmapped + self.misaligned,
            _ => 0,
        }
    }

    /// Those of known outcome, by reason.
    pub(super) fn known(&self, why: Pruning) -> u64 {
        match why {
            Pruning::Unread => self.unread,
            Pruning::Unmapped => self.unmapped,
            Pruning::Misaligned => self.misaligned,
        }
    }

    /// Those of this number of threads that have the same; sites under store equivalence are counted otherwise.
    pub(super) fn times(self, threads: u64) -> Self {
        let Self { all, uses, predicates, unread, unmapped, misaligned, def_use, stores, unnamed } = self;
        let [all, uses, predicates, unread, unmapped, misaligned, def_use, unnamed] =
            [all, uses, predicates, unread, unmapped, misaligned, def_use, unnamed].map(|sites| sites * threads);
        Self { all, uses, predicates, unread, unmapped, misaligned, def_use, stores, unnamed }
    }

    /// Adds sites of known outcome.
    pub(super) fn add_known(&mut self, why: Pruning, sites: u64) {
        match why {
            Pruning::Unread => self.unread += sites,
            Pruning::Unmapped => self.unmapped += sites,
            Pruning::Misaligned => self.misaligned += sites,
        }
    }

    /// As the document has it.
    pub(super) fn document(&self) -> Value {
        let Self { uses, predicates, unread, unmapped, misaligned, def_use, stores, unnamed, .. } = *self;
        json!({ "uses": uses, "predicates": predicates, "unread": unread, "unmapped": unmapped, "misaligned": misaligned, "def_use": def_use, "not_named": unnamed, "stores": stores.document() })
    }
}

impl AddAssign for HeuristicCounts {
    fn add_assign(&mut self, other: Self) {
        let Self { all, uses, predicates, unread, unmapped, misaligned, def_use, stores, unnamed } = other;
        self.all += all;
        self.uses += uses;
        self.predicates += predicates;
        self.unread += unread;
        self.stores += stores;
        self.unmapped += unmapped;
        self.misaligned += misaligned;
        self.def_use += def_use;
        self.unnamed += unnamed;
    }
}

impl StoreCounts {
    fn document(&self) -> Value {
        let Self { sites, classes, pilots, classes_by_control, pilots_by_control } = *self;
        json!({
            "sites": sites,
            "classes": classes,
            "pilots": pilots,
            "classes_by_control": classes_by_control,
            "pilots_by_control": pilots_by_control,
        })
    }
}

impl AddAssign for StoreCounts {
    fn add_assign(&mut self, other: Self) {
        self.sites += other.sites;
        self.classes += other.classes;
        self.pilots += other.pilots;
        self.classes_by_control += other.classes_by_control;
        self.pilots_by_control += other.pilots_by_control;
    }
}
