//! The worker threads: each takes batches of positions from an atomic counter and sends what it makes of them to the
//! calling thread.

use std::any::Any;
use std::iter;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, Scope};
use std::time::Duration;

use super::CampaignError;
use super::watch::Limit;
use crate::failure::{RunFailure, TargetError};

/// Batches for each worker in a stage, at least, so that none waits long for the last one.
const BATCHES_PER_WORKER: u64 = 8;
/// Messages that may wait for the writer; a few megabytes at most.
const MAX_WAITING: usize = 64;
/// How long the writer waits for a message before it looks at what it holds back.
const TICK: Duration = Duration::from_millis(500);

/// What a worker thread does; lives on it.
pub(super) trait BatchWorker {
    /// What it makes of one position.
    type Output: Send;

    /// Works on the positions of a batch and sends what it makes of them, in order, until nothing is wanted any more.
    fn batch(&mut self, positions: Range<u64>, sink: &Sink<'_, Self::Output>) -> Result<(), CampaignError>;
}

/// What a worker sends.
enum Message<T> {
    /// What was made of the positions of a batch, or of some of them.
    Output(Vec<T>),
    /// Nothing is left to take in this stage.
    Idle,
    /// This worker has ended, and with it the campaign.
    Broken(CampaignError),
}

/// What ends the work of all threads.
#[derive(Clone, Copy)]
pub(super) struct Signals<'a> {
    /// The user asks to stop: finish what is in hand, if that is soon, and send what there is.
    pub(super) stop: &'a AtomicBool,
    /// What is made is of no use any more: nobody writes it.
    pub(super) halt: &'a AtomicBool,
    /// When this is over, nothing more is begun.
    pub(super) limit: Option<Limit>,
}

/// Where a worker sends what it makes.
pub(super) struct Sink<'a, T> {
    signals: Signals<'a>,
    sender: &'a SyncSender<Message<T>>,
}

impl<T> Sink<'_, T> {
    /// More work is wanted.
    pub(super) fn wanted(&self) -> bool {
        let Signals { stop, halt, limit } = self.signals;
        !stop.load(Ordering::Relaxed) && !halt.load(Ordering::Relaxed) && !limit.is_some_and(Limit::is_over)
    }

    pub(super) fn send(&self, made: Vec<T>) {
        if self.sender.send(Message::Output(made)).is_err() {
            // The writer is gone, after an error of its own; the other workers need not find out for themselves.
            self.signals.halt.store(true, Ordering::Relaxed);
        }
    }
}

/// What is to be made before anything else is decided: batches of consecutive positions, each taken once.
struct Stage {
    batches: Vec<Range<u64>>,
    next: AtomicUsize,
}

impl Stage {
    /// Cuts `pending` into batches, none larger than `max_batch`, that keep `jobs` workers busy.
    fn new(pending: &[Range<u64>], jobs: u64, max_batch: u64) -> Self {
        let size = (count(pending) / (jobs * BATCHES_PER_WORKER)).clamp(1, max_batch);
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

/// How many positions there are in `ranges`.
pub(super) fn count(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}

/// The workers, seen from the writer. Dropped, it ends them.
pub(super) struct WorkerPool<'a, T> {
    workers: Vec<Sender<Arc<Stage>>>,
    receiver: Receiver<Message<T>>,
    halt: &'a AtomicBool,
}

impl<'a, T: Send> WorkerPool<'a, T> {
    /// Starts `jobs` threads, each with what `worker` makes on it.
    pub(super) fn start<'scope, H: BatchWorker<Output = T>>(
        scope: &'scope Scope<'scope, '_>,
        signals: Signals<'a>,
        jobs: u32,
        worker: impl Fn() -> Result<H, CampaignError> + Copy + Send + 'scope,
    ) -> Result<Self, CampaignError>
    where
        T: 'scope,
        'a: 'scope,
    {
        // Bounded: workers wait rather than pile up what a slow disk has not taken.
        let (sender, receiver) = sync_channel(MAX_WAITING);
        let start_one = |number| {
            let (stages, taken) = channel();
            let sender = sender.clone();
            let builder = thread::Builder::new().name(format!("worker-{number}"));
            let started = builder.spawn_scoped(scope, move || work(signals, worker, &taken, &sender));
            started.map(|_| stages).map_err(|source| CampaignError::Threads { jobs, source })
        };
        let workers = (1..=jobs).map(start_one).collect::<Result<_, _>>()?;
        Ok(Self { workers, receiver, halt: signals.halt })
    }

