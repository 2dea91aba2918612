//! What a worker thread does: take a batch, run it, send its rows.

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};

use super::CampaignError;
use super::watch::Stopwatch;
use crate::config::Config;
use crate::outcome::classify;
use crate::plan::{Plan, PlanReader};
use crate::store::{Finding, Row};
use crate::target::{RunFailure, RunIndex, Site, Target, Worker};

/// Runs in a batch, at most: a transaction is then small beside the runs in it, and a lost one is little work.
const MAX_BATCH: u64 = 64;
/// Batches for each worker in a stage, at least, so that none waits long for the last one.
const BATCHES_PER_WORKER: u64 = 8;
/// Seconds after which a worker sends the rows it has, so that slow runs are durable, and visible, soon.
const SEND_AFTER: f64 = 1.0;

/// What a worker sends.
pub(super) enum Message {
    /// Rows of a batch, for one transaction.
    Rows(Vec<Row>),
    /// Nothing is left to take in this stage.
    Idle,
    /// This worker has ended, and with it the campaign.
    Broken(CampaignError),
}

/// Runs to be made before anything else is decided: batches of consecutive positions, each taken once.
pub(super) struct Stage {
    batches: Vec<Range<u64>>,
    next: AtomicUsize,
}

impl Stage {
    /// Cuts `pending` into batches that keep `jobs` workers busy.
    pub(super) fn new(pending: &[Range<u64>], jobs: u32) -> Self {
        let runs: u64 = pending.iter().map(|range| range.end - range.start).sum();
        let size = (runs / (u64::from(jobs) * BATCHES_PER_WORKER)).clamp(1, MAX_BATCH);
        let cut = |range: &Range<u64>| {
            let end = range.end;
            range.clone().step_by(size as usize).map(move |start| start..end.min(start + size))
        };
        Self { batches: pending.iter().flat_map(cut).collect(), next: AtomicUsize::new(0) }
    }

    fn take(&self) -> Option<Range<u64>> {
        // Relaxed: the batches were there before the workers saw the stage; the counter orders nothing else.
        self.batches.get(self.next.fetch_add(1, Ordering::Relaxed)).cloned()
    }
}

/// What all workers share.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    pub(super) target: &'a dyn Target,
    pub(super) config: &'a Config,
    pub(super) plan: &'a Plan,
    /// The user asks to stop: finish the run in hand and send what there is.
    pub(super) stop: &'a AtomicBool,
    /// Rows are of no use any more: nobody writes them.
    pub(super) halt: &'a AtomicBool,
}

/// The whole life of a worker thread: one stage after the other, until there are no more.
pub(super) fn work(shared: Shared<'_>, stages: &Receiver<Arc<Stage>>, sender: &SyncSender<Message>) {
    let life = catch_unwind(AssertUnwindSafe(|| {
        let mut hand = Hand { shared, reader: shared.plan.reader()?, worker: None };
        for stage in stages {
            while let Some(batch) = hand.next_batch(&stage) {
                hand.batch(batch, sender)?;
            }
            // A closed channel means that nobody wants more; the loop ends with the stages.
            let _ = sender.send(Message::Idle);
        }
        Ok(())
    }));
    let error = match life {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error,
        Err(panic) => CampaignError::Panic(panic_text(&*panic)),
    };
    let _ = sender.send(Message::Broken(error));
}

/// One thread's means.
struct Hand<'a> {
    shared: Shared<'a>,
    reader: PlanReader<'a>,
    /// Made when first needed, and again after a panic, which may have left the old one in any state.
    worker: Option<Box<dyn Worker + 'a>>,
}

impl Hand<'_> {
    fn wanted(&self) -> bool {
        !self.shared.stop.load(Ordering::Relaxed) && !self.shared.halt.load(Ordering::Relaxed)
    }

    fn next_batch(&self, stage: &Stage) -> Option<Range<u64>> {
        if self.wanted() { stage.take() } else { None }
    }

    /// Runs a batch and sends its rows, in pieces if it takes long.
    fn batch(&mut self, batch: Range<u64>, sender: &SyncSender<Message>) -> Result<(), CampaignError> {
        let (mut rows, mut watch) = (Vec::new(), Stopwatch::start());
        for (run, site) in self.reader.sites(batch)? {
            if !self.wanted() {
                break;
            }
            rows.push(self.row(run, site)?);
            if watch.seconds() >= SEND_AFTER {
                self.send(sender, std::mem::take(&mut rows));
                watch = Stopwatch::start();
            }
        }
        if !rows.is_empty() {
            self.send(sender, rows);
        }
        Ok(())
    }

    fn send(&self, sender: &SyncSender<Message>, rows: Vec<Row>) {
        if sender.send(Message::Rows(rows)).is_err() {
            // The writer is gone, after an error of its own; the other workers need not find out for themselves.
            self.shared.halt.store(true, Ordering::Relaxed);
        }
    }

    /// Makes one run. Its panic is its own: the row tells of it, and the campaign goes on.
    fn row(&mut self, run: RunIndex, site: Site) -> Result<Row, CampaignError> {
        let worker = match &mut self.worker {
            Some(worker) => worker,
            none => {
                let made = self.shared.target.worker(self.shared.config.engine);
                none.insert(made.map_err(CampaignError::Worker)?)
            }
        };
        let finding = match catch_unwind(AssertUnwindSafe(|| worker.run(&site))) {
            Ok(Ok(observation)) => {
                let outcome = classify(&observation, &self.shared.config.criteria);
                Finding::seen(observation, outcome)
            }
            Ok(Err(failure)) => Finding::Failed(failure),
            Err(panic) => {
                self.worker = None;
                Finding::Failed(RunFailure::new(format!("run the fault: {}; this is a bug", panic_text(&*panic))))
            }
        };
        Ok(Row { run, site, finding })
    }
}

/// What a panic said; panics carry text unless someone throws another value.
fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panic: {}", text.unwrap_or("without a message"))
}
