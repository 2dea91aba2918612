//! Worker processes, as many as are asked for: they are given batches, watched, and started again where a fault has
//! ended them or keeps them.
//!
//! A worker that is silent for longer than a fault may take hangs in that fault; it is killed, and another goes on behind
//! it. One that ends has died of it.

use crate::protocol::{Answer, BatchOrder, HardwareEnd, MachineInfo};
use capsule::Digest;
use process::{ChildOutput, Dialogue, Limits, Reaper};
use std::collections::VecDeque;
use std::io;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use thiserror::Error;

/// What a worker may take until the module of a batch is loaded and has run without a fault.
const PREPARATION: Duration = Duration::from_secs(120);

/// The largest file that a worker may write: the driver keeps what it compiles, and has files in memory of its own.
const FILE_BYTES: u64 = 1 << 40;

/// By how much a [patient](Pool::patient) pool waits longer, with so much fewer workers.
const PATIENCE: u32 = 4;

/// How many faults a batch has at most, so that no worker is left alone with a long one.
const FAULTS: usize = 200;

/// How often in a row a worker may end before it has begun a batch.
const FALSE_STARTS: u32 = 3;

/// Why a pool cannot work. The text follows "failed to".
#[derive(Debug, Error)]
pub enum PoolError {
    /// The system cannot start a worker or tell of it.
    #[error("talk to a worker")]
    Io(#[from] io::Error),
    /// Workers say that there is nothing to work on.
    #[error("{0}")]
    Lost(String),
    /// Workers end by themselves.
    #[error("keep a worker running: it ended {FALSE_STARTS} times before it had begun a batch")]
    FalseStarts,
}

/// An event in the work of a pool.
#[derive(Clone, Debug, PartialEq)]
pub enum PoolEvent {
    /// A session has begun.
    Machine(MachineInfo),
    /// A rewritten module was run without a fault: the digest of each copy to the host.
    FaultFree(Vec<Digest>),
    /// These faults cannot be run, for a reason that follows "failed to".
    Refused(Vec<String>, String),
    /// How the run with a fault ended.
    Fault(String, HardwareEnd),
}

/// Starts workers.
pub struct Pool<'p> {
    /// The command that becomes a worker.
    pub command: &'p (dyn Fn() -> Command + Sync),
    /// How many there are at once.
    pub jobs: usize,
    /// How long one fault may take.
    pub limit: Duration,
}

/// The end of a batch on one worker.
enum BatchEnd {
    /// It is done, and the worker waits for the next.
    Done,
    /// The worker is of no more use.
    Gone,
    /// As before, and it had not begun; what it says of that.
    FalseStart(Option<String>),
}

