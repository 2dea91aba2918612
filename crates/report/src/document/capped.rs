//! Lists that can be long: how much of them is shown, and how much is left out.

use serde::Serialize;

/// Parts that a list shows at most. The page stays small, and nobody reads more.
pub(super) const LINES: usize = 200;
pub(super) const INSTRUCTIONS: usize = 100;
pub(super) const LAUNCHES: usize = 400;
pub(super) const KERNELS_IN_TIME: usize = 12;
pub(super) const DEATHS: usize = 40;
pub(super) const SITES: usize = 25;
pub(super) const FAILURES: usize = 20;

/// The head of a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Capped<T> {
    /// How many there are more.
    pub left_out: u64,
    /// The first.
    pub rows: Vec<T>,
}

impl<T> Capped<T> {
    /// The first `most` of a list.
    pub(crate) fn first(mut rows: Vec<T>, most: usize) -> Self {
        let left_out = rows.len().saturating_sub(most) as u64;
        rows.truncate(most);
        Self { left_out, rows }
    }
}
