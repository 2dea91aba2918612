//! Running what is planned and not yet done.
//!
//! Workers take batches of consecutive runs from an atomic counter and send their rows to the calling thread, which
//! alone writes: no lock is taken between one run and the next. A batch is written in one transaction, with the others
//! that wait by then.
//!
//! A campaign that stops by margin runs in stages, one for each look of its rule: the workers wait at the end of a
//! stage for the decision, and nothing beyond the deciding look is ever run. So the decision is over the same rows,
//! and the same rows exist, whatever the number of workers; the price is a pause of less than a batch at each look.
//! (Running ahead and discarding was weighed: it fills those pauses, but needs memory for rows that may not be
//! written, and a discarded run is work for nothing.)

mod error;
mod event;
mod watch;
mod worker;

use std::iter;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, Scope};

use stats::{Decision, Sequential};

use crate::config::Config;
use crate::store::{Finding, Row, Rows, Session, Store};
use crate::summary::Summary;
use crate::tally::Tally;
use crate::target::Target;
use watch::Stopwatch;
use worker::{Message, Shared, Stage, work};

pub use error::CampaignError;
pub use event::Event;

/// Batches that may wait for the writer; a few megabytes of rows at most.
const MAX_WAITING: usize = 64;

/// How a campaign ended, with the summary that is now in its directory.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// All runs are made, or as many as the margin asked for.
    Finished(Summary),
    /// The stop flag was raised; what was run is written, and the rest can be resumed.
    Interrupted(Summary),
}

/// Makes the runs of `store` that have no row yet, until all are made or `stop` is raised.
///
/// # Errors
/// When a row cannot be written or the target gives no worker. What is written stays, and can be resumed.
pub fn run(
    target: &dyn Target,
    store: &mut Store,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<Ended, CampaignError> {
    let finished = make_runs(target, store, stop, on_event)?;
    let summary = store.summarise(target.memory())?;
    Ok(if finished { Ended::Finished(summary) } else { Ended::Interrupted(summary) })
}

/// Makes the runs; `false` when stopped before the last one.
fn make_runs(
    target: &dyn Target,
    store: &mut Store,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<bool, CampaignError> {
    let (config, plan, rows) = store.parts();
    let (planned, tally) = (plan.head().lines, rows.tally()?);
    let jobs = jobs(config, planned.saturating_sub(tally.total()));
    on_event(Event::Started { planned, tally, jobs });
    let session = Session { golden_seconds: target.golden().seconds, jobs, ..Session::default() };
    let session = rows.begin(session)?;
    let watch = Stopwatch::start();
    let mut writer = Writer { target, config, rows, on_event, tally, session, watch, jobs, began: false };
    let halt = AtomicBool::new(false);
    let shared = Shared { target, config, plan, stop, halt: &halt };
    thread::scope(|scope| {
        // Bounded: workers wait rather than pile up rows that a slow disk has not taken.
        let (sender, receiver) = sync_channel(MAX_WAITING);
        let workers = start(scope, shared, sender, jobs)?;
        // The crew ends with this statement, whatever came of it: workers find their channels closed, and end.
        writer.stages(planned, &Crew { workers, receiver })
    })
}

/// The workers to start: as configured or one for each core, and no more than there are runs.
fn jobs(config: &Config, pending: u64) -> u32 {
    let cores = || thread::available_parallelism().ok().and_then(|cores| NonZeroU32::try_from(cores).ok());
    let wanted = config.jobs.or_else(cores).map_or(1, NonZeroU32::get);
    wanted.min(u32::try_from(pending.max(1)).unwrap_or(u32::MAX))
}

/// The workers, seen from the writer.
struct Crew {
    workers: Vec<Sender<Arc<Stage>>>,
    receiver: Receiver<Message>,
}

impl Crew {
    /// Waits for a message and takes all that are there: their rows, how many workers became idle, and what broke.
    ///
    /// Batches that came while the last transaction was synced share the next one, so that a slow disk costs time
    /// per sync and not per batch.
    fn receive(&self) -> Result<(Vec<Row>, usize, Option<CampaignError>), CampaignError> {
        let first = self.receiver.recv().map_err(|_| CampaignError::Panic("all of them ended".to_owned()))?;
        let (mut rows, mut idle) = (Vec::new(), 0);
        for message in iter::once(first).chain(self.receiver.try_iter().take(MAX_WAITING)) {
            match message {
                Message::Rows(batch) => rows.extend(batch),
                Message::Idle => idle += 1,
                Message::Broken(error) => return Ok((rows, idle, Some(error))),
            }
        }
        Ok((rows, idle, None))
    }
}

fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    shared: Shared<'scope>,
    sender: SyncSender<Message>,
    jobs: u32,
) -> Result<Vec<Sender<Arc<Stage>>>, CampaignError> {
    let start_one = |number| {
        let (stages, taken) = channel();
        let sender = sender.clone();
        let builder = thread::Builder::new().name(format!("worker-{number}"));
        let started = builder.spawn_scoped(scope, move || work(shared, &taken, &sender));
        started.map(|_| stages).map_err(|source| CampaignError::Threads { jobs, source })
    };
    (1..=jobs).map(start_one).collect()
}

/// The calling thread's part: hands out stages, writes what comes back, looks, decides.
struct Writer<'a> {
    target: &'a dyn Target,
    config: &'a Config,
    rows: &'a mut Rows,
    on_event: &'a mut dyn FnMut(Event<'_>),
    tally: Tally,
    session: i64,
    watch: Stopwatch,
    jobs: u32,
    /// Whether rows were written.
    began: bool,
}

