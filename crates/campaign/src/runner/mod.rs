//! Running what is planned and not yet done.
//!
//! Workers take batches of consecutive runs from an atomic counter and send their rows to the calling thread, which
//! alone writes: no lock is taken between one run and the next. A batch is written in one transaction, with the others
//! that wait by then. An exhaustive campaign goes the same way with units for runs.

mod error;
mod event;
mod ledger;
mod listed;
mod pool;
mod sample;
mod sweep;
mod watch;

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::config::Config;
use crate::store::{Results, Session, Store};
use crate::summary::Summary;
use crate::target::TargetSystem;
use ledger::Ledger;
use pool::{Signals, WorkerPool};
use watch::Limit;

pub use error::CampaignError;
pub use event::CampaignEvent;

/// How a campaign ended, with its summary, which is now in its directory if it has one.
#[derive(Clone, Debug, PartialEq)]
pub enum CampaignEnd {
    /// All runs are made, or as many as the margin asked for.
    Finished(Summary),
    /// The stop flag was raised; what was run is written, and the rest can be resumed.
    Interrupted(Summary),
    /// The seconds that the configuration gives are over; what was run is written, and the rest can be resumed.
    ///
    /// Which runs were made depends on the clock, what a row says does not. A run that was begun is finished, so that
    /// rates favour long runs by at most one run of each worker.
    OutOfTime(Summary),
}

/// Makes the runs of `store` that have no row yet, until all are made or `stop` is raised.
///
/// # Errors
/// When a row cannot be written or the target gives no worker. What is written stays, and can be resumed.
pub fn run<'t>(
    target: impl Into<TargetSystem<'t>>,
    store: &mut Store,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(CampaignEvent<'_>),
) -> Result<CampaignEnd, CampaignError> {
    let target = target.into();
    let finished = make_runs(target, store, stop, on_event)?;
    let summary = store.summarise(target.engines.memory())?;
    Ok(match finished {
        true => CampaignEnd::Finished(summary),
        false if stop.load(Ordering::Relaxed) => CampaignEnd::Interrupted(summary),
        false => CampaignEnd::OutOfTime(summary),
    })
}

/// Makes all runs of a configuration and keeps their rows in memory. An exhaustive campaign keeps units and counts.
///
/// # Errors
/// When the configuration cannot be planned, or the target gives no worker.
pub fn run_in_memory<'t>(
    target: impl Into<TargetSystem<'t>>,
    config: &Config,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(CampaignEvent<'_>),
) -> Result<(CampaignEnd, Results), CampaignError> {
    let target = target.into();
    let mut store = Store::in_memory(config.clone(), target)?;
    let ended = run(target, &mut store, stop, on_event)?;
    Ok((ended, store.into_results()))
}

/// Makes the runs; `false` when stopped before the last one.
fn make_runs(
    target: TargetSystem<'_>,
    store: &mut Store,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(CampaignEvent<'_>),
) -> Result<bool, CampaignError> {
    let (config, plan, sweep, rows) = store.parts();
    let pending = rows.pending(config.shard, 0..plan.head().positions())?;
    let (tally, jobs) = (rows.tally()?, jobs(config, pool::count(&pending)));
    let planned = sweep.map_or(plan.head().lines, |sweep| sweep.size(config.shard).faults);
    on_event(CampaignEvent::Started { planned, tally, jobs });
    let session =
        rows.begin(Session { golden_seconds: target.subject.golden().seconds, jobs, ..Session::default() })?;
    let ledger = Ledger::open(target, rows, on_event, tally, session);
    let signals = Signals { stop, halt: &AtomicBool::new(false), limit: config.seconds.map(Limit::of) };
    // The pool ends with the scope, whatever came of it: workers find their channels closed, and end.
    thread::scope(|scope| match sweep {
        None => {
            let worker = || Ok(sample::RunWorker { target, config, reader: plan.reader()?, worker: None });
            let pool = WorkerPool::start(scope, signals, jobs, worker)?;
            sample::Writer::new(config, ledger, target.engines.batch_size(&config.engine) as u64).stages(planned, &pool)
        }
        Some(sweep) => {
            let worker = || Ok(sweep::UnitWorker { target, config, sweep, sweeper: None });
            let pool = WorkerPool::start(scope, signals, jobs, worker)?;
            sweep::Writer::new(ledger).units(&pending, &pool)
        }
    })
}

/// The workers to start: as configured or one for each core, and no more than there are runs.
fn jobs(config: &Config, pending: u64) -> u32 {
    let cores = || thread::available_parallelism().ok().and_then(|cores| NonZeroU32::try_from(cores).ok());
    let wanted = config.jobs.or_else(cores).map_or(1, NonZeroU32::get);
    wanted.min(u32::try_from(pending.max(1)).unwrap_or(u32::MAX))
}
