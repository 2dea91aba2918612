//! Global memory: pages shared with the recorded history until they are written.
//!
//! A page is in one of four states. *Absent*: mapped but never touched since the last reset; its bytes are those of
//! the history at the version the memory stands at, or zero. *Shared*: a reference to such a page. *Owned*: a copy
//! of its own, because something was written. Resetting drops what was touched and nothing else, so its cost is the
//! number of pages that a run touched, whatever the size of the memory.

use super::allocations::{Allocations, PlaceError};
use super::far::FarPages;
use super::held::Held;
use super::page::{Page, Pages, Pieces, Version, address_of, page_of, zeros};
use super::profile::AddressProfile;
use super::shortage::Shortage;
use super::slot::Slot;
use super::trace::AccessTrace;
use super::window::PAGE;
use std::ops::Range;
use std::sync::Arc;

/// The global memory of a device.
#[derive(Debug, Default)]
pub struct GlobalMemory {
    /// Where the first of the pages lies that allocations made the device map.
    start: u64,
    pub(super) slots: Vec<Slot>,
    /// For every page, which of its bytes are allocated: accesses there cannot stray.
    pub(super) held: Vec<Held>,
    pub(super) allocations: Arc<Allocations>,
    pub(super) source: Option<Arc<dyn Pages>>,
    pub(super) version: Version,
    /// The other pages that are mapped.
    pub(super) far: FarPages,
    /// Whether what loops store there may be strewn.
    pub(super) defers: bool,
    /// Places in `slots`.
    pub(super) touched: Vec<u32>,
    pub(super) spare: Vec<Box<Page>>,
    pub(super) shortage: Shortage,
    /// What is given back to the host in a shortage, for what is still to be said.
    pub(super) reserve: Vec<u8>,
    strayed: u64,
    pub(super) trace: Option<AccessTrace>,
}

impl GlobalMemory {
    /// An empty memory with no history: every page is zero until written.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stands at a version of a source: every page reads as it was then.
    pub fn reset(&mut self, source: &Arc<dyn Pages>, version: Version) {
        // Pages that were only read are still right where the memory stood at this version before.
        let known = self.source.as_ref().is_some_and(|known| Arc::ptr_eq(known, source));
        let same = self.version == version && known && source.is_fixed();
        let slots = &mut self.slots;
        let spare = &mut self.spare;
        self.touched.retain(|&index| {
            let slot = &mut slots[index as usize];
            if same && matches!(slot, Slot::Shared(_)) {
                return true;
            }
            if let Slot::Owned(page) = std::mem::take(slot) {
                spare.push(page);
            }
            false
        });
        self.far.clear();
        self.defers = false;
        self.source = Some(Arc::clone(source));
        self.version = version;
        self.strayed = 0;
        self.adopt(source.allocations(version));
    }

    /// Starts to note which bytes are read and written, or stops and returns what was noted.
    pub fn set_trace(&mut self, trace: Option<AccessTrace>) -> Option<AccessTrace> {
        std::mem::replace(&mut self.trace, trace)
    }

    /// The trace, while one is kept.
    #[inline(always)]
    pub fn trace(&mut self) -> Option<&mut AccessTrace> {
        self.trace.as_mut()
    }

    /// Says what becomes of accesses outside of allocations.
    pub fn set_profile(&mut self, profile: Arc<AddressProfile>) {
        Arc::make_mut(&mut self.allocations).set_profile(profile);
    }

    /// Replaces the table of allocations.
    fn adopt(&mut self, allocations: Arc<Allocations>) {
        if Arc::ptr_eq(&self.allocations, &allocations) {
            return;
        }
        self.allocations = allocations;
        self.map();
        self.held.fill(Held::default());
        let ranges: Vec<(u64, u64)> = self.allocations.iter().collect();
        for (start, size) in ranges {
            self.hold(start, size);
        }
    }

    /// Makes room for every mapped page.
    pub(super) fn map(&mut self) {
        self.settle();
        let mapped = self.allocations.mapped();
        if mapped.start != self.start {
            self.move_start(mapped.start);
        }
        let pages = ((mapped.end - mapped.start) as usize).div_ceil(PAGE);
        if pages < self.slots.len() {
            self.touched.retain(|&index| (index as usize) < pages);
        }
        self.slots.resize_with(pages, Slot::default);
        self.held.resize(pages, Held::default());
    }

    /// Lets the pages begin elsewhere. Those that are no longer among them are forgotten: that is where another recording
    /// begins, or where something is placed before all else.
    #[cold]
    fn move_start(&mut self, start: u64) {
        let moved = (start.max(self.start) - start.min(self.start)) as usize / PAGE;
        if start < self.start && !self.slots.is_empty() {
            self.slots.splice(0..0, std::iter::repeat_with(Slot::default).take(moved));
            self.held.splice(0..0, std::iter::repeat_with(Held::default).take(moved));
            self.touched.iter_mut().for_each(|index| *index += moved as u32);
        } else {
            let gone = moved.min(self.slots.len());
            self.slots.drain(..gone);
            self.held.drain(..gone);
            self.touched.retain(|&index| index as usize >= gone);
            self.touched.iter_mut().for_each(|index| *index -= gone as u32);
        }
        self.start = start;
    }

