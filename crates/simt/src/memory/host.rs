//! What memory of the device takes of the host, asked for before it is needed: a host that has not so much is an error then,
//! and not the end of the process.

use super::allocations::PlaceError;
use super::global::GlobalMemory;
use super::page::{Page, Pages, Pieces, Version};
use super::shortage::Shortage;
use super::window::PAGE;
use std::collections::TryReserveError;
use std::ops::Range;
use std::sync::Arc;
use thiserror::Error;

/// The host has not the memory that bytes of the device take.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "hold {bytes} bytes of device memory: this machine has not so much left for this process (`ulimit -v`, `free`)"
)]
pub struct HostMemoryError {
    /// The number of bytes.
    pub bytes: u64,
}

/// Bytes of the host that are set aside, untouched, while a launch runs.
const RESERVE: usize = 1 << 20;

impl GlobalMemory {
    /// Has a launch touch pages only where the host can hold them: any other is to it as one that is not mapped. What such a
    /// launch came to means nothing; [`check_shortage`](Self::check_shortage) says whether it was one.
    pub fn expect_shortage(&mut self) {
        self.shortage = Shortage::Expected;
        // A host that has not even this is met soon enough.
        let _ = self.reserve.try_reserve_exact(RESERVE);
    }

    /// Says whether the host had memory for all pages that were touched since a shortage was
    /// [expected](Self::expect_shortage), which it no longer is.
    ///
    /// # Errors
    /// If it had not.
    pub fn check_shortage(&mut self) -> Result<(), HostMemoryError> {
        match std::mem::take(&mut self.shortage) {
            Shortage::Met => Err(HostMemoryError { bytes: (self.written().count() as u64 + 1) * PAGE as u64 }),
            Shortage::Fatal | Shortage::Expected => Ok(()),
        }
    }

    /// Whether there is room to note that one more page is touched.
    pub(super) fn has_room(&mut self) -> bool {
        self.shortage == Shortage::Fatal || self.touched.try_reserve(1).is_ok() || self.fall_short()
    }

    /// A page to be written, with anything in it; none where the host cannot hold one more.
    pub(super) fn spare_page(&mut self) -> Option<Box<Page>> {
        if !self.has_room() {
            return None;
        }
        match self.spare.pop().or_else(new_page) {
            None if self.shortage == Shortage::Fatal => Some(Box::new([0; PAGE])),
            None => {
                self.fall_short();
                None
            }
            page => page,
        }
    }

    /// Notes that the host has no memory left: no answer to whether it has is yes.
    #[cold]
    pub(crate) fn fall_short(&mut self) -> bool {
        self.shortage = Shortage::Met;
        self.reserve = Vec::new();
        false
    }

    /// Maps the pages of a range that was allocated a moment ago; gives it back where the host has no memory for them.
    pub(super) fn take(&mut self, address: u64, bytes: u64) -> Result<(), PlaceError> {
        if self.make_room(self.allocations.mapped()).is_err() {
            Arc::make_mut(&mut self.allocations).free(address)?;
            return Err(PlaceError::Host(bytes));
        }
        self.map();
        self.hold(address, bytes);
        Ok(())
    }

    /// Has the host set aside what is kept of the pages that a source maps at a version, before a [`reset`](Self::reset) to it.
    ///
    /// # Errors
    /// If the host has not so much memory.
    pub fn prepare(&mut self, source: &dyn Pages, version: Version) -> Result<(), HostMemoryError> {
        let mapped = source.allocations(version).mapped();
        let bytes = mapped.end - mapped.start;
        self.make_room(mapped).map_err(|_| HostMemoryError { bytes })
    }

    /// Makes room for what is kept of each page of a range.
    fn make_room(&mut self, mapped: Range<u64>) -> Result<(), TryReserveError> {
        let more = ((mapped.end - mapped.start) as usize).div_ceil(PAGE).saturating_sub(self.slots.len());
        self.slots.try_reserve(more)?;
        self.held.try_reserve(more)
    }

    /// Has the host set aside what writing to a range takes; where it cannot, nothing is set aside.
    ///
    /// # Errors
    /// If the host has not so much memory.
    pub fn reserve(&mut self, address: u64, bytes: u64) -> Result<(), HostMemoryError> {
        let (had, refused) = (self.spare.len(), HostMemoryError { bytes });
        let (mut at, mut needed) = (address, 0usize);
        for piece in Pieces::of(address, bytes as usize) {
            needed += usize::from(self.index(at).is_some_and(|index| !self.slots[index].is_owned()));
            at = at.wrapping_add(piece.len as u64);
        }
        let more = needed.saturating_sub(had);
        let lists = self.spare.try_reserve(more).and_then(|()| self.touched.try_reserve(needed));
        lists.map_err(|_| refused)?;
        for _ in 0..more {
            let Some(page) = new_page() else {
                self.spare.truncate(had);
                return Err(refused);
            };
            self.spare.push(page);
        }
        Ok(())
    }
}

/// A page of zeros, if the host has memory for it.
fn new_page() -> Option<Box<Page>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(PAGE).ok()?;
    bytes.resize(PAGE, 0);
    bytes.into_boxed_slice().try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_is_told_once_and_is_the_end_of_the_process_where_nobody_expects_it() {
        let mut memory = GlobalMemory::new();
        let at = memory.allocate(PAGE as u64).unwrap();
        memory.expect_shortage();
        assert!(memory.copy_in(at, &[1]));
        assert_eq!(memory.check_shortage(), Ok(()));
        memory.expect_shortage();
        memory.fall_short();
        assert_eq!(memory.check_shortage(), Err(HostMemoryError { bytes: 2 * PAGE as u64 }));
        assert_eq!((memory.check_shortage(), memory.shortage), (Ok(()), Shortage::Fatal));
    }
}
