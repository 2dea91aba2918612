//! What memory of the device takes of the host, asked for before it is needed: a host that has not so much is an error then,
//! and not the end of the process.

use super::allocations::PlaceError;
use super::global::GlobalMemory;
use super::page::{Page, Pieces};
use super::window::PAGE;
use std::sync::Arc;
use thiserror::Error;

/// The host has not the memory that bytes of the device take.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "hold {bytes} bytes of device memory: this machine has not so much left for this process (`ulimit -v`, `free`)"
)]
pub struct HostMemoryError {
    /// How many.
    pub bytes: u64,
}

impl GlobalMemory {
    /// Maps the pages of a range that was allocated a moment ago; gives it back where the host has no memory for them.
    pub(super) fn take(&mut self, address: u64, bytes: u64) -> Result<(), PlaceError> {
        let mapped = self.allocations.mapped();
        let more = ((mapped.end - mapped.start) as usize).div_ceil(PAGE).saturating_sub(self.slots.len());
        let room = self.slots.try_reserve(more).and_then(|()| self.held.try_reserve(more));
        if room.is_err() {
            Arc::make_mut(&mut self.allocations).free(address)?;
            return Err(PlaceError::Host(bytes));
        }
        self.map();
        self.hold(address, bytes);
        Ok(())
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
