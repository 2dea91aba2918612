//! The golden index: which bytes every block of the golden run reads and writes, and the values it writes.
//!
//! With it memory can be had as it was before any block ([`Pages`]), and the blocks that a difference reaches are found
//! without running any other.

mod launch;
mod record;

use crate::golden::Golden;
use launch::LaunchIndex;
use simt::memory::{Allocations, Page, Pages, Version};
use std::sync::Arc;

/// The index of a golden run.
#[derive(Debug)]
pub(crate) struct Index {
    history: Arc<dyn Pages>,
    /// In the order of the launches, which is that of their events.
    launches: Vec<LaunchIndex>,
}

impl Index {
    /// Runs every launch once more and notes what its blocks do.
    pub(crate) fn of(golden: &Golden) -> Self {
        let launches = record::launches(golden);
        Self { history: Arc::clone(&golden.history), launches }
    }

    /// A launch by its number.
    pub(crate) fn launch(&self, launch: usize) -> &LaunchIndex {
        &self.launches[launch]
    }
}

impl Pages for Index {
    fn page(&self, page: u32, version: Version) -> Option<Arc<Page>> {
        let base = self.history.page(page, version);
        if version.block == 0 {
            return base;
        }
        match self.launches.binary_search_by_key(&version.event, |launch| launch.event) {
            Ok(at) => self.launches[at].page(page, version.block, base),
            Err(_) => base,
        }
    }

    fn allocations(&self, version: Version) -> Arc<Allocations> {
        self.history.allocations(version)
    }
}
