//! An exhaustive campaign: units of many faults each, with a row for a unit and a tally of all.
//!
//! A unit adds to thousands of counts, and all units to the same ones. So units wait for each other, up to a second,
//! and their counts are added up before they are written; the outcomes of a unit are compressed on the thread that
//! made them.

use std::ops::Range;

use super::ledger::Ledger;
use super::listed::ListedSweeper;
use super::pool::{self, Sink, WorkerPool, guarded};
use super::{CampaignError, CampaignEvent};
use crate::config::Config;
use crate::failure::{RunFailure, TargetError};
use crate::store::{Packed, Unit};
use crate::sweep::{Sweep, Sweeper};
use crate::target::TargetSystem;
use outcome::Class;

/// Seconds between two transactions, about; tests are over sooner.
const COMMIT_AFTER: f64 = if cfg!(test) { 0.002 } else { 1.0 };

/// What one thread works with.
pub(super) struct UnitWorker<'a> {
    pub(super) target: TargetSystem<'a>,
    pub(super) config: &'a Config,
    pub(super) sweep: &'a Sweep,
    /// Made when first needed, and again after a unit that failed.
    pub(super) sweeper: Option<Box<dyn Sweeper + 'a>>,
}

impl pool::BatchWorker for UnitWorker<'_> {
    type Output = Unit;

    fn batch(&mut self, positions: Range<u64>, sink: &Sink<'_, Unit>) -> Result<(), CampaignError> {
        for position in positions {
            let Some(unit) = self.unit(self.config.shard.run_at(position), sink)? else {
                break;
            };
            sink.send(vec![unit]);
        }
        Ok(())
    }
}

impl UnitWorker<'_> {
    /// Runs a unit; `None` if it was given up because nobody wants it any more.
    fn unit(&mut self, unit: u64, sink: &Sink<'_, Unit>) -> Result<Option<Unit>, CampaignError> {
        let make = || sweeper(self.target, self.config, unit);
        let stop = || !sink.wanted();
        let finding = guarded(&mut self.sweeper, make, "unit", |sweeper| match sweeper.unit(unit, &stop)? {
            Some(swept) => {
                self.sweep.check(unit, &swept)?;
                Packed::new(swept).map(Some)
            }
            None if stop() => Ok(None),
            None => Err(RunFailure::new(format!("sweep unit {unit}: it was given up unasked; this is a bug"))),
        })?;
        if finding.is_err() {
            self.sweeper = None;
        }
        let faults = self.sweep.faults_of(unit);
        Ok(finding.transpose().map(|finding| Unit { unit, faults, finding }))
    }
}

/// The sweeper of a unit's kind: the engines' own, or one for what the planner lists.
fn sweeper<'a>(target: TargetSystem<'a>, config: &'a Config, unit: u64) -> Result<Box<dyn Sweeper + 'a>, TargetError> {
    let Config { engine, selection, criteria, .. } = config;
    if target.planner.unit(selection, unit)?.is_none() {
        return target.engines.sweeper(engine, selection, criteria);
    }
    Ok(Box::new(ListedSweeper::new(target, config)?))
}

/// The calling thread's part: writes what comes back.
pub(super) struct Writer<'a> {
    ledger: Ledger<'a>,
    waiting: Vec<Unit>,
    /// When the last transaction was, in seconds of the session.
    committed: f64,
}

impl<'a> Writer<'a> {
    pub(super) fn new(ledger: Ledger<'a>) -> Self {
        Self { ledger, waiting: Vec::new(), committed: 0.0 }
    }

    /// Makes the units in `pending`; `false` when stopped before all of them were made.
    pub(super) fn units(&mut self, pending: &[Range<u64>], pool: &WorkerPool<'_, Unit>) -> Result<bool, CampaignError> {
        let ended = pool.stage(pending, 1, &mut |units| self.take(units));
        // Also after an error: what was made before it is kept.
        self.write()?;
        ended
    }

    fn take(&mut self, units: Vec<Unit>) -> Result<(), CampaignError> {
        self.waiting.extend(units);
        let due = self.ledger.watch.seconds() - self.committed >= COMMIT_AFTER;
        if due { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), CampaignError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let units = std::mem::take(&mut self.waiting);
        let Ledger { rows, on_event, tally, session, watch, .. } = &mut self.ledger;
        self.committed = watch.seconds();
        rows.commit_units(&units, *session, self.committed)?;
        for unit in &units {
            for count in unit.counts() {
                tally.add(count.outcome.class(), count.count);
            }
            tally.add(Class::Failed, unit.failed());
            if let Err(failure) = &unit.finding {
                on_event(CampaignEvent::UnitFailed { unit: unit.unit, faults: unit.faults, error: failure.message() });
            }
        }
        self.ledger.written();
        Ok(())
    }
}