impl Pool<'_> {
    /// The same with fewer workers at once, each of which is waited for longer.
    #[must_use]
    pub fn patient(&self) -> Self {
        Self { jobs: self.jobs.div_ceil(PATIENCE as usize), limit: self.limit * PATIENCE, ..*self }
    }

    /// Has all batches worked on, until a flag is raised: what is then in hand is dropped. The thread that calls is told of everything.
    ///
    /// # Errors
    /// If no worker can be started, or none has anything to work on.
    pub fn run(
        &self,
        batches: Vec<BatchOrder>,
        stop: &AtomicBool,
        mut told: impl FnMut(PoolEvent),
    ) -> Result<(), PoolError> {
        let reaper = Reaper::new()?;
        let queue = Mutex::new(batches.into_iter().flat_map(parts).collect::<VecDeque<_>>());
        let jobs = self.jobs.clamp(1, queue.lock().unwrap_or_else(PoisonError::into_inner).len().max(1));
        let (sender, receiver) = channel();
        let work = |sender: Sender<PoolEvent>| {
            let done = self.work(&queue, &reaper, stop, &sender);
            if done.is_err() {
                // The others cannot do more.
                queue.lock().unwrap_or_else(PoisonError::into_inner).clear();
            }
            done
        };
        std::thread::scope(|scope| {
            let senders = (0..jobs).map(|_| sender.clone());
            let threads: Vec<_> = senders.map(|own| scope.spawn(|| work(own))).collect();
            drop(sender);
            receiver.into_iter().for_each(&mut told);
            let mut joined = threads.into_iter().map(|thread| thread.join());
            joined.try_for_each(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    }

    /// Serves batches with one worker at a time.
    fn work(
        &self,
        queue: &Mutex<VecDeque<BatchOrder>>,
        reaper: &Reaper,
        stop: &AtomicBool,
        sender: &Sender<PoolEvent>,
    ) -> Result<(), PoolError> {
        let (mut worker, mut false_starts) = (None, 0);
        while let Some(mut batch) = next(queue, stop) {
            while !batch.faults.is_empty() && !stop.load(Ordering::Relaxed) {
                let mut dialogue = match worker.take() {
                    Some(dialogue) => dialogue,
                    None => self.start(reaper)?,
                };
                match self.hear(&mut dialogue, &mut batch, stop, sender)? {
                    BatchEnd::Done => worker = Some(dialogue),
                    BatchEnd::Gone => {}
                    BatchEnd::FalseStart(_) if false_starts + 1 < FALSE_STARTS => {
                        false_starts += 1;
                        continue;
                    }
                    BatchEnd::FalseStart(reason) => return Err(reason.map_or(PoolError::FalseStarts, PoolError::Lost)),
                }
                false_starts = 0;
            }
        }
        Ok(())
    }

    fn start<'g>(&self, reaper: &'g Reaper) -> Result<Dialogue<'g>, PoolError> {
        let limits = Limits { time: PREPARATION, file_bytes: FILE_BYTES, files: &[] };
        let mut command = (self.command)();
        // What a flipped address leads to depends on where memory is: it is the same for all workers.
        process::fix_addresses(&mut command);
        Ok(Dialogue::start(command, &limits, reaper)?)
    }

    /// Gives a worker a batch and listens; faults that are answered are taken off the batch.
    fn hear(
        &self,
        worker: &mut Dialogue<'_>,
        batch: &mut BatchOrder,
        stop: &AtomicBool,
        sender: &Sender<PoolEvent>,
    ) -> Result<BatchEnd, PoolError> {
        let tell = |told| drop(sender.send(told));
        let line = serde_json::to_string(batch).map_err(io::Error::from)?;
        // A worker that does not listen any more is heard to be gone.
        let _ = worker.say(&line);
        let (mut begun, mut running) = (false, false);
        while !stop.load(Ordering::Relaxed) {
            // It has only to say that it is done.
            let answered = batch.faults.is_empty();
            let patience = if running { self.limit } else { PREPARATION };
            #[expect(clippy::disallowed_methods, reason = "a watchdog over a process that may never answer")]
            let said = worker.hear(Instant::now() + patience)?;
            let answer = match said {
                ChildOutput::Line(line) => serde_json::from_str::<Answer>(&line).ok(),
                ChildOutput::Late | ChildOutput::Closed if answered => return Ok(BatchEnd::Gone),
                ChildOutput::Late if running => {
                    tell(PoolEvent::Fault(batch.faults.remove(0).fault, HardwareEnd::Hang));
                    return Ok(BatchEnd::Gone);
                }
                ChildOutput::Late => {
                    let reason = format!("have the module ready within {} seconds", PREPARATION.as_secs());
                    tell(PoolEvent::Refused(ids(batch), reason));
                    return Ok(BatchEnd::Gone);
                }
                ChildOutput::Closed => None,
            };
            match answer {
                Some(Answer::Started(info)) => tell(PoolEvent::Machine(info)),
                Some(Answer::Ready { copies }) => {
                    (begun, running) = (true, true);
                    tell(PoolEvent::FaultFree(copies));
                }
                Some(Answer::Fault { fault, end }) if batch.faults.first().is_some_and(|next| next.fault == fault) => {
                    batch.faults.remove(0);
                    tell(PoolEvent::Fault(fault, end));
                }
                Some(Answer::Renewing) => running = false,
                Some(Answer::Refused { reason }) => {
                    tell(PoolEvent::Refused(ids(batch), reason));
                    return Ok(BatchEnd::Done);
                }
                Some(Answer::Done) if answered => return Ok(BatchEnd::Done),
                Some(Answer::Lost { reason }) => return Ok(BatchEnd::FalseStart(Some(reason))),
                // It has ended, or says what means nothing.
                _ if answered => return Ok(BatchEnd::Gone),
                _ if running => {
                    tell(PoolEvent::Fault(batch.faults.remove(0).fault, HardwareEnd::Died));
                    return Ok(BatchEnd::Gone);
                }
                // It was given no other session; another process may be.
                _ if begun => return Ok(BatchEnd::Gone),
                _ => return Ok(BatchEnd::FalseStart(None)),
            }
        }
        Ok(BatchEnd::Gone)
    }
}

/// All that is left of a batch.
fn ids(batch: &mut BatchOrder) -> Vec<String> {
    batch.faults.drain(..).map(|ordered| ordered.fault).collect()
}

fn next(queue: &Mutex<VecDeque<BatchOrder>>, stop: &AtomicBool) -> Option<BatchOrder> {
    if stop.load(Ordering::Relaxed) {
        return None;
    }
    queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

/// A batch in parts of a bounded size.
fn parts(batch: BatchOrder) -> Vec<BatchOrder> {
    let part = |faults: &[_]| BatchOrder { faults: faults.to_vec(), ..batch.clone() };
    batch.faults.chunks(FAULTS).map(part).collect()
}

#[cfg(test)]
mod tests;
