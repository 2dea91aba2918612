//! What some of the runs came to: those of the campaign, a kernel, a group, a line, a stratum.

use serde::{Deserialize, Serialize};

/// Something for each class of landed runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcomes<T> {
    /// Masked.
    pub masked: T,
    /// Silent data corruption.
    pub sdc: T,
    /// Detected unrecoverable error.
    pub due: T,
    /// Landed, and not known: the application saw a difference, and was not asked. Every other rate lies between that of none and
    /// that of all of these.
    #[serde(default)]
    pub undecided: T,
}

/// A rate over landed runs and the interval that bounds it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// How many runs.
    pub count: u64,
    /// Their share of landed runs, or of the weight of landed faults, or the estimate by strata; absent (`null`) while
    /// there are none.
    pub rate: Option<f64>,
    /// The lower bound; where runs are undecided, that of the rate if none of them counts.
    pub low: f64,
    /// The upper bound; where runs are undecided, that of the rate if all of them count.
    pub high: f64,
}

impl Default for Rate {
    /// That of nothing.
    fn default() -> Self {
        Self { count: 0, rate: Some(0.0), low: 0.0, high: 0.0 }
    }
}

/// The account of some of the runs: runs = outcomes + not landed + failed.
///
/// Faults of an exhaustive campaign that failed are in no such account: a unit that could not be run does not say what
/// it would have hit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// All of them.
    pub runs: u64,
    /// Those that hit nothing.
    pub not_landed: u64,
    /// Those that could not be made.
    pub failed: u64,
    /// Those that landed.
    pub outcomes: Outcomes<u64>,
    /// The rates of the outcomes among those that landed, by weight where faults have weights; absent while none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<Outcomes<f64>>,
    /// What bounds each rate, at the confidence of the campaign's rates; of an exhaustive campaign, the rate itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Outcomes<RateBounds>>,
    /// Of a campaign that judges its outputs, the silent corruptions that no criterion accepts: see
    /// [`Summary::bad`](super::Summary::bad).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bad: Option<Rate>,
}

/// The bounds of a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RateBounds {
    /// The lower one.
    pub low: f64,
    /// The upper one.
    pub high: f64,
}

/// The account of a stratum, and what it stands for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StratumAccount {
    /// Its name.
    pub name: String,
    /// Members of the population.
    pub members: u64,
    /// Its share of the population.
    pub weight: f64,
    /// Its account; rates and intervals are of the stratum alone.
    #[serde(flatten)]
    pub account: Account,
}

/// The account of the runs that share a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedAccount {
    /// The name.
    pub name: String,
    /// Their account.
    #[serde(flatten)]
    pub account: Account,
}

/// The account of the runs that share a source line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineAccount {
    /// The file; absent (`null`) for instructions without a line.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// Their account.
    #[serde(flatten)]
    pub account: Account,
}
