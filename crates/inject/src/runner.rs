//! What runs faults of a capsule one after the other, whichever tier it is of.

use crate::delta::Delta;
use crate::final_memory::FinalMemory;
use crate::full::Injector;
use crate::golden::Golden;
use crate::index::Index;
use crate::lanes::Lanes;
use crate::run::InjectError;
use crate::site::fault_of;
use campaign::{RunFailure, Site, Worker};
use fault::Fault;
use outcome::{End, Observation};
use std::sync::Arc;

/// Runs one fault after the other, by one of the tiers.
#[derive(Debug)]
pub struct Runner<'g>(Runs<'g>);

#[derive(Debug)]
enum Runs<'g> {
    Full(Injector<'g>),
    Delta(Delta<'g>),
    Lanes(Box<Lanes<'g>>),
}

impl<'g> Runner<'g> {
    pub(crate) fn full(golden: &'g Golden) -> Self {
        Self(Runs::Full(Injector::new(golden)))
    }

    pub(crate) fn delta(golden: &'g Golden, index: &'g Arc<Index>) -> Self {
        Self(Runs::Delta(Delta::new(golden, index)))
    }

    pub(crate) fn lanes(golden: &'g Golden, index: &'g Arc<Index>) -> Self {
        Self(Runs::Lanes(Box::new(Lanes::new(golden, index))))
    }

    /// The observation of a fault.
    ///
    /// # Errors
    /// If the fault names a place that does not exist, or the capsule cannot be replayed.
    pub fn run(&mut self, fault: &Fault) -> Result<Observation, InjectError> {
        match &mut self.0 {
            Runs::Full(runs) => runs.run(fault),
            Runs::Delta(runs) => runs.run(fault),
            Runs::Lanes(runs) => runs.run(fault),
        }
    }

    /// As [`run`](Self::run), with what memory holds at the end, if the run comes to it.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_to_memory(&mut self, fault: &Fault) -> Result<(Observation, Option<FinalMemory>), InjectError> {
        let observation = self.run(fault)?;
        let completed = observation.end == End::Completed;
        let memory = completed.then(|| match &mut self.0 {
            Runs::Full(runs) => runs.final_memory(),
            Runs::Delta(runs) => runs.final_memory(),
            Runs::Lanes(runs) => runs.final_memory(),
        });
        Ok((observation, memory))
    }
}

impl Worker for Runner<'_> {
    fn run(&mut self, site: &Site) -> Result<Observation, RunFailure> {
        let fault = fault_of(site)?;
        Runner::run(self, &fault).map_err(|error| RunFailure::from_error(&error))
    }
}
