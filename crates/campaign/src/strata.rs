//! A campaign in strata: the population is divided, and the runs take turns in its parts.
//!
//! Run i belongs to stratum i mod K, so that every stratum gets as many runs as any other, a shard needs to know nothing
//! of others, and no row has to say which stratum it is of. How the rates follow is for [`stats::Stratified`] to say: a
//! stratum weighs its share of the members of the population.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::plan::PlanError;
use crate::target::{Stratum, TargetSystem};

/// The most strata that a campaign may have: more would hardly get a run each.
pub const MAX_STRATA: usize = 4096;

/// The size of the strata: what a plan remembers of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StrataSize {
    pub(crate) strata: u64,
    pub(crate) members: u64,
}

impl StrataSize {
    /// Of these strata; `None` if there are none.
    pub(crate) fn of(strata: &[Stratum]) -> Option<Self> {
        let members = strata.iter().fold(0, |sum: u64, stratum| sum.saturating_add(stratum.members));
        (!strata.is_empty()).then_some(Self { strata: strata.len() as u64, members })
    }
}

/// The strata of a campaign, as its target gives them; none if it has none.
pub(crate) fn strata_of(config: &Config, target: TargetSystem<'_>) -> Result<Vec<Stratum>, PlanError> {
    if config.selection.stratify.is_none() {
        return Ok(Vec::new());
    }
    let strata = target.planner.strata(&config.selection).map_err(PlanError::Target)?;
    let wrong = |what: String| Err(PlanError::Strata(what));
    let mut names = BTreeSet::new();
    if strata.is_empty() || strata.len() > MAX_STRATA {
        return wrong(format!("there are {}, and from 1 to {MAX_STRATA} can be sampled", strata.len()));
    }
    for Stratum { name, members } in &strata {
        // SQLite's integers are signed.
        if *members == 0 || i64::try_from(*members).is_err() {
            return wrong(format!("`{name}` has {members} members"));
        }
        if !names.insert(name) {
            return wrong(format!("two are called `{name}`"));
        }
    }
    Ok(strata)
}
