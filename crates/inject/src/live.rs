//! What a golden run knows for an application that runs while a fault is in it.
//!
//! The application's process executes the faulty launch, and those after it, on a device of its own; what earlier
//! launches did to memory is taken from the golden run.

use crate::golden::{Golden, GoldenLaunch};
use outcome::OutputDiff;
use simt::memory::{Page, Version};
use std::sync::Arc;

impl Golden {
    /// The pages that a launch changed, by ascending number from the start of device memory, with their bytes after it.
    pub fn changed<'g>(&'g self, launch: &'g GoldenLaunch) -> impl Iterator<Item = (u32, Arc<Page>)> + 'g {
        let [before, after] = [0, 1].map(|events| Version::before(launch.event as u32 + events));
        let mut written = launch.written.clone();
        written.sort_unstable();
        written.into_iter().filter_map(move |number| {
            let page = self.history.page(number, after)?;
            let same = self.history.page(number, before).is_some_and(|old| *old == *page);
            (!same).then_some((number, page))
        })
    }

    /// Which bytes of its arguments the kernel of a launch can read. Those between fields of structures, and arguments
    /// that are not used, hold whatever the caller's memory held.
    #[must_use]
    pub fn read_arguments(&self, launch: &GoldenLaunch) -> Vec<bool> {
        let bytes = self.recorded(launch).params.len();
        if launch.program.reads_param_addresses {
            return vec![true; bytes];
        }
        let mut read = vec![false; bytes];
        for row in &launch.program.params {
            let place = row.offset as usize..row.offset as usize + usize::from(row.bytes);
            read.get_mut(place).into_iter().flatten().for_each(|byte| *byte = true);
        }
        read
    }

    /// How an output differs that never came.
    #[must_use]
    pub fn missing(&self, output: usize) -> OutputDiff {
        let unchanged = self.references[output].unchanged();
        let (differing, error) = (unchanged.elements.max(1), f64::INFINITY);
        OutputDiff { differing, max_abs: error, sum_abs: Some(error), max_rel: error, rel_l2: error, ..unchanged }
    }
}
