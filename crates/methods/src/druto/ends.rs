//! Runs by their ends, and rates with bounds.

use campaign::{Finding, Results, StoreError};
use outcome::{Class, FirstUse};
use serde::{Deserialize, Serialize};
use stats::{Confidence, Interval, Proportion};
use std::collections::BTreeMap;

/// A measured rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rate {
    /// The runs that count.
    pub(super) count: u64,
    /// The runs that landed.
    pub(super) landed: u64,
}

impl Rate {
    /// The share; 0 where no run landed.
    pub(super) fn rate(self) -> f64 {
        self.count as f64 / self.landed.max(1) as f64
    }

    /// Its bounds (Wilson, 95 %).
    pub(super) fn bounds(self) -> Interval {
        Proportion::from_counts(self.count, self.landed - self.count).wilson(Confidence::PERCENT_95)
    }
}

/// How runs ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ends {
    /// Those that landed.
    pub(super) landed: u64,
    /// Of these, silent data corruptions.
    pub(super) sdc: u64,
    /// Of these, detected errors: crashes and hangs.
    pub(super) due: u64,
}

impl Ends {
    /// The rate of silent data corruption.
    pub(super) fn sdc(self) -> Rate {
        Rate { count: self.sdc, landed: self.landed }
    }

    /// The rate of detected errors.
    pub(super) fn due(self) -> Rate {
        Rate { count: self.due, landed: self.landed }
    }

    /// Adds other runs.
    pub(super) fn add(&mut self, more: Self) {
        self.landed += more.landed;
        self.sdc += more.sdc;
        self.due += more.due;
    }
}

/// The runs of a campaign in one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tally {
    /// All.
    pub(super) all: Ends,
    /// Those whose fault was read.
    pub(super) read: Ends,
    /// By static instruction.
    pub(super) pcs: BTreeMap<u32, Ends>,
    /// By the number of the run over a divisor, where a planner runs a number of faults in each of several cells.
    pub(super) cells: Vec<Ends>,
}

impl Tally {
    /// Counts the rows of a campaign with this number of runs in each cell.
    pub(super) fn of(results: &Results, each: u64) -> Result<Self, StoreError> {
        let mut tally = Self::default();
        results.visit(&mut |row| {
            let Finding::Seen { observation, outcome, .. } = &row.finding else { return };
            let class = outcome.class();
            if !class.has_landed() {
                return;
            }
            let end = Ends { landed: 1, sdc: u64::from(class == Class::Sdc), due: u64::from(class == Class::Due) };
            tally.all.add(end);
            if matches!(observation.first_use, FirstUse::Read { .. }) {
                tally.read.add(end);
            }
            tally.pcs.entry(row.site.spot.pc).or_default().add(end);
            let cell = (row.run.0 / each.max(1)) as usize;
            if tally.cells.len() <= cell {
                tally.cells.resize(cell + 1, Ends::default());
            }
            tally.cells[cell].add(end);
        })?;
        Ok(tally)
    }

    /// Adds the runs of another campaign on the same input; cells are not added.
    pub(super) fn add(&mut self, more: &Self) {
        self.all.add(more.all);
        self.read.add(more.read);
        more.pcs.iter().for_each(|(&pc, &ends)| self.pcs.entry(pc).or_default().add(ends));
    }
}
