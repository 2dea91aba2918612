//! A sampled campaign: runs that were drawn, each with a row of its own.
//!
//! One that stops by margin runs in stages, one for each look of its rule: the workers wait at the end of a stage for
//! the decision, and nothing beyond the deciding look is ever run. So the decision is over the same rows, and the same
//! rows exist, whatever the number of workers; the price is a pause of less than a batch at each look. (Running ahead
//! and discarding was weighed: it fills those pauses, but needs memory for rows that may not be written, and a
//! discarded run is work for nothing.)

use std::ops::Range;

use stats::{Decision, Sequential};

use super::ledger::Ledger;
use super::pool::{self, Sink, WorkerPool, guarded};
use super::watch::Stopwatch;
use super::{CampaignError, CampaignEvent};
use crate::config::{Config, MarginBy, MarginRule, Size};
use crate::failure::RunFailure;
use crate::plan::PlanReader;
use crate::site::{Intent, RunIndex, Site};
use crate::store::{Finding, Row};
use crate::target::{TargetSystem, Worker};
use outcome::{Observation, classify};

/// Runs in a batch, at most, if the target does not ask for more: a transaction is then small beside the runs in it, and a lost one is little work.
const MAX_BATCH: u64 = 64;
/// Seconds after which a worker sends the rows it has, so that slow runs are durable, and visible, soon.
const SEND_AFTER: f64 = 1.0;
/// Seconds that rows wait to be written, and how many may wait.
const WRITE_AFTER: f64 = 0.1;
const MAX_HELD: usize = 1 << 14;

/// What one thread works with.
pub(super) struct RunWorker<'a> {
    pub(super) target: TargetSystem<'a>,
    pub(super) config: &'a Config,
    pub(super) reader: PlanReader<'a>,
    /// Made when first needed, and again after a panic.
    pub(super) worker: Option<Box<dyn Worker + 'a>>,
}

impl pool::BatchWorker for RunWorker<'_> {
    type Output = Row;

    /// Makes the runs of a batch and sends their rows, in pieces if it takes long.
    fn batch(&mut self, positions: Range<u64>, sink: &Sink<'_, Row>) -> Result<(), CampaignError> {
        let (mut rows, mut watch) = (Vec::new(), Stopwatch::start());
        let mut sites = self.reader.sites(positions)?.into_iter().peekable();
        let make = || self.target.engines.worker(&self.config.engine);
        let size = guarded(&mut self.worker, make, "fault", |worker| Ok(worker.batch_size()))?.unwrap_or(1).max(1);
        let is_run = |(_, site): &(RunIndex, Site)| !matches!(site.intent, Intent::GivenUp(_));
        while let Some(first) = sites.next_if(|_| sink.wanted()) {
            let mut together = vec![first];
            while is_run(&together[0]) && together.len() < size {
                let Some(next) = sites.next_if(is_run) else { break };
                together.push(next);
            }
            rows.extend(self.rows(together)?);
            if watch.seconds() >= SEND_AFTER {
                sink.send(std::mem::take(&mut rows));
                watch = Stopwatch::start();
            }
        }
        if !rows.is_empty() {
            sink.send(rows);
        }
        Ok(())
    }
}

impl RunWorker<'_> {
    /// The rows of some sites, all of which are run, or the only one of which is given up.
    fn rows(&mut self, sites: Vec<(RunIndex, Site)>) -> Result<Vec<Row>, CampaignError> {
        if sites.len() > 1 {
            let (runs, together): (Vec<RunIndex>, Vec<Site>) = sites.into_iter().unzip();
            let make = || self.target.engines.worker(&self.config.engine);
            let observed = guarded(&mut self.worker, make, "faults", |worker| Ok(worker.run_batch(&together)))?;
            let sites = runs.into_iter().zip(together);
            return match observed {
                Ok(observed) if observed.len() == sites.len() => {
                    Ok(sites.zip(observed).map(|((run, site), seen)| self.row_of(run, site, seen)).collect())
                }
                // One of them broke the batch: each by itself, so that the others have their outcomes.
                _ => sites.map(|(run, site)| self.row(run, site)).collect(),
            };
        }
        sites.into_iter().map(|(run, site)| self.row(run, site)).collect()
    }

    fn row(&mut self, run: RunIndex, site: Site) -> Result<Row, CampaignError> {
        if let Intent::GivenUp(_) = site.intent {
            return Ok(Row { run, site, finding: Finding::GivenUp });
        }
        let make = || self.target.engines.worker(&self.config.engine);
        let observed = guarded(&mut self.worker, make, "fault", |worker| worker.run(&site))?;
        Ok(self.row_of(run, site, observed))
    }

    fn row_of(&self, run: RunIndex, site: Site, observed: Result<Observation, RunFailure>) -> Row {
        let finding = match observed {
            Ok(observation) => {
                let outcome = classify(&observation, &self.config.criteria);
                Finding::seen(observation, outcome)
            }
            Err(failure) => Finding::Failed(failure),
        };
        Row { run, site, finding }
    }
}