impl Writer<'_> {
    /// Runs all stages; `false` when stopped before the last one was over.
    fn stages(&mut self, planned: u64, crew: &Crew) -> Result<bool, CampaignError> {
        let Some(rule) = self.config.sequential() else {
            return self.stage(0..planned, crew);
        };
        let mut start = 0;
        for (look, &end) in rule.looks().iter().enumerate() {
            if !self.stage(start..end, crew)? {
                return Ok(false);
            }
            if self.look(&rule, look, end)? == Decision::Stop {
                return Ok(true);
            }
            start = end;
        }
        Ok(true)
    }

    /// Makes the runs at `positions` that have no row yet; `false` when stopped before all of them were made.
    fn stage(&mut self, positions: Range<u64>, crew: &Crew) -> Result<bool, CampaignError> {
        let pending = self.rows.pending(self.config.shard, positions)?;
        if pending.is_empty() {
            return Ok(true);
        }
        let mut missing: u64 = pending.iter().map(|range| range.end - range.start).sum();
        let stage = Arc::new(Stage::new(&pending, self.jobs));
        for worker in &crew.workers {
            // A worker that has ended has said why, in the channel that is read next.
            let _ = worker.send(Arc::clone(&stage));
        }
        let mut busy = crew.workers.len();
        while busy > 0 {
            let (rows, idle, broken) = crew.receive()?;
            missing -= rows.len() as u64;
            busy -= idle;
            self.write(&rows)?;
            if let Some(error) = broken {
                return Err(error);
            }
        }
        Ok(missing == 0)
    }

    fn write(&mut self, rows: &[Row]) -> Result<(), CampaignError> {
        if rows.is_empty() {
            return Ok(());
        }
        self.rows.commit(rows, self.session, self.watch.seconds())?;
        if !std::mem::replace(&mut self.began, true)
            && let Some(memory) = self.target.memory()
        {
            (self.on_event)(Event::Prepared { memory: &memory });
        }
        for row in rows {
            self.tally.add(row.finding.class(), 1);
            if let Finding::Failed(failure) = &row.finding {
                let (fault, error) = (row.site.id.as_str(), failure.message());
                (self.on_event)(Event::RunFailed { run: row.run, fault, error });
            }
        }
        (self.on_event)(Event::Written { tally: self.tally });
        Ok(())
    }

    /// Decides on the rows of the first `runs` runs, which are all there: from the file, since after an
    /// interruption there are rows of later stages too.
    fn look(&mut self, rule: &Sequential, look: usize, runs: u64) -> Result<Decision, CampaignError> {
        let proportions = self.rows.tally_of(0..runs)?.proportions();
        let decision = rule.decide(look, &proportions);
        let reach = |proportion: &stats::Proportion| {
            proportion.rate().map_or(1.0, |rate| rule.interval(*proportion).reach(rate))
        };
        let widest = proportions.iter().map(reach).fold(0.0, f64::max);
        let (look, looks) = (look as u64 + 1, rule.looks().len() as u64);
        (self.on_event)(Event::Looked { look, looks, runs, widest, decision });
        Ok(decision)
    }
}
