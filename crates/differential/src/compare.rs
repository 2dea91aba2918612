//! One comparison, from faults to rows.

use crate::plan::{PlannedFault, plan};
use crate::pool::{Pool, PoolError, PoolEvent};
use crate::protocol::{BatchOrder, HardwareEnd};
use crate::row::{Row, Simulated};
use crate::rows::{Rows, RowsError};
use crate::simulated::simulate;
use crate::texts::Texts;
use campaign::Site;
use capsule::Digest;
use fault::Fault;
use inject::{CapsuleTarget, InjectError};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use thiserror::Error;

/// Why faults cannot be compared. The text follows "failed to".
#[derive(Debug, Error)]
pub enum CompareError {
    /// The capsule's modules cannot be rewritten.
    #[error("{0}")]
    Texts(String),
    /// The simulator cannot run a fault.
    #[error(transparent)]
    Simulator(#[from] InjectError),
    /// Nobody can run them on the machine.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// Rows cannot be kept.
    #[error(transparent)]
    Rows(#[from] RowsError),
    /// A row is not of a fault.
    #[error("run {0} again: it is the id of no fault")]
    Unclear(String),
}

/// How far a comparison is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So many faults have been run by the simulator, of so many.
    Simulated(u64, u64),
    /// So many have their rows, of so many.
    Compared(u64, u64),
}

/// Runs faults on both and adds their rows. Those that have rows are not run again. When the flag is raised, what is in
/// hand is dropped.
///
/// # Errors
/// If neither can run them, or rows cannot be kept.
pub fn compare(
    target: &CapsuleTarget,
    faults: Vec<(Site, Fault)>,
    rows: &mut Rows,
    pool: &Pool<'_>,
    stop: &AtomicBool,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<(), CompareError> {
    let distinct = faults.into_iter().map(|(site, fault)| (fault.to_string(), (site, fault)));
    let wanted: BTreeMap<String, (Site, Fault)> = distinct.filter(|(id, _)| !rows.has(id)).collect();
    let texts = Texts::of(target.golden_run().capsule()).map_err(CompareError::Texts)?;
    let plan = plan(target, &texts, wanted.into_values().collect());
    for (fault, reason) in plan.refused {
        rows.refuse(fault.to_string(), reason)?;
    }
    let planned: Vec<&PlannedFault> = plan.batches.iter().flat_map(|batch| &batch.faults).collect();
    let (all, done) = (planned.len() as u64, AtomicU64::new(0));
    let faults: Vec<&Fault> = planned.iter().map(|planned| &planned.fault).collect();
    let simulated = simulate(target, &faults, pool.jobs, stop, &|| {
        progress(Progress::Simulated(done.fetch_add(1, Ordering::Relaxed) + 1, all));
    })?;
    let strays = |fault: &Fault| simulated.get(&fault.to_string()).is_some_and(|(seen, _)| seen.strayed > 0);
    let orders: Vec<BatchOrder> = plan.batches.iter().map(|batch| batch.order(strays)).collect();
    let planned = planned.into_iter().map(|planned| (planned.fault.to_string(), planned)).collect();
    let mut keeper =
        Keeper { target, rows, planned, simulated, silent: Some(BTreeSet::new()), compared: 0, failed: None };
    let work = |pool: &Pool<'_>, orders: Vec<BatchOrder>, keeper: &mut Keeper<'_>| {
        pool.run(orders, stop, |told| {
            if let Err(error) = keeper.keep(told) {
                keeper.failed.get_or_insert(error);
                stop.store(true, Ordering::Relaxed);
            }
            progress(Progress::Compared(keeper.compared, all));
        })
    };
    work(pool, orders.clone(), &mut keeper)?;
    let silent = keeper.silent.take().unwrap_or_default();
    let again = orders.into_iter().filter_map(|order| order.only(|fault| silent.contains(&fault.fault)));
    work(&pool.patient(), again.collect(), &mut keeper)?;
    keeper.failed.map_or(Ok(()), |error| Err(error.into()))
}

/// Makes rows of what is told.
struct Keeper<'k> {
    target: &'k CapsuleTarget,
    rows: &'k mut Rows,
    planned: BTreeMap<String, &'k PlannedFault>,
    simulated: BTreeMap<String, Simulated>,
    /// Faults that kept their workers though the simulator comes to another end: they are tried again with more time; none
    /// while that is done.
    silent: Option<BTreeSet<String>>,
    compared: u64,
    failed: Option<RowsError>,
}

impl Keeper<'_> {
    fn keep(&mut self, told: PoolEvent) -> Result<(), RowsError> {
        match told {
            PoolEvent::Machine(info) => self.rows.machine(info),
            PoolEvent::FaultFree(copies) => {
                let golden = self.target.golden_run().copies().iter();
                let same = golden.map(|copy| Digest::of(&copy.bytes)).eq(copies);
                self.rows.fault_free(same)
            }
            PoolEvent::Refused(faults, reason) => {
                self.compared += faults.len() as u64;
                faults.into_iter().try_for_each(|fault| self.rows.refuse(fault, reason.clone()))
            }
            PoolEvent::Fault(fault, HardwareEnd::Hang) if self.is_doubtful(&fault) => {
                self.silent.get_or_insert_default().insert(fault);
                Ok(())
            }
            PoolEvent::Fault(fault, end) => {
                self.compared += 1;
                self.row(&fault, end)
            }
        }
    }

    /// Whether a worker that does not answer may only be slow: others had the machine at the same time.
    fn is_doubtful(&self, fault: &str) -> bool {
        self.silent.is_some() && self.simulated.get(fault).is_some_and(|(_, simulated)| simulated.ends_in_time())
    }

    fn row(&mut self, fault: &str, end: HardwareEnd) -> Result<(), RowsError> {
        let known = self.planned.get(fault).zip(self.simulated.get(fault));
        let Some((planned, (observation, simulated))) = known else { return Ok(()) };
        self.rows.add(Row::new(planned, observation, simulated.clone(), end, &self.target.criteria()))
    }
}
