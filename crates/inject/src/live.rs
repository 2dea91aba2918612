//! Launches of an application that runs while a fault is in it, and what a golden run knows for them.
//!
//! The application's process executes the faulty launch, and those after it, on a [`Device`](crate::Device) of its own;
//! what earlier launches did to memory is taken from the golden run. Both go through the same machine and the same hook
//! as a run of a capsule.

use crate::device::LaunchEnd;
use crate::error::TrapReport;
use crate::golden::{Golden, GoldenLaunch};
use crate::run::trap_kind;
use campaign::{End, FirstUse, Landed, OutputDiff, Place};
use fault::Fault;
use simt::memory::{Page, Version};
use std::sync::Arc;

/// What came of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// How it ended.
    pub end: LaunchEnd,
    /// Instructions executed by all threads.
    pub instructions: u64,
    /// Accesses to mapped pages outside every allocation.
    pub strayed: u64,
    /// What its fault did, if it had one.
    pub strike: Option<Strike>,
}

/// What a fault did in its launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strike {
    /// The value that was hit, if any was.
    pub landed: Option<Landed>,
    /// What the thread first did with it.
    pub first_use: FirstUse,
    /// Instructions that the thread had executed when its block ended.
    pub thread_instructions: u64,
}

impl Strike {
    /// Nothing was hit.
    pub(crate) const NOTHING: Self = Self { landed: None, first_use: FirstUse::Never, thread_instructions: 0 };

    /// The thread's instructions from the first use of the value, or from the fault, to the end of its block.
    #[must_use]
    pub fn after(&self, fault: &Fault) -> u64 {
        let used = match self.first_use {
            FirstUse::Read { after } | FirstUse::Overwritten { after } => after,
            FirstUse::Never => 0,
        };
        self.thread_instructions.saturating_sub(fault.dynamic + 1 + used)
    }
}

impl TrapReport {
    /// The end that it is in an observation, so many instructions after the fault.
    #[must_use]
    pub fn end(&self, after: u64) -> End {
        let line = self.line.as_ref().map(|(_, line)| *line);
        let at = Place { kernel: self.kernel.clone(), pc: self.pc, line, after };
        match trap_kind(self.trap.kind) {
            Some(trap) => End::Trapped { trap, at },
            None => End::Hang { at },
        }
    }
}

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
        OutputDiff { differing, max_abs: error, max_rel: error, rel_l2: error, ..unchanged }
    }
}