    /// Notes what an allocation holds of each page.
    pub(super) fn hold(&mut self, start: u64, size: u64) {
        self.change_held(start, size, Held::add);
    }

    /// Changes what is held of each page of a range.
    fn change_held(&mut self, start: u64, size: u64, change: fn(&mut Held, usize, usize)) {
        let mut at = start;
        for piece in Pieces::of(start, size as usize) {
            if let Some(index) = self.index(at) {
                change(&mut self.held[index], piece.from, piece.from + piece.len);
            }
            at += piece.len as u64;
        }
    }

    /// Which bytes of an address's page are allocated.
    #[inline(always)]
    #[must_use]
    pub fn held(&self, address: u64) -> Held {
        self.index(address).map_or(Held::default(), |index| self.held[index])
    }

    /// Allocates.
    ///
    /// # Errors
    /// If no room is left.
    pub fn allocate(&mut self, bytes: u64) -> Result<u64, PlaceError> {
        let address = Arc::make_mut(&mut self.allocations).allocate(bytes)?;
        self.take(address, bytes)?;
        Ok(address)
    }

    /// Allocates a given range.
    ///
    /// # Errors
    /// If some of it is taken or outside device memory.
    pub fn place(&mut self, address: u64, bytes: u64) -> Result<(), PlaceError> {
        Arc::make_mut(&mut self.allocations).place(address, bytes)?;
        self.take(address, bytes)
    }

    /// Gives an allocation back.
    ///
    /// # Errors
    /// If none starts there.
    pub fn free(&mut self, address: u64) -> Result<(), PlaceError> {
        let bytes = Arc::make_mut(&mut self.allocations).free(address)?;
        self.change_held(address, bytes, Held::remove);
        Ok(())
    }

    /// The table of allocations.
    #[must_use]
    pub fn allocations(&self) -> &Arc<Allocations> {
        &self.allocations
    }

    /// Accesses to mapped pages outside every allocation, since the last reset.
    #[must_use]
    pub fn strayed(&self) -> u64 {
        self.strayed
    }

    #[inline(always)]
    pub(super) fn index(&self, address: u64) -> Option<usize> {
        let index = (address.wrapping_sub(self.start) / PAGE as u64) as usize;
        (index < self.slots.len()).then_some(index)
    }

    /// The addresses of the pages that allocations made the device map.
    pub(crate) fn near(&self) -> Range<u64> {
        self.start..self.start + (self.slots.len() * PAGE) as u64
    }

    /// The number of the page at a place in `slots`.
    fn number_at(&self, index: usize) -> u32 {
        page_of(self.start + (index * PAGE) as u64)
    }

    /// The number of a far page that holds an address, or `None` where nothing is mapped.
    #[cold]
    fn far_number(&self, address: u64) -> Option<u32> {
        self.allocations.is_far(address).then(|| page_of(address))
    }

    /// The number of the page that holds an address, or `None` where nothing is mapped.
    #[must_use]
    pub fn page_number(&self, address: u64) -> Option<u32> {
        if self.index(address).is_some() { Some(page_of(address)) } else { self.far_number(address) }
    }

    /// The bytes of the page that holds an address, or `None` where nothing is mapped.
    #[inline(always)]
    pub fn page(&mut self, address: u64) -> Option<&Page> {
        let Some(index) = self.index(address) else { return self.far_page(address) };
        if let Slot::Absent = self.slots[index] {
            self.fetch(index);
        }
        self.slots[index].bytes()
    }

    #[cold]
    fn far_page(&mut self, address: u64) -> Option<&Page> {
        let number = self.far_number(address)?;
        let (source, version) = (&self.source, self.version);
        self.far.page(number, || source.as_ref()?.page(number, version))
    }

    #[cold]
    pub(super) fn far_page_mut(&mut self, address: u64, within: Range<usize>) -> Option<&mut Page> {
        let number = self.far_number(address)?;
        let (source, version) = (&self.source, self.version);
        self.far.page_mut(number, within, || source.as_ref()?.page(number, version))
    }

    #[cold]
    fn fetch(&mut self, index: usize) {
        if !self.has_room() {
            return;
        }
        let page = self.recorded(index).unwrap_or_else(zeros);
        self.slots[index] = Slot::Shared(page);
        self.touched.push(index as u32);
    }

    fn recorded(&self, index: usize) -> Option<Arc<Page>> {
        self.source.as_ref().and_then(|source| source.page(self.number_at(index), self.version))
    }

    /// As [`page`](Self::page), to be written in these of its bytes and nowhere else. Where a
    /// [shortage](Self::expect_shortage) is expected, `None` also for a page that the host cannot hold.
    #[inline(always)]
    pub fn page_mut(&mut self, address: u64, within: Range<usize>) -> Option<&mut Page> {
        let Some(index) = self.index(address) else { return self.far_page_mut(address, within) };
        if !self.slots[index].is_owned() {
            self.own(index);
        }
        self.slots[index].bytes_mut()
    }

