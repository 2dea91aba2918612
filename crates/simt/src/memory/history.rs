//! What global memory held at every version of a golden run, as pages that changed.

use super::allocations::Allocations;
use super::global::GlobalMemory;
use super::page::{Page, Pages, Version};
use super::window::DEVICE_BYTES;
use super::window::PAGE;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Numbers of pages that are in device memory; those of others are far apart.
const NEAR: usize = (DEVICE_BYTES / PAGE as u64) as usize;

/// What a page held from which versions on.
type Entries = Vec<(u32, Arc<Page>)>;

/// Every version of every page. A version is a number that never decreases; a page holds between two of its
/// entries what the earlier one says.
#[derive(Debug, Default)]
pub struct History {
    /// By number.
    pages: Vec<Entries>,
    /// Pages outside of device memory.
    far: BTreeMap<u32, Entries>,
    allocations: Vec<(u32, Arc<Allocations>)>,
}

impl History {
    /// Records what a memory holds as version `version`.
    pub fn commit(&mut self, memory: &mut GlobalMemory, version: u32) {
        memory.freeze(|number, page| {
            let entries = self.entries(number);
            if entries.last().is_none_or(|(_, last)| **last != *page) {
                entries.retain(|(at, _)| *at != version);
                entries.push((version, page));
            }
        });
        let current = memory.allocations();
        if self.allocations.last().is_none_or(|(_, last)| !Arc::ptr_eq(last, current)) {
            self.allocations.retain(|(at, _)| *at != version);
            self.allocations.push((version, Arc::clone(current)));
        }
    }

    /// All that a memory holds that has no history itself, as version 0. The memory forgets which pages were written.
    #[must_use]
    pub fn snapshot(memory: &mut GlobalMemory) -> Self {
        let mut history = Self::default();
        memory.share(|number, page| history.entries(number).push((0, page)));
        history.allocations.push((0, Arc::clone(memory.allocations())));
        history
    }

    fn entries(&mut self, number: u32) -> &mut Entries {
        let index = number as usize;
        if index >= NEAR {
            return self.far.entry(number).or_default();
        }
        if self.pages.len() <= index {
            self.pages.resize_with(index + 1, Vec::new);
        }
        &mut self.pages[index]
    }

    /// The pages that were ever written, ascending.
    pub fn written(&self) -> impl Iterator<Item = u32> + '_ {
        let near = (0..).zip(&self.pages).filter(|(_, entries)| !entries.is_empty());
        near.map(|(number, _)| number).chain(self.far.keys().copied())
    }

    /// Bytes held in pages.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.pages.iter().chain(self.far.values()).map(Vec::len).sum::<usize>() * size_of::<Page>()
    }
}

impl Pages for History {
    fn page(&self, index: u32, version: Version) -> Option<Arc<Page>> {
        let entries = self.pages.get(index as usize).or_else(|| self.far.get(&index))?;
        let after = entries.partition_point(|(at, _)| *at <= version.event);
        entries[..after].last().map(|(_, page)| Arc::clone(page))
    }

    fn is_blank(&self, pages: RangeInclusive<u32>) -> bool {
        let (first, last) = (*pages.start() as usize, *pages.end() as usize);
        let near = self.pages.get(first..self.pages.len().min(last + 1)).unwrap_or_default();
        near.iter().all(Vec::is_empty) && self.far.range(pages).next().is_none()
    }

    fn allocations(&self, version: Version) -> Arc<Allocations> {
        let after = self.allocations.partition_point(|(at, _)| *at <= version.event);
        self.allocations[..after].last().map(|(_, allocations)| Arc::clone(allocations)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_holds_what_was_written_long_ago_too() {
        let mut memory = GlobalMemory::new();
        let at = memory.allocate(3 * PAGE as u64).unwrap();
        assert!(memory.copy_in(at, &[1]));
        let _ = History::snapshot(&mut memory);
        assert!(memory.copy_in(at + PAGE as u64, &[2]) && memory.copy_in(at - PAGE as u64, &[3]));
        for _ in 0..2 {
            let snapshot: Arc<dyn Pages> = Arc::new(History::snapshot(&mut memory));
            let mut other = GlobalMemory::new();
            other.reset(&snapshot, Version::before(0));
            let found = [at, at + PAGE as u64, at - PAGE as u64].map(|at| other.read::<1>(at));
            assert_eq!(found, [Ok([1]), Ok([2]), Ok([3])]);
        }
    }
}
