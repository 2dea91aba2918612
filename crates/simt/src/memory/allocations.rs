//! Which device addresses are allocated, and where the next allocation goes.
//!
//! First fit, in address order, at 512-byte alignment: the same requests always get the same addresses. Mapping
//! follows in 2 MiB steps and is never undone, as in a driver that keeps its pool. What is mapped beside that, for nobody,
//! is a matter of the [profile](AddressProfile).

use super::profile::AddressProfile;
use super::window::{ALLOCATION, DEVICE_BASE, DEVICE_BYTES, FIRST_ALLOCATION, MAPPING, constant};
use std::collections::BTreeMap;
use std::sync::Arc;
use thiserror::Error;

/// Why an allocation could not be placed or freed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PlaceError {
    /// No room is left.
    #[error("allocate {0} bytes: the simulated device has {DEVICE_BYTES} bytes and no gap this large is left")]
    Full(u64),
    /// The host has no memory for what it keeps of each page.
    #[error("allocate {0} bytes: this machine has no memory left to keep their pages in order")]
    Host(u64),
    /// The address is not free.
    #[error("place an allocation of {bytes} bytes at {address:#x}: the range is taken or outside device memory")]
    Taken {
        /// Where.
        address: u64,
        /// How much.
        bytes: u64,
    },
    /// The address does not start an allocation.
    #[error("free {0:#x}: no allocation starts there")]
    Unknown(u64),
}

/// The allocations of a device.
#[derive(Clone, Debug)]
pub struct Allocations {
    by_start: BTreeMap<u64, u64>,
    /// Where mappings start and end.
    start: u64,
    end: u64,
    /// Bytes from [`DEVICE_BASE`] in which there is no room left, so that nobody looks for it there again.
    full: u64,
    profile: Arc<AddressProfile>,
}

impl Default for Allocations {
    fn default() -> Self {
        let (first, profile) = (FIRST_ALLOCATION, Arc::default());
        Self { by_start: BTreeMap::new(), start: first, end: first, full: first - DEVICE_BASE, profile }
    }
}

/// What is full follows from the rest.
impl PartialEq for Allocations {
    fn eq(&self, other: &Self) -> bool {
        let all = |it: &Self| (it.start, it.end, Arc::clone(&it.profile));
        self.by_start == other.by_start && all(self) == all(other)
    }
}

impl Eq for Allocations {}

/// Where the next allocation can begin behind one.
fn behind(start: u64, size: u64) -> u64 {
    (start + size.max(1)).next_multiple_of(ALLOCATION)
}

impl Allocations {
    /// Finds room for `bytes` and takes it.
    ///
    /// # Errors
    /// If no gap is large enough.
    pub fn allocate(&mut self, bytes: u64) -> Result<u64, PlaceError> {
        let mut at = DEVICE_BASE + self.full;
        for (&start, &size) in self.by_start.range(at..) {
            // What was placed by others may begin before the next multiple.
            if start.saturating_sub(at) >= bytes.max(1) {
                break;
            }
            at = at.max(behind(start, size));
        }
        let room = (DEVICE_BASE + DEVICE_BYTES).saturating_sub(at);
        if bytes.max(1) > room {
            return Err(PlaceError::Full(bytes));
        }
        self.insert(at, bytes);
        Ok(at)
    }

    /// Takes a given range.
    ///
    /// # Errors
    /// If any of it is taken or outside device memory.
    pub fn place(&mut self, address: u64, bytes: u64) -> Result<(), PlaceError> {
        let end = address.checked_add(bytes.max(1)).filter(|&end| end <= DEVICE_BASE + DEVICE_BYTES);
        let before = self.by_start.range(..=address).next_back();
        let clear_before = before.is_none_or(|(&start, &size)| start + size.max(1) <= address);
        let clear_after = end.is_some_and(|end| self.by_start.range(address..end).next().is_none());
        if address < DEVICE_BASE || !clear_before || !clear_after {
            return Err(PlaceError::Taken { address, bytes });
        }
        self.insert(address, bytes);
        Ok(())
    }

    fn insert(&mut self, address: u64, bytes: u64) {
        self.by_start.insert(address, bytes);
        let (start, end) = (address / MAPPING * MAPPING, (address + bytes.max(1)).next_multiple_of(MAPPING));
        let is_first = self.start == self.end;
        self.start = if is_first { start } else { self.start.min(start) };
        self.end = if is_first { end } else { self.end.max(end) };
        self.fill(address);
    }

    /// Moves the end of what is full over all allocations from `from` on that leave no room before them.
    fn fill(&mut self, from: u64) {
        let mut end = DEVICE_BASE + self.full;
        for (&start, &size) in self.by_start.range(from.min(end)..) {
            if start > end {
                break;
            }
            end = end.max(behind(start, size));
        }
        self.full = end - DEVICE_BASE;
    }

    /// Gives an allocation back and returns its size.
    ///
    /// # Errors
    /// If none starts there.
    pub fn free(&mut self, address: u64) -> Result<u64, PlaceError> {
        let bytes = self.by_start.remove(&address).ok_or(PlaceError::Unknown(address))?;
        self.full = self.full.min((address - DEVICE_BASE).next_multiple_of(ALLOCATION));
        self.fill(address);
        Ok(bytes)
    }

    /// The addresses that are mapped because of allocations.
    #[must_use]
    pub fn mapped(&self) -> std::ops::Range<u64> {
        self.start..self.end
    }

    /// What becomes of accesses outside of allocations.
    #[must_use]
    pub fn profile(&self) -> &Arc<AddressProfile> {
        &self.profile
    }

