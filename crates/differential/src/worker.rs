//! A worker: batches in, what came of their faults out.

use crate::machine::{Armed, Ended, Machine, Next, Repeated, Session};
use crate::protocol::{Answer, BatchOrder, FaultOrder, HardwareEnd};
use crate::texts::Texts;
use capsule::{Digest, ModuleId, Output};
use fault::Fault;
use inject::OutputJudge;
use rewrite::{Arming, Fired};
use std::io::{self, BufRead, Write};

/// How many faults a session serves at most: what strays unseen does not stay for long.
const SESSION: u32 = 2000;

/// A batch, and how many of its faults are answered.
struct Begun {
    order: BatchOrder,
    answered: usize,
}

/// A worker at its work.
struct Worker<'w> {
    texts: &'w Texts,
    outputs: &'w [Output],
    input: &'w mut dyn BufRead,
    output: &'w mut dyn Write,
    begun: Option<Begun>,
    /// Why it had to stop.
    failed: Option<io::Error>,
}

/// Serves batches, a line each, until there are no more.
///
/// # Errors
/// If nobody listens any more, what is said means nothing, or the machine gives no other session.
pub fn work(
    machine: &mut dyn Machine,
    texts: &Texts,
    outputs: &[Output],
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> io::Result<()> {
    let mut worker = Worker { texts, outputs, input, output, begun: None, failed: None };
    let mut sessions = 0;
    loop {
        sessions += 1;
        let served = machine.session(&mut |info, session| {
            let served = worker.say(&Answer::Started(info.clone())).and_then(|()| worker.serve(session));
            served.unwrap_or_else(|error| {
                worker.failed = Some(error);
                Next::End
            })
        });
        match served {
            Ok(Next::Renew) => {}
            Ok(Next::End) => return worker.failed.map_or(Ok(()), Err),
            Err(reason) if sessions == 1 => return worker.say(&Answer::Lost { reason }),
            // Another process may have more luck.
            Err(reason) => return Err(io::Error::other(reason)),
        }
    }
}

impl Worker<'_> {
    fn say(&mut self, answer: &Answer) -> io::Result<()> {
        serde_json::to_writer(&mut *self.output, answer)?;
        self.output.write_all(b"\n")?;
        self.output.flush()
    }

    /// The next batch, or the one that another session has begun.
    fn next(&mut self) -> io::Result<Option<Begun>> {
        if let Some(begun) = self.begun.take() {
            return Ok(Some(begun));
        }
        let mut line = String::new();
        if self.input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        Ok(Some(Begun { order: serde_json::from_str(&line)?, answered: 0 }))
    }

    /// Serves batches while the session lasts.
    fn serve(&mut self, session: &mut dyn Session) -> io::Result<Next> {
        let mut served = 0;
        while let Some(mut begun) = self.next()? {
            let judge = match self.prepare(session, &begun.order) {
                Ok(judge) => judge,
                Err((reason, next)) => {
                    self.say(&Answer::Refused { reason })?;
                    if next == Next::Renew {
                        return Ok(next);
                    }
                    continue;
                }
            };
            while let Some(fault) = begun.order.faults.get(begun.answered) {
                let end = run(session, &begun.order, fault, &judge);
                let spoilt = fault.strays || matches!(end, HardwareEnd::Failed { .. } | HardwareEnd::Hang);
                self.say(&Answer::Fault { fault: fault.fault.clone(), end })?;
                begun.answered += 1;
                served += 1;
                if spoilt || served >= SESSION {
                    return self.renew(begun);
                }
            }
            self.say(&Answer::Done)?;
        }
        Ok(Next::End)
    }

    /// Gives the session up; what is left of the batch is for the next one.
    fn renew(&mut self, begun: Begun) -> io::Result<Next> {
        if begun.answered < begun.order.faults.len() {
            self.say(&Answer::Renewing)?;
            self.begun = Some(begun);
        } else {
            self.say(&Answer::Done)?;
        }
        Ok(Next::Renew)
    }

    /// Loads the module of a batch and runs it without a fault.
    fn prepare(&mut self, session: &mut dyn Session, order: &BatchOrder) -> Result<OutputJudge, (String, Next)> {
        let unclear = || ("read the batch: it has no fault whose id can be read".to_owned(), Next::End);
        let place = order.place().ok_or_else(unclear)?;
        let texts = self.texts.with_fault(ModuleId(order.module), &place).map_err(|reason| (reason, Next::End))?;
        session.load(&texts).map_err(|reason| (reason, Next::Renew))?;
        let said = match session.repeat(None).ended {
            Ended::Completed(copies) => {
                let digests = copies.iter().map(|bytes| Digest::of(bytes)).collect();
                let told = self.say(&Answer::Ready { copies: digests });
                return told
                    .map(|()| OutputJudge::new(self.outputs, copies))
                    .map_err(|error| (error.to_string(), Next::End));
            }
            Ended::Failed(name) => name,
            Ended::Hang => "it does not end".to_owned(),
        };
        Err((format!("run the rewritten kernel without a fault: {said}"), Next::Renew))
    }
}

/// What comes of one fault.
fn run(session: &mut dyn Session, order: &BatchOrder, ordered: &FaultOrder, judge: &OutputJudge) -> HardwareEnd {
    let Ok(fault) = ordered.fault.parse::<Fault>() else { return HardwareEnd::NotFired };
    let arming = Arming::new(fault.cta, fault.thread, ordered.occurrence, fault.model, order.bits);
    let Ok(arming) = arming else { return HardwareEnd::NotFired };
    let bytes = arming.bytes();
    let armed = Armed { launch: fault.launch as usize, module: ModuleId(order.module), bytes: &bytes };
    let Repeated { ended, record } = session.repeat(Some(&armed));
    let fired = record.map(|bytes| Fired::read(&bytes));
    match ended {
        // A kernel that fails without its fault would have failed before.
        Ended::Failed(name) => HardwareEnd::Failed { name },
        Ended::Hang => HardwareEnd::Hang,
        Ended::Completed(copies) => match fired.filter(|fired| fired.fired) {
            None => HardwareEnd::NotFired,
            Some(fired) => HardwareEnd::Completed {
                outputs: judge.differences(&copies),
                copies: joined(copies.iter().map(|bytes| Digest::of(bytes))),
                before: format!("{:#x}", low(fired.before, order.bits)),
            },
        },
    }
}

/// The low bits of a value.
fn low(value: u128, bits: u32) -> u128 {
    if bits >= 128 { value } else { value & ((1 << bits) - 1) }
}

/// One digest for all copies of a run.
pub(crate) fn joined(copies: impl Iterator<Item = Digest>) -> Digest {
    let bytes: Vec<u8> = copies.flat_map(|digest| *digest.as_bytes()).collect();
    Digest::of(&bytes)
}

#[cfg(test)]
mod tests;