    /// Has the positions in `pending` worked on, and gives `take` what is made of them as it comes; now and then
    /// nothing. `false` when stopped before all of them were made.
    pub(super) fn stage(
        &self,
        pending: &[Range<u64>],
        max_batch: u64,
        take: &mut dyn FnMut(Vec<T>) -> Result<(), CampaignError>,
    ) -> Result<bool, CampaignError> {
        let mut missing = count(pending);
        if missing == 0 {
            return Ok(true);
        }
        let stage = Arc::new(Stage::new(pending, self.workers.len() as u64, max_batch));
        for worker in &self.workers {
            // A worker that has ended has said why, in the channel that is read next.
            let _ = worker.send(Arc::clone(&stage));
        }
        let mut busy = self.workers.len();
        while busy > 0 {
            let (made, idle, broken) = self.receive()?;
            missing -= made.len() as u64;
            busy -= idle;
            take(made)?;
            if let Some(error) = broken {
                return Err(error);
            }
        }
        Ok(missing == 0)
    }

    /// Waits for a message, though not long, and takes all that are there: what was made, how many workers became
    /// idle, and what broke.
    ///
    /// What came while the last transaction was synced shares the next one, so that a slow disk costs time per sync
    /// and not per batch.
    fn receive(&self) -> Result<(Vec<T>, usize, Option<CampaignError>), CampaignError> {
        let first = match self.receiver.recv_timeout(TICK) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => return Ok((Vec::new(), 0, None)),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(CampaignError::Panic("all of them ended".to_owned()));
            }
        };
        let (mut made, mut idle) = (Vec::new(), 0);
        for message in iter::once(first).chain(self.receiver.try_iter().take(MAX_WAITING)) {
            match message {
                Message::Output(batch) => made.extend(batch),
                Message::Idle => idle += 1,
                Message::Broken(error) => return Ok((made, idle, Some(error))),
            }
        }
        Ok((made, idle, None))
    }
}

impl<T> Drop for WorkerPool<'_, T> {
    fn drop(&mut self) {
        self.halt.store(true, Ordering::Relaxed);
    }
}

/// The whole life of a worker thread: one stage after the other, until there are no more.
fn work<H: BatchWorker>(
    signals: Signals<'_>,
    worker: impl FnOnce() -> Result<H, CampaignError>,
    stages: &Receiver<Arc<Stage>>,
    sender: &SyncSender<Message<H::Output>>,
) {
    let sink = Sink { signals, sender };
    let life = catch_unwind(AssertUnwindSafe(|| {
        let mut worker = worker()?;
        for stage in stages {
            while sink.wanted()
                && let Some(batch) = stage.take()
            {
                worker.batch(batch, &sink)?;
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

/// Does `run` with the worker in `slot`, which `make` makes where there is none.
///
/// A panic is the run's own: it becomes its failure, and the campaign goes on, with another worker, since this one may
/// be left in any state.
pub(super) fn guarded<W, T>(
    slot: &mut Option<W>,
    make: impl FnOnce() -> Result<W, TargetError>,
    what: &str,
    run: impl FnOnce(&mut W) -> Result<T, RunFailure>,
) -> Result<Result<T, RunFailure>, CampaignError> {
    let worker = match &mut *slot {
        Some(worker) => worker,
        none => none.insert(make().map_err(CampaignError::Worker)?),
    };
    Ok(catch_unwind(AssertUnwindSafe(|| run(worker))).unwrap_or_else(|panic| {
        *slot = None;
        Err(RunFailure::new(format!("run the {what}: {}; this is a bug", panic_text(&*panic))))
    }))
}

/// What a panic said; panics carry text unless someone throws another value.
fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panic: {}", text.unwrap_or("without a message"))
}
