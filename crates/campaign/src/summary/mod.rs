//! What a campaign came to, as the document `beamline.summary/1`.
//!
//! Computed from the rows alone. Everything but `speed` (and the seconds of the golden run) is the same however
//! many workers or shards made the rows.
//!
//! Of an exhaustive campaign the runs are its faults. They are all there are, so a rate is a number and no estimate:
//! its bounds are the rate itself. A fault counts by its weight (see [`sweep`](crate::sweep)), so that a sampled
//! campaign over the same selection estimates this very rate.

mod account;
mod compute;
mod estimate;
mod registers;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::config::Choices;
use crate::race::DataRace;
use crate::target::{GoldenSummary, MemoryUse};

pub use account::{Account, LineAccount, NamedAccount, Outcomes, Rate, RateBounds, StratumAccount};
pub(crate) use estimate::Estimator;
pub use registers::{Avf, Factor, KernelFile, RegisterFile};

/// The format of the document.
pub const SUMMARY_FORMAT: &str = "beamline.summary/1";

/// What a campaign came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// [`SUMMARY_FORMAT`].
    pub format: String,
    /// What was irradiated.
    pub capsule: SubjectId,
    /// The effective configuration, without `jobs` and `memory`.
    pub config: Choices,
    /// The seed.
    pub seed: u64,
    /// The size of the fault-free run.
    pub golden: GoldenSummary,
    /// The data races of the fault-free run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub races: Vec<DataRace>,
    /// How far data races were looked for, in words; absent if everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub races_unsearched: Option<String>,
    /// The account of all runs.
    pub runs: Runs,
    /// Runs still to be made; absent from a finished campaign. For one that stops by margin, at most this many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining: Option<u64>,
    /// For a campaign that stops by margin, how its intervals are to be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping: Option<Stopping>,
    /// For an exhaustive campaign, what it consists of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exhaustive: Option<Exhaustive>,
    /// The rates.
    pub outcomes: Outcomes<Rate>,
    /// Of a campaign that judges its outputs, the silent corruptions that no criterion accepts, as a share of what landed:
    /// the kinds `bad`, `detectable` and, where an output has no criterion, `unjudged`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bad: Option<Rate>,
    /// For a campaign with strata, each of them by itself; the rates are those of the population that they make up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strata: Vec<StratumAccount>,
    /// Masked runs by kind.
    pub masked: BTreeMap<String, u64>,
    /// Silent corruptions by kind.
    pub sdc: BTreeMap<String, u64>,
    /// Detected unrecoverable errors by kind.
    pub due: BTreeMap<String, u64>,
    /// Of the runs that did not land, those that the method which chooses sites gave up when it planned them, by the
    /// reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub given_up: BTreeMap<String, u64>,
    /// Landed runs in which the host could have seen a difference before the end.
    pub host_visible: u64,
    /// How many of those were judged with the host in the loop; in the others it was assumed to act as in the golden
    /// run.
    #[serde(default, skip_serializing_if = "is_none")]
    pub resolved: u64,
    /// The account of each kernel.
    pub by_kernel: Vec<NamedAccount>,
    /// For a campaign that hits registers, how vulnerable that makes the register file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub register_file: Option<RegisterFile>,
    /// The account of each instruction group.
    pub by_group: Vec<NamedAccount>,
    /// The account of each source line, first of instructions without one.
    pub by_line: Vec<LineAccount>,
    /// How fast it went.
    pub speed: Speed,
}

/// Whether a count is left out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// What was irradiated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubjectId {
    /// Its name.
    pub name: String,
    /// Its digest.
    pub digest: String,
}

/// planned = landed + not landed + failed, and the remaining ones of an unfinished campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runs {
    /// All runs; for a campaign that stopped by margin, those up to the look at which it stopped.
    pub planned: u64,
    /// Runs whose fault hit something: the base of all rates.
    pub landed: u64,
    /// Runs whose fault hit nothing.
    pub not_landed: u64,
    /// Runs that could not be made.
    pub failed: u64,
}

/// The stopping rule of a campaign that stops by margin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stopping {
    /// How many looks there are at most.
    pub looks: u64,
    /// The level of each interval, at which all of them hold together at the stated confidence.
    pub level: f64,
    /// The stated confidence.
    #[serde(default)]
    pub confidence: f64,
    /// The margin that is asked for.
    #[serde(default)]
    pub margin: f64,
    /// Which rates have to be within it: `overall` or `kernel`.
    #[serde(default)]
    pub by: String,
    /// After how many runs it ends, whatever is reached.
    #[serde(default)]
    pub at_most: u64,
    /// The largest distance of a bound from one of these rates, as far as sampling goes.
    #[serde(default)]
    pub widest: f64,
    /// The same of bounds between which undecided runs are, too; absent where there are none. More runs do not bring it down to the
    /// margin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub widest_with_undecided: Option<f64>,
    /// Whether all of them are within the margin.
    #[serde(default)]
    pub reached: bool,
}

/// What an exhaustive campaign consists of; of a shard, what the shard does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exhaustive {
    /// Units of work.
    pub units: u64,
    /// Destinations of static instructions that are hit, over all shards.
    pub operands: u64,
    /// Dynamic instructions that are hit, over all shards.
    pub members: u64,
}

/// How fast it went: the only part that depends on the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Speed {
    /// The seconds of all stretches of work, added up, over all shards.
    pub seconds: f64,
    /// Runs in these seconds.
    pub runs_per_second: f64,
    /// The most workers at once in one process.
    pub jobs: u32,
    /// Runs by the path that the engine took; `delta` has those that stopped early, too.
    pub tiers: BTreeMap<String, u64>,
    /// Runs that ended before the output, since nothing differed any more, as a share of the runs that were made. Absent where
    /// none did, where the target system does not count them, and in exhaustive campaigns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_early: Option<Rate>,
    /// What the last stretch of work in one process kept in memory; absent where it kept nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryUse>,
}

impl Summary {
    /// The document.
    ///
    /// # Errors
    /// Never for a summary made from rows.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}
