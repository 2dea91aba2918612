//! What a running campaign tells: the only interface between the runner and whoever shows progress.

use stats::Decision;

use crate::site::RunIndex;
use crate::tally::Tally;
use crate::target::MemoryUse;

/// Something that happened, in the order in which it did. Rows that an event speaks of are durable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CampaignEvent<'a> {
    /// Work begins.
    Started {
        /// All runs of this shard, or all its faults if the campaign is exhaustive; for one that stops by margin, at most
        /// this many.
        planned: u64,
        /// Rows that are there already.
        tally: Tally,
        /// Workers.
        jobs: u32,
    },
    /// What the workers share was made.
    Prepared {
        /// What it takes.
        memory: &'a MemoryUse,
    },
    /// A run could not be made; its row says so, and the campaign goes on.
    RunFailed {
        /// Which run.
        run: RunIndex,
        /// Its fault.
        fault: &'a str,
        /// Why.
        error: &'a str,
    },
    /// A unit of an exhaustive campaign could not be run; its row says so, and the campaign goes on.
    UnitFailed {
        /// Which unit.
        unit: u64,
        /// How many faults it has; all of them failed.
        faults: u64,
        /// Why.
        error: &'a str,
    },
    /// Rows were written.
    Written {
        /// All rows so far.
        tally: Tally,
    },
    /// A campaign that stops by margin looked at its rates.
    Looked {
        /// Which look, from 1.
        look: u64,
        /// How many looks there are at most.
        looks: u64,
        /// Rows so far.
        runs: u64,
        /// The widest "±" among the rates.
        widest: f64,
        /// What was decided.
        decision: Decision,
    },
    /// Outputs of runs that were repeated after the campaign were compared by a command of the user.
    Compared {
        /// How many.
        done: u64,
        /// How many there are.
        all: u64,
    },
}