    #[cold]
    fn own(&mut self, index: usize) {
        let Some(mut page) = self.spare_page() else { return };
        match std::mem::take(&mut self.slots[index]) {
            Slot::Shared(shared) => page.copy_from_slice(&*shared),
            _ => {
                self.touched.push(index as u32);
                match self.recorded(index) {
                    Some(recorded) => page.copy_from_slice(&*recorded),
                    None => page.fill(0),
                }
            }
        }
        self.slots[index] = Slot::Owned(page);
    }

    /// Notes an access that may lie outside every allocation; whether it does.
    pub fn note(&mut self, address: u64, bytes: u64) -> bool {
        let strays = self.page_number(address).is_some() && !self.allocations.contains(address, bytes);
        self.strayed += u64::from(strays);
        strays
    }

    /// Says how many accesses outside every allocation there were: what looks into memory is none, what is skipped is some.
    pub(crate) fn set_strayed(&mut self, accesses: u64) {
        self.strayed = accesses;
    }

    /// Whether an access outside every allocation is wrong although memory is mapped there.
    #[must_use]
    pub fn is_strict(&self) -> bool {
        self.allocations.profile().strict
    }

    /// Every owned page with its number: what was written since the last reset.
    pub fn written(&self) -> impl Iterator<Item = (u32, &Page)> + '_ {
        debug_assert!(self.far.strewn().is_empty(), "neither settled nor taken");
        let near = self.touched.iter().filter_map(|&index| match &self.slots[index as usize] {
            Slot::Owned(page) => Some((self.number_at(index as usize), &**page)),
            _ => None,
        });
        near.chain(self.far.written())
    }

    /// Where a page may have been written since the last reset: its [lines](super::bytes::LINE), a bit each.
    #[must_use]
    pub fn written_lines(&self, page: u32) -> u64 {
        if self.index(address_of(page)).is_some() { u64::MAX } else { self.far.written_lines(page) }
    }

    /// Hands every page that was touched since the last reset to `keep`, to be shared from now on.
    pub(crate) fn share(&mut self, mut keep: impl FnMut(u32, Arc<Page>)) {
        let touched = self.touched.clone();
        for index in touched {
            if let Some(page) = self.slots[index as usize].share() {
                keep(self.number_at(index as usize), page);
            }
        }
        self.far.share(keep);
    }

    /// Turns written pages into shared ones, handing each to `keep`.
    pub(crate) fn freeze(&mut self, mut keep: impl FnMut(u32, Arc<Page>)) {
        let mut touched = self.touched.clone();
        touched.sort_unstable();
        for index in touched {
            if let Some(page) = self.slots[index as usize].freeze() {
                keep(self.number_at(index as usize), page);
            }
        }
        self.far.freeze(keep);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::History;
    use crate::memory::window::DEVICE_BASE;

    fn memory(bytes: u64) -> (GlobalMemory, u64) {
        let mut memory = GlobalMemory::new();
        let at = memory.allocate(bytes).unwrap();
        (memory, at)
    }

    #[test]
    fn pages_may_begin_before_those_that_are_there() {
        let mut memory = GlobalMemory::new();
        let later = memory.allocate(PAGE as u64).unwrap();
        assert!(memory.copy_in(later, &[5; 8]));
        memory.place(DEVICE_BASE, 64).unwrap();
        assert!(memory.copy_in(DEVICE_BASE, &[6; 8]));
        assert_eq!((memory.read::<8>(later), memory.read::<8>(DEVICE_BASE)), (Ok([5; 8]), Ok([6; 8])));
        assert!(memory.held(later).covers(0, 8) && memory.held(DEVICE_BASE).covers(0, 8));
        assert_eq!(memory.written().count(), 2);
    }

    #[test]
    fn an_access_outside_every_allocation_of_a_mapped_page_strays() {
        let (mut memory, at) = memory(16);
        memory.note(at + 12, 4);
        assert_eq!(memory.strayed(), 0);
        memory.note(at + 16, 4);
        assert_eq!(memory.strayed(), 1);
        assert_eq!(memory.read::<4>(at + 16), Ok([0; 4]));
    }

    #[test]
    fn a_reset_returns_to_the_version_asked_for() {
        let (mut memory, at) = memory(2 * PAGE as u64);
        let mut history = History::default();
        assert!(memory.copy_in(at, &[1]));
        history.commit(&mut memory, 0);
        assert!(memory.copy_in(at, &[2]));
        assert!(memory.copy_in(at + PAGE as u64, &[7]));
        history.commit(&mut memory, 1);
        let history: Arc<dyn Pages> = Arc::new(history);
        let mut fresh = GlobalMemory::new();
        for _ in 0..2 {
            fresh.reset(&history, Version::before(0));
            assert_eq!(fresh.read::<1>(at), Ok([1]));
            assert_eq!(fresh.read::<1>(at + PAGE as u64), Ok([0]));
            assert!(fresh.copy_in(at, &[99]));
            fresh.reset(&history, Version::before(1));
            assert_eq!(fresh.read::<1>(at), Ok([2]));
            assert_eq!(fresh.read::<1>(at + PAGE as u64), Ok([7]));
        }
    }
}