    /// Says what becomes of accesses outside of allocations.
    pub fn set_profile(&mut self, profile: Arc<AddressProfile>) {
        self.profile = profile;
    }

    /// Whether an address that no allocation made the device map is mapped all the same.
    pub(super) fn is_far(&self, address: u64) -> bool {
        self.profile.maps(address, self.start, self.end)
    }

    /// The stretch around the mappings of allocations that holds an address, if one does.
    pub(super) fn far_around(&self, address: u64) -> Option<std::ops::Range<u64>> {
        self.profile.around(self.start, self.end).find(|range| range.contains(&address))
    }

    /// The neighbouring addresses around one that can be accessed as it can; `None` if it cannot.
    #[must_use]
    pub fn accessible_around(&self, address: u64) -> Option<std::ops::Range<u64>> {
        if self.profile.strict {
            return self.holding(address).map(|(start, size)| start..start + size);
        }
        let near = std::iter::once(self.mapped()).filter(|near| !near.is_empty());
        let ranges = near.chain(self.profile.around(self.start, self.end));
        let mut around = ranges.clone().find(|range| range.contains(&address))?;
        // Each range is joined at most once at either end.
        while let Some(next) = ranges.clone().find(|range| range.start == around.end && !range.is_empty()) {
            around.end = next.end;
        }
        while let Some(previous) = ranges.clone().find(|range| range.end == around.start && !range.is_empty()) {
            around.start = previous.start;
        }
        Some(around)
    }

    /// Bytes from an address that cannot be accessed to the next that can, upwards or downwards.
    #[must_use]
    pub fn inaccessible(&self, address: u64, upwards: bool) -> u64 {
        let near = std::iter::once(self.mapped()).filter(|near| !near.is_empty());
        let ranges = near.chain(self.profile.around(self.start, self.end));
        let distances = ranges.filter_map(|range| {
            if upwards { range.start.checked_sub(address) } else { (address + 1).checked_sub(range.end) }
        });
        distances.min().unwrap_or(if upwards { u64::MAX - address } else { address })
    }

    /// As [`Allocations::inaccessible`] of the address of a constant, of which 32 bits are looked at.
    #[must_use]
    pub fn without_constants(&self, address: u64, upwards: bool) -> u64 {
        let place = constant(address);
        let to_wrap = if upwards { (DEVICE_BASE | 0xffff_ffff) - place + 1 } else { place - DEVICE_BASE };
        [self.inaccessible(address, upwards), self.inaccessible(place, upwards), to_wrap].into_iter().min().unwrap_or(0)
    }

    /// The allocation that holds an address: its start and size.
    #[must_use]
    pub fn holding(&self, address: u64) -> Option<(u64, u64)> {
        let (&start, &size) = self.by_start.range(..=address).next_back()?;
        (address - start < size).then_some((start, size))
    }

    /// Whether a range lies within one allocation.
    #[must_use]
    pub fn contains(&self, address: u64, bytes: u64) -> bool {
        self.holding(address)
            .is_some_and(|(start, size)| address.checked_add(bytes).is_some_and(|end| end <= start + size))
    }

    /// Allocations in address order, as (start, size).
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.by_start.iter().map(|(&start, &size)| (start, size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_requests_get_the_same_addresses() {
        let mut a = Allocations::default();
        let first = a.allocate(100).unwrap();
        let second = a.allocate(1).unwrap();
        assert_eq!((first, second), (FIRST_ALLOCATION, FIRST_ALLOCATION + 512));
        a.free(first).unwrap();
        assert_eq!(a.allocate(512).unwrap(), FIRST_ALLOCATION);
        assert_eq!(a.allocate(513).unwrap(), FIRST_ALLOCATION + 1024);
    }

    #[test]
    fn every_gap_is_found_again_and_nothing_overlaps() {
        let mut a = Allocations::default();
        for (address, bytes) in [(0, 100), (200, 50), (300, 1000), (2048, 1)] {
            a.place(FIRST_ALLOCATION + address, bytes).unwrap();
        }
        assert_eq!(a.allocate(512).unwrap(), FIRST_ALLOCATION + 1536);
        assert_eq!(a.allocate(512).unwrap(), FIRST_ALLOCATION + 2560);
        a.free(FIRST_ALLOCATION + 200).unwrap();
        assert_eq!(a.allocate(1).unwrap(), FIRST_ALLOCATION + 3072);
        a.free(FIRST_ALLOCATION + 300).unwrap();
        assert_eq!(a.allocate(1024).unwrap(), FIRST_ALLOCATION + 512);
        a.free(FIRST_ALLOCATION).unwrap();
        assert_eq!(a.allocate(600).unwrap(), FIRST_ALLOCATION + 3584);
        assert_eq!(a.allocate(300).unwrap(), FIRST_ALLOCATION);
    }

    #[test]
    fn an_address_outside_every_allocation_is_held_by_none() {
        let mut a = Allocations::default();
        let start = a.allocate(100).unwrap();
        assert_eq!(a.holding(start + 99), Some((start, 100)));
        assert_eq!(a.holding(start + 100), None);
        assert!(!a.contains(start + 96, 8));
        assert_eq!(a.mapped(), FIRST_ALLOCATION..FIRST_ALLOCATION + MAPPING);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut a = Allocations::default();
        assert_eq!(a.allocate(DEVICE_BYTES + 1), Err(PlaceError::Full(DEVICE_BYTES + 1)));
        let start = a.allocate(1024).unwrap();
        assert!(a.place(start + 512, 4).is_err());
        assert!(a.place(start + 1024, 4).is_ok());
        assert_eq!(a.free(start + 1), Err(PlaceError::Unknown(start + 1)));
    }
}
