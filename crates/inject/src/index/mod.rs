//! The golden index: which bytes every block of the golden run reads and writes, and the values it writes.
//!
//! With it memory can be had as it was before any block ([`Pages`]), and the blocks that a difference reaches are found
//! without running any other.

mod checkpoints;
mod launch;
mod record;

use crate::golden::{Golden, GoldenLaunch};
pub(crate) use checkpoints::Checkpoints;
pub(crate) use launch::LaunchIndex;
use simt::memory::{Allocations, GlobalMemory, Page, Pages, Version};
use simt::{Executor, Liveness};
use std::sync::Arc;

/// The index of a golden run.
#[derive(Debug)]
pub(crate) struct Index {
    history: Arc<dyn Pages>,
    /// In the order of the launches, which is that of their events.
    launches: Vec<LaunchIndex>,
    /// For each launch, what is live where in its program.
    liveness: Vec<Option<Arc<Liveness>>>,
}

impl Index {
    /// Runs every launch once more and notes what its blocks do.
    pub(crate) fn of(golden: &Golden) -> Self {
        let (mut memory, mut executor) = (GlobalMemory::new(), Executor::new(golden.level));
        let liveness = liveness(golden);
        let pairs = golden.launches.iter().zip(&liveness);
        let launches =
            pairs.map(|(launch, live)| record::record(golden, launch, live.as_deref(), &mut memory, &mut executor));
        Self { launches: launches.collect(), history: Arc::clone(&golden.history), liveness }
    }

    /// What is live where in the program of a launch, if that is known.
    pub(crate) fn liveness(&self, launch: usize) -> Option<&Liveness> {
        self.liveness[launch].as_deref()
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

/// What is live where in the program of every launch; launches of a kernel share it.
fn liveness(golden: &Golden) -> Vec<Option<Arc<Liveness>>> {
    let mut all: Vec<Option<Arc<Liveness>>> = Vec::new();
    for launch in &golden.launches {
        let same = |other: &GoldenLaunch| Arc::ptr_eq(&other.program, &launch.program);
        let known = golden.launches[..all.len()].iter().position(same);
        let find = || Liveness::of(golden.module(launch)?, &launch.program).map(Arc::new);
        all.push(known.map_or_else(find, |known| all[known].clone()));
    }
    all
}
