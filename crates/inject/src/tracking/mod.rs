//! Which arrays in device memory a fault corrupts, after which launches, and at lines within one.
//!
//! The engines that follow a difference have it at hand after every launch; full re-execution compares pages then. Both see
//! the same, and what they see is compared with the golden run's memory at that launch, element by element.

mod accesses;
mod array;
mod line;
mod measure;
mod witness;

pub use accesses::ArrayAccesses;
pub use array::{Array, Change, Keep};
pub use line::{Arrival, LineSnapshots, LineTracker};
pub use measure::{Corruption, Extent};

use crate::delta::Delta;
use crate::full::Injector;
use crate::golden::{Golden, GoldenLaunch};
use crate::run::InjectError;
use crate::strategy::Strategy;
use crate::target::CapsuleTarget;
use fault::Fault;
use outcome::Observation;
use simt::memory::{ByteRun, Page, Version};
use std::sync::Arc;
use witness::ArrayWitness;

/// Runs faults and sees which arrays differ after launches.
#[derive(Debug)]
pub struct Tracker<'g> {
    golden: &'g Golden,
    arrays: Arc<[Array]>,
    runs: Runs<'g>,
}

#[derive(Debug)]
enum Runs<'g> {
    Full(Box<Injector<'g>>),
    Delta(Box<Delta<'g>>),
}

/// A run and what was seen on its way.
#[derive(Clone, Debug, PartialEq)]
pub struct Tracked {
    /// What came of it.
    pub observation: Observation,
    /// What differed of which array after which launch, in order; nothing where nothing did, and nothing after a trap.
    pub changes: Vec<Change>,
}

impl CapsuleTarget {
    /// What runs faults and sees which of these arrays differ after launches. The strategy changes nothing of what is
    /// seen; threads as replicas are followed one by one.
    #[must_use]
    pub fn tracker(&self, strategy: Strategy, arrays: &[Array]) -> Tracker<'_> {
        let golden = self.golden_run();
        let runs = if strategy == Strategy::Full || golden.runs_whole() {
            Runs::Full(Box::new(Injector::new(golden)))
        } else {
            Runs::Delta(Box::new(Delta::new(golden, self.index())))
        };
        Tracker { golden, arrays: arrays.into(), runs }
    }
}

impl Tracker<'_> {
    /// Runs a fault.
    ///
    /// # Errors
    /// If the fault names a place that does not exist, or the capsule cannot be replayed.
    pub fn run(&mut self, fault: &Fault, keep: Keep) -> Result<Tracked, InjectError> {
        let (observation, changes) = match &mut self.runs {
            Runs::Full(runs) => {
                let mut witness = ArrayWitness::new(self.golden, &self.arrays, keep);
                (runs.witnessed(fault, &mut witness)?, witness.changes)
            }
            Runs::Delta(runs) => {
                let tracked = runs.tracked(fault, &self.arrays, keep)?;
                if runs.has_waited() {
                    // Other blocks have their part in it: everything is executed.
                    let mut witness = ArrayWitness::new(self.golden, &self.arrays, keep);
                    (Injector::new(self.golden).witnessed(fault, &mut witness)?, witness.changes)
                } else {
                    tracked
                }
            }
        };
        Ok(Tracked { observation, changes })
    }

    /// The arrays that are looked at; changes name them by their places here.
    #[must_use]
    pub fn arrays(&self) -> &[Array] {
        &self.arrays
    }

    /// How bad a change is.
    #[must_use]
    pub fn corruption(&self, change: &Change) -> Corruption {
        let array = &self.arrays[change.array];
        measure::corruption(array, change, |offset, bytes| self.golden_bytes(change.launch, array, offset, bytes))
    }

    /// What the golden run holds in an array after a launch.
    #[must_use]
    pub fn golden(&self, launch: u32, array: usize) -> Vec<u8> {
        let array = &self.arrays[array];
        self.golden_bytes(launch, array, 0, array.bytes())
    }

    fn golden_bytes(&self, launch: u32, array: &Array, offset: u64, bytes: u64) -> Vec<u8> {
        let after = Version::before(self.golden.launches()[launch as usize].event as u32 + 1);
        bytes_at(self.golden, after, array.address + offset, bytes)
    }
}

impl Golden {
    /// The bytes of global memory from an address on when a launch begins; zeros where there are none.
    #[must_use]
    pub fn bytes_before(&self, launch: &GoldenLaunch, address: u64, bytes: u64) -> Vec<u8> {
        bytes_at(self, Version::before(launch.event as u32), address, bytes)
    }
}

fn bytes_at(golden: &Golden, version: Version, address: u64, bytes: u64) -> Vec<u8> {
    bytes_of(address, bytes, |page| golden.history.page(page, version))
}

/// The bytes from an address on that are in pages; zeros where there are none.
fn bytes_of(address: u64, bytes: u64, page: impl Fn(u32) -> Option<Arc<Page>>) -> Vec<u8> {
    let mut found = Vec::with_capacity(bytes as usize);
    for run in ByteRun::of(address, bytes) {
        match page(run.page) {
            Some(page) => found.extend_from_slice(&page[run.range()]),
            None => found.resize(found.len() + run.range().len(), 0),
        }
    }
    found
}
