//! What applications say of managed memory: where it should be and who uses it. It changes nothing here, and can be
//! asked for again.

use std::collections::{BTreeMap, BTreeSet};

/// What was said, by the addresses of allocations.
pub(crate) type Advices = BTreeMap<u64, Advice>;

/// What was said of an allocation; devices by number, the host by -1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Advice {
    pub(crate) read_mostly: bool,
    pub(crate) preferred: Option<i32>,
    pub(crate) accessed_by: BTreeSet<i32>,
    /// Where it was last prefetched to.
    pub(crate) prefetched: Option<i32>,
}
