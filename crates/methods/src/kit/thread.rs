//! One thread of a golden run.

use serde::Serialize;

/// A thread of a golden run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ThreadId {
    /// The launch, from 0 in the order of the capsule.
    pub launch: u32,
    /// The block, linear in its grid.
    pub cta: u64,
    /// The thread, linear in its block.
    pub thread: u32,
}
