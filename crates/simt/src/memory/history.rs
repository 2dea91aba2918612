//! What global memory held at every version of a golden run, as pages that changed.

use super::allocations::Allocations;
use super::global::GlobalMemory;
use super::page::{Page, Pages, Version};
use std::sync::Arc;

/// Every version of every page. A version is a number that never decreases; a page holds between two of its
/// entries what the earlier one says.
#[derive(Debug, Default)]
pub struct History {
    pages: Vec<Vec<(u32, Arc<Page>)>>,
    allocations: Vec<(u32, Arc<Allocations>)>,
}

impl History {
    /// Records what a memory holds as version `version`.
    pub fn commit(&mut self, memory: &mut GlobalMemory, version: u32) {
        memory.freeze(|index, page| {
            let index = index as usize;
            if self.pages.len() <= index {
                self.pages.resize_with(index + 1, Vec::new);
            }
            let entries = &mut self.pages[index];
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

    /// No page from this one on was ever written.
    #[must_use]
    pub fn pages(&self) -> u32 {
        self.pages.len() as u32
    }

    /// Bytes held in pages.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.pages.iter().map(Vec::len).sum::<usize>() * size_of::<Page>()
    }
}

impl Pages for History {
    fn page(&self, index: u32, version: Version) -> Option<Arc<Page>> {
        let entries = self.pages.get(index as usize)?;
        let after = entries.partition_point(|(at, _)| *at <= version.event);
        entries[..after].last().map(|(_, page)| Arc::clone(page))
    }

    fn allocations(&self, version: Version) -> Arc<Allocations> {
        let after = self.allocations.partition_point(|(at, _)| *at <= version.event);
        self.allocations[..after].last().map(|(_, allocations)| Arc::clone(allocations)).unwrap_or_default()
    }
}
