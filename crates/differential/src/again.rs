//! Rows judged anew: what a machine said once, beside what the simulator says now.

use crate::compare::{CompareError, Progress};
use crate::placement::placed;
use crate::row::Row;
use crate::rows::Rows;
use crate::simulated::simulate;
use fault::Fault;
use inject::{CapsuleTarget, Golden, Machine, Setup};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The simulator's side of an old comparison.
struct Again<'a> {
    target: &'a CapsuleTarget,
    jobs: usize,
    stop: &'a AtomicBool,
    progress: &'a (dyn Fn(Progress) + Sync),
}

/// Has the simulator run the faults of rows again. Where it comes to another end than the machine did, it is asked once
/// more with its memory where the machine had it.
///
/// # Errors
/// If a row has no fault that can be read, or the simulator cannot run it.
pub fn again(
    target: &CapsuleTarget,
    mut kept: Rows,
    jobs: usize,
    stop: &AtomicBool,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Rows, CompareError> {
    let again = Again { target, jobs, stop, progress };
    let mut rows = again.judge(target, &kept.rows)?;
    let shifts: BTreeSet<u64> = kept.machines.iter().filter_map(|machine| machine.shift()).collect();
    for shift in shifts {
        let machine = Machine { contract: target.golden_run().contract(), ..Machine::default() };
        let moved = Golden::run_on(Arc::new(placed(target.golden_run().capsule(), shift)), machine);
        let Some(moved) = moved.ok().and_then(|golden| CapsuleTarget::set_up(golden, &Setup::default()).ok()) else {
            continue;
        };
        let other: Vec<Row> = rows.iter().filter(|row| !row.agrees() && !row.placed).cloned().collect();
        let there = again.judge(&moved, &other)?;
        let agree: BTreeSet<String> = there.into_iter().filter(Row::agrees).map(|row| row.fault).collect();
        rows.iter_mut().for_each(|row| row.placed |= agree.contains(&row.fault));
    }
    kept.rows = rows;
    Ok(kept)
}

impl Again<'_> {
    /// Rows with what the simulator says of their faults in a target.
    fn judge(&self, target: &CapsuleTarget, rows: &[Row]) -> Result<Vec<Row>, CompareError> {
        let read = |row: &Row| Some((row.fault.clone(), row.fault.parse().ok()?));
        let faults: BTreeMap<String, Fault> = rows.iter().filter_map(read).collect();
        if let Some(row) = rows.iter().find(|row| !faults.contains_key(&row.fault)) {
            return Err(CompareError::Unclear(row.fault.clone()));
        }
        let (all, done) = (faults.len() as u64, AtomicU64::new(0));
        let simulated = simulate(target, &faults.values().collect::<Vec<_>>(), self.jobs, self.stop, &|| {
            (self.progress)(Progress::Simulated(done.fetch_add(1, Ordering::Relaxed) + 1, all));
        })?;
        let criteria = self.target.criteria();
        Ok(rows.iter().filter_map(|row| Some(row.again(simulated.get(&row.fault)?, &criteria))).collect())
    }
}
