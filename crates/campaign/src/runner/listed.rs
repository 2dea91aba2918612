//! Units of an exhaustive campaign whose faults the planner lists: a worker runs them, as it runs those of a sample.

use crate::config::Config;
use crate::failure::{RunFailure, TargetError};
use crate::site::Site;
use crate::sweep::{Sweeper, SweptCount, SweptFault, SweptUnit, combine};
use crate::target::{Planner, TargetSystem, Worker};
use outcome::{Criteria, FAILED_CODE, Observation, Tier};

/// Runs the faults of a unit that the planner lists on a worker.
pub(super) struct ListedSweeper<'a> {
    planner: &'a dyn Planner,
    config: &'a Config,
    worker: Box<dyn Worker + 'a>,
}

impl<'a> ListedSweeper<'a> {
    /// Takes a worker of the configured engine.
    ///
    /// # Errors
    /// As [`Engines::worker`](crate::Engines::worker).
    pub(super) fn new(target: TargetSystem<'a>, config: &'a Config) -> Result<Self, TargetError> {
        Ok(Self { planner: target.planner, config, worker: target.engines.worker(&config.engine)? })
    }
}

impl Sweeper for ListedSweeper<'_> {
    fn unit(&mut self, unit: u64, stop: &dyn Fn() -> bool) -> Result<Option<SweptUnit>, RunFailure> {
        let listed = self.planner.unit(&self.config.selection, unit);
        let listed = listed.map_err(|error| RunFailure::new(format!("sweep unit {unit}: {error}")))?;
        let faults = listed.ok_or_else(|| RunFailure::new(format!("sweep unit {unit}: its faults are not listed")))?;
        let mut swept = SweptUnit::default();
        for batch in faults.chunks(self.worker.batch_size().max(1)) {
            if stop() {
                return Ok(None);
            }
            let sites: Vec<Site> = batch.iter().map(|fault| fault.site.clone()).collect();
            for (fault, run) in batch.iter().zip(self.worker.run_batch(&sites)) {
                add(&mut swept, fault, run.ok(), &self.config.criteria);
            }
        }
        swept.counts = combine(swept.counts);
        Ok(Some(swept))
    }
}

/// Adds a fault to its unit. A run that could not be made counts as failed.
fn add(unit: &mut SweptUnit, fault: &SweptFault, run: Option<Observation>, criteria: &Criteria) {
    let Some(observation) = run else { return unit.outcomes.push(FAILED_CODE) };
    let outcome = outcome::classify(&observation, criteria);
    unit.outcomes.push(outcome.code());
    unit.counts.push(SweptCount { operand: fault.operand, bit: fault.bit, outcome, count: 1 });
    unit.host_visible += u64::from(observation.host_visible && outcome.class().has_landed());
    *match observation.tier {
        Tier::Full | Tier::Live => &mut unit.tiers.full,
        Tier::Delta | Tier::Stopped => &mut unit.tiers.delta,
        Tier::Lanes => &mut unit.tiers.lanes,
    } += 1;
}