/// The calling thread's part: hands out stages, writes what comes back, looks, decides.
pub(super) struct Writer<'a> {
    config: &'a Config,
    ledger: Ledger<'a>,
    /// Runs in a batch, at most.
    batch: u64,
    /// Rows that wait for others to share a transaction with, and since when.
    held: Vec<Row>,
    since: Stopwatch,
}

impl<'a> Writer<'a> {
    pub(super) fn new(config: &'a Config, ledger: Ledger<'a>, batch: u64) -> Self {
        Self { config, ledger, batch: batch.max(MAX_BATCH), held: Vec::new(), since: Stopwatch::start() }
    }

    /// Runs all stages; `false` when stopped before the last one was over.
    pub(super) fn stages(&mut self, planned: u64, pool: &WorkerPool<'_, Row>) -> Result<bool, CampaignError> {
        let Some(rule) = self.config.sequential() else {
            return self.stage(0..planned, pool);
        };
        let mut start = 0;
        for (look, &end) in rule.looks().iter().enumerate() {
            if !self.stage(start..end, pool)? {
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
    fn stage(&mut self, positions: Range<u64>, pool: &WorkerPool<'_, Row>) -> Result<bool, CampaignError> {
        let pending = self.ledger.rows.pending(self.config.shard, positions)?;
        let done = pool.stage(&pending, self.batch, &mut |rows| self.hold(rows));
        self.write()?;
        done
    }

    /// Writes rows, soon: each transaction waits for the disk, and takes a core from the workers.
    fn hold(&mut self, rows: Vec<Row>) -> Result<(), CampaignError> {
        if self.held.is_empty() {
            self.since = Stopwatch::start();
        }
        self.held.extend(rows);
        if self.since.seconds() >= WRITE_AFTER || self.held.len() >= MAX_HELD { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), CampaignError> {
        let rows = std::mem::take(&mut self.held);
        if rows.is_empty() {
            return Ok(());
        }
        let Ledger { rows: file, on_event, tally, session, watch, .. } = &mut self.ledger;
        file.commit(&rows, *session, watch.seconds())?;
        for row in &rows {
            tally.add(row.finding.class(), 1);
            if let Finding::Failed(failure) = &row.finding {
                let (fault, error) = (row.site.fault().unwrap_or_default(), failure.message());
                on_event(CampaignEvent::RunFailed { run: row.run, fault, error });
            }
        }
        self.ledger.written();
        Ok(())
    }

    /// Decides on the rows of the first `runs` runs, which are all there: from the file, since after an
    /// interruption there are rows of later stages too.
    fn look(&mut self, rule: &Sequential, look: usize, runs: u64) -> Result<Decision, CampaignError> {
        let all = self.ledger.rows.tally_of(0..runs)?;
        let kernels = match self.config.size {
            Size::Margin(MarginRule { by: MarginBy::Kernel, .. }) => self.ledger.rows.tallies_of_kernels(0..runs)?,
            _ => Vec::new(),
        };
        let proportions = self.config.within_margin(&all, &kernels);
        let (decision, widest) = (rule.decide(look, &proportions), rule.widest(&proportions));
        let (look, looks) = (look as u64 + 1, rule.looks().len() as u64);
        (self.ledger.on_event)(CampaignEvent::Looked { look, looks, runs, widest, decision });
        Ok(decision)
    }
}
