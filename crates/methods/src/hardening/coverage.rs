//! What of a capsule is protected, in static instructions.

use crate::hardening::loads::LoadCoverage;
use rewrite::OriginCounts;
use serde::Serialize;

/// What of a capsule is protected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// How many instructions the protected functions had before.
    pub before: u64,
    /// How many they have now, by where these come from.
    #[serde(serialize_with = "counts")]
    pub instructions: OriginCounts,
    /// The kernels that are protected, in order.
    pub protected: Vec<String>,
    /// The kernels that are left as they are.
    pub refused: Vec<RefusedKernel>,
    /// The kernels none of whose instructions is chosen, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unchosen: Vec<String>,
    /// The device functions that are left as they are: protected kernels may call them.
    pub refused_functions: Vec<RefusedKernel>,
    /// The loads from memory that other threads write, where they were to be executed twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loads: Option<LoadCoverage>,
}

/// A kernel or function that is left as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedKernel {
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// Origins as they stand in documents.
#[derive(Serialize)]
struct Counted {
    original: u64,
    duplicate: u64,
    copy: u64,
    check: u64,
    notify: u64,
    entry: u64,
    all: u64,
}

fn counts<S: serde::Serializer>(counts: &OriginCounts, serializer: S) -> Result<S::Ok, S::Error> {
    let OriginCounts { original, duplicate, copy, check, notify, entry } = *counts;
    Counted { original, duplicate, copy, check, notify, entry, all: counts.all() }.serialize(serializer)
}

impl Coverage {
    /// Adds the origins of a function.
    pub(crate) fn add(&mut self, before: u64, more: OriginCounts) {
        self.before += before;
        let counts = &mut self.instructions;
        counts.original += more.original;
        counts.duplicate += more.duplicate;
        counts.copy += more.copy;
        counts.check += more.check;
        counts.notify += more.notify;
        counts.entry += more.entry;
    }
}
