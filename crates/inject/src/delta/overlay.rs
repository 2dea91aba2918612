//! Memory of the faulty run as a source of pages: the golden run's, with the difference over it.

use super::difference::Difference;
use crate::index::Index;
use simt::memory::{Allocations, Page, Pages, Version};
use std::ops::RangeInclusive;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The golden pages and a difference that changes as the run goes on. The lock is never contended: a worker has an
/// overlay of its own.
#[derive(Debug)]
pub(super) struct Overlay {
    index: Arc<Index>,
    difference: RwLock<Difference>,
}

impl Overlay {
    pub(super) fn new(index: Arc<Index>) -> Self {
        Self { index, difference: RwLock::default() }
    }

    pub(super) fn read(&self) -> RwLockReadGuard<'_, Difference> {
        self.difference.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, Difference> {
        self.difference.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages for Overlay {
    fn page(&self, page: u32, version: Version) -> Option<Arc<Page>> {
        let golden = self.index.page(page, version);
        let difference = self.read();
        if difference.of_page(page).is_none() {
            return golden;
        }
        let mut bytes = golden.unwrap_or_else(|| Arc::new([0; simt::memory::PAGE]));
        difference.apply(page, Arc::make_mut(&mut bytes));
        Some(bytes)
    }

    fn is_blank(&self, pages: RangeInclusive<u32>) -> bool {
        self.read().is_blank(pages.clone()) && self.index.is_blank(pages)
    }

    fn allocations(&self, version: Version) -> Arc<Allocations> {
        self.index.allocations(version)
    }

    /// The difference is another one in every run.
    fn is_fixed(&self) -> bool {
        false
    }
}
