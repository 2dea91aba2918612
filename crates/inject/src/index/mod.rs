//! The golden index: which bytes every block of the golden run reads and writes, and the values it writes.
//!
//! With it memory can be had as it was before any block ([`Pages`]), and the blocks that a difference reaches are found
//! without running any other. It is made with as much detail as there is memory for (`budget`).

mod budget;
mod checkpoint_recorder;
mod checkpoints;
mod ends;
mod launch;
mod record;
mod writes;

use crate::golden::{Golden, GoldenLaunch};
use crate::resources::{self, Resources};
use budget::{DetailLevel, Pool, Reads};
pub(crate) use checkpoints::Checkpoints;
pub(crate) use ends::ByteRange;
pub(crate) use launch::LaunchAccesses;
use record::Recording;
use simt::Liveness;
use simt::memory::{Allocations, Page, Pages, Version};
use std::ops::RangeInclusive;
use std::sync::Arc;
pub(crate) use writes::Track;

/// The index of a golden run.
#[derive(Debug)]
pub(crate) struct Index {
    history: Arc<dyn Pages>,
    /// The event of every launch, ascending.
    events: Vec<u32>,
    /// In the order of the launches; those that there was no memory for have none.
    launches: Vec<Option<LaunchAccesses>>,
    /// For each launch, what is live where in its program.
    liveness: Vec<Option<Arc<Liveness>>>,
    detail: DetailLevel,
    limit: u64,
    /// Bytes that the golden run takes.
    golden: u64,
}

impl Index {
    /// Runs every launch once more and notes what its blocks do, with the most detail for which the memory suffices.
    pub(crate) fn of(golden: &Golden, resources: &Resources) -> Self {
        let liveness = liveness(golden);
        let (mut launches, mut detail) = (Vec::new(), DetailLevel::ALL[0]);
        let left = resources.memory.saturating_sub(golden.bytes);
        for next in DetailLevel::ALL {
            detail = next;
            let pool = Pool::new(left);
            let (liveness, spacing) = (&liveness, resources.spacing);
            // Where the index takes more than the other half, there are no checkpoints.
            let recording = Recording { golden, liveness, detail, pool: &pool, checkpoints: left / 2, spacing };
            if let Some(found) = recording.launches(resources.jobs) {
                launches = found;
                break;
            }
        }
        let events = golden.launches.iter().map(|launch| launch.event as u32).collect();
        let (history, limit) = (Arc::clone(&golden.history), resources.memory);
        Self { history, events, launches, liveness, detail, limit, golden: golden.bytes }
    }

    /// What is live where in the program of a launch, if that is known.
    pub(crate) fn liveness(&self, launch: usize) -> Option<&Liveness> {
        self.liveness[launch].as_deref()
    }

    /// A launch by its number, if it is in the index.
    pub(crate) fn launch(&self, launch: usize) -> Option<&LaunchAccesses> {
        self.launches.get(launch)?.as_ref()
    }

    /// Whether the bytes that blocks read are known exactly.
    pub(crate) fn has_exact_reads(&self) -> bool {
        self.detail.reads == Reads::Exact
    }

    /// What it takes.
    pub(crate) fn memory(&self) -> campaign::MemoryUse {
        let sum = |of: fn(&LaunchAccesses) -> usize| self.launches.iter().flatten().map(of).sum::<usize>() as u64;
        let checkpoints = sum(LaunchAccesses::checkpoint_bytes);
        let index = sum(LaunchAccesses::bytes) - checkpoints;
        let peak = resources::peak();
        campaign::MemoryUse {
            limit: self.limit,
            peak,
            golden: self.golden,
            index,
            checkpoints,
            coarsened: self.coarsened(),
        }
    }

    /// What was left out for want of memory.
    fn coarsened(&self) -> Option<String> {
        let mut said = Vec::new();
        if !self.detail.checkpoints {
            said.push("no checkpoints".to_owned());
        }
        match self.detail.reads {
            Reads::Exact => {}
            Reads::Joined => said.push("neighbouring reads joined".to_owned()),
            Reads::Pages => said.push("reads by page".to_owned()),
        }
        let without: Vec<usize> = (0..self.launches.len()).filter(|&launch| self.launches[launch].is_none()).collect();
        let ranges = without.chunk_by(|one, next| one + 1 == *next).map(|range| match range {
            [one] => one.to_string(),
            range => format!("{}-{}", range[0], range[range.len() - 1]),
        });
        let ranges: Vec<String> = ranges.collect();
        if !ranges.is_empty() {
            said.push(format!("launches {} executed whole", ranges.join(", ")));
        }
        (!said.is_empty()).then(|| said.join("; "))
    }
}

impl Pages for Index {
    fn page(&self, page: u32, version: Version) -> Option<Arc<Page>> {
        let base = self.history.page(page, version);
        if version.block == 0 {
            return base;
        }
        match self.events.binary_search(&version.event).ok().and_then(|at| self.launch(at)) {
            Some(launch) => launch.page(page, version.block, base),
            None => base,
        }
    }

    /// The history has what launches leave behind, too.
    fn is_blank(&self, pages: RangeInclusive<u32>) -> bool {
        self.history.is_blank(pages)
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
        let find = || Liveness::of(&launch.program).map(Arc::new);
        all.push(known.map_or_else(find, |known| all[known].clone()));
    }
    all
}
