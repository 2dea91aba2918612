//! Pages: where their bytes come from, and ranges cut at their boundaries.

use super::allocations::Allocations;
use super::window::{DEVICE_BASE, PAGE};
use std::fmt::Debug;
use std::ops::RangeInclusive;
use std::sync::{Arc, LazyLock};

/// A page's bytes.
pub type Page = [u8; PAGE];

/// The number of the page that holds an address. Pages before [`DEVICE_BASE`] are numbered down from the highest number.
#[must_use]
pub fn page_of(address: u64) -> u32 {
    (address.wrapping_sub(DEVICE_BASE) / PAGE as u64) as u32
}

/// The first address of a page.
#[must_use]
pub fn address_of(page: u32) -> u64 {
    DEVICE_BASE.wrapping_add_signed(i64::from(page as i32) * PAGE as i64)
}

/// A page that was never written.
pub(super) fn zeros() -> Arc<Page> {
    static ZEROS: LazyLock<Arc<Page>> = LazyLock::new(|| Arc::new([0; PAGE]));
    Arc::clone(&ZEROS)
}

/// A moment of a golden run: before an event of the capsule, and in a launch before one of its blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The event.
    pub event: u32,
    /// The block; 0 before the first.
    pub block: u32,
}

impl Version {
    /// Before an event.
    #[must_use]
    pub fn before(event: u32) -> Self {
        Self { event, block: 0 }
    }
}

/// Where the bytes of pages come from that a memory has not touched itself.
pub trait Pages: Debug + Send + Sync {
    /// A page at a version; `None` where it was never written until then, and so is zero.
    fn page(&self, index: u32, version: Version) -> Option<Arc<Page>>;

    /// Whether none of these pages is written at any version.
    fn is_blank(&self, pages: RangeInclusive<u32>) -> bool;

    /// The table of allocations at a version.
    fn allocations(&self, version: Version) -> Arc<Allocations>;

    /// Whether a page at a version never changes, so that a memory may keep what it was given.
    fn is_fixed(&self) -> bool {
        true
    }
}

/// The part of a range that lies in one page.
pub(super) struct Piece {
    /// Bytes of the range before it.
    pub(super) done: usize,
    /// Where it starts in its page.
    pub(super) from: usize,
    pub(super) len: usize,
}

/// A range cut at page boundaries.
pub(super) struct Pieces {
    at: u64,
    done: usize,
    total: usize,
}

impl Pieces {
    pub(super) fn of(address: u64, total: usize) -> Self {
        Self { at: address, done: 0, total }
    }
}

impl Iterator for Pieces {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        if self.done == self.total {
            return None;
        }
        let from = (self.at % PAGE as u64) as usize;
        let len = (PAGE - from).min(self.total - self.done);
        let piece = Piece { done: self.done, from, len };
        self.done += len;
        self.at = self.at.wrapping_add(len as u64);
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_numbered_both_ways() {
        for address in [DEVICE_BASE, DEVICE_BASE + (5 << 30), DEVICE_BASE - 4096, DEVICE_BASE - (400 << 20)] {
            assert_eq!(address_of(page_of(address)), address);
            assert_eq!(page_of(address + 4095), page_of(address));
        }
        assert_eq!(page_of(DEVICE_BASE - 1), u32::MAX);
    }
}
