//! The head of a plan: of what, by what configuration, and how much it is.

use serde::{Deserialize, Serialize};

use super::error::FORMAT;
use crate::config::{Choices, Config, Shard};
use crate::strata::StrataSize;
use crate::sweep::{Sweep, SweepSize};
use crate::target::{Stratum, TargetSystem};

/// The first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Head {
    format: String,
    /// The digest of the target that planned.
    pub(crate) digest: String,
    /// The part of the campaign that is planned here.
    pub(crate) shard: Shard,
    /// How many lines follow.
    pub(crate) lines: u64,
    /// The size of the whole of an exhaustive campaign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sweep: Option<SweepSize>,
    /// The size of the strata of a campaign that has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) strata: Option<StrataSize>,
    /// What the sites follow from, so that a configuration changed afterwards is noticed.
    pub(crate) config: Choices,
}

impl Head {
    pub(crate) fn new(config: &Config, digest: &str, sweep: Option<SweepSize>, strata: Option<StrataSize>) -> Self {
        Self {
            format: FORMAT.to_owned(),
            digest: digest.to_owned(),
            shard: config.shard,
            lines: config.shard.share_of(config.planned()),
            sweep,
            strata,
            config: Choices::from(&config.unsharded()),
        }
    }

    pub(super) fn of(config: &Config, target: TargetSystem<'_>, sweep: Option<&Sweep>, strata: &[Stratum]) -> Self {
        let size = sweep.map(|sweep| sweep.size(Shard::WHOLE));
        Self::new(config, target.subject.digest(), size, StrataSize::of(strata))
    }

    pub(super) fn is_current(&self) -> bool {
        self.format == FORMAT
    }

    /// How many runs, or units of an exhaustive campaign, the shard has.
    pub(crate) fn positions(&self) -> u64 {
        self.sweep.map_or(self.lines, |size| self.shard.share_of(size.units))
    }
}
