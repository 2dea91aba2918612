//! Joining the shards of a campaign into what one machine would have made.
//!
//! The result is an ordinary campaign that is not divided. Killed half-way, it is an interrupted one, and resuming
//! it makes the missing rows again, the same as those that were not copied.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::config::{Choices, Config, ConfigError, OptionWords, Shard};
use crate::plan::{self, Head, Plan, PlanError};
use crate::store::{Origin, Results, Rows, StoreError, lay_out, plan_path, rows_path, summarise};
use crate::summary::Summary;
use crate::sweep::{SweepSize, SweptOperand};

/// Why shards cannot be joined.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// Nothing to join.
    #[error("merge no directories: name the directory of each shard")]
    Nothing,
    /// A directory cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A plan cannot be read or written.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The configuration of the whole cannot be made.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Two directories are of different campaigns.
    #[error(
        "merge {first} with {other}: {what} differ, so they are not of one campaign; \
         merge shards started with the same choices"
    )]
    Different {
        /// A directory.
        first: PathBuf,
        /// Another.
        other: PathBuf,
        /// The part that differs.
        what: String,
    },
    /// Two directories hold the same shard.
    #[error("merge {first} with {other}: both hold shard {shard}; leave one of them out")]
    Overlap {
        /// A directory.
        first: PathBuf,
        /// Another.
        other: PathBuf,
        /// Their shard.
        shard: Shard,
    },
    /// Not all shards are there.
    #[error(
        "merge {found} of {count} shards: {} missing; run what is missing, or name its directories too",
        list(missing)
    )]
    Missing {
        /// How many shards are there.
        found: usize,
        /// How many there should be.
        count: u32,
        /// Those that are not.
        missing: Vec<Shard>,
    },
    /// A shard is not finished.
    #[error("merge {dir}: {remaining} of its runs are still to be made; finish it with `beamline resume {dir}` first")]
    Unfinished {
        /// The directory.
        dir: PathBuf,
        /// How many runs it lacks.
        remaining: u64,
    },
}

fn list(shards: &[Shard]) -> String {
    let names: Vec<String> = shards.iter().map(ToString::to_string).collect();
    format!("{} {}", names.join(", "), if names.len() == 1 { "is" } else { "are" })
}

/// Joins the shards in `dirs`, in any order, into a campaign in `out`.
///
/// # Errors
/// When the directories are not exactly the finished shards of one campaign, or `out` holds a campaign already.
pub fn merge(dirs: &[PathBuf], out: &Path) -> Result<Summary, MergeError> {
    let mut shards = dirs.iter().map(|dir| Part::open(dir)).collect::<Result<Vec<_>, _>>()?;
    shards.sort_by_key(Part::shard);
    let Some(first) = shards.first() else {
        return Err(MergeError::Nothing);
    };
    check_same(first, &shards)?;
    check_complete(&shards)?;
    for shard in &shards {
        shard.check_finished()?;
    }
    let config = whole(first.results.config())?;
    let plans: Vec<&Plan> = shards.iter().map(|shard| &shard.plan).collect();
    let sweep = first.plan.head().sweep;
    let head = Head::new(&config, &first.origin.digest, sweep, first.plan.head().strata);
    let (_, _lock) = lay_out(out, &config, |file| plan::write_merged(file, &head, &plans))?;
    let mut origin = first.origin.clone();
    if let (Some(outline), Some(size)) = (&mut origin.outline, sweep) {
        outline.size = size;
    }
    let mut rows = Rows::open(rows_path(out, config.shard), &origin)?;
    for shard in &shards {
        rows.append(shard.results.rows())?;
    }
    Ok(summarise(Some(out), &config, &rows, None)?)
}

/// One shard to be joined.
struct Part {
    dir: PathBuf,
    results: Results,
    plan: Plan,
    origin: Origin,
}

impl Part {
    fn open(dir: &Path) -> Result<Self, MergeError> {
        let results = Results::open(dir)?;
        let plan = Plan::open(plan_path(dir))?;
        let origin = results.rows().origin()?;
        if *plan.head() != Head::new(results.config(), &origin.digest, plan.head().sweep, plan.head().strata) {
            return Err(StoreError::Changed { dir: dir.to_owned() }.into());
        }
        Ok(Self { dir: dir.to_owned(), results, plan, origin })
    }

    fn shard(&self) -> Shard {
        self.results.config().shard
    }

    /// What all shards of an exhaustive campaign have in common.
    fn swept(&self) -> (Option<SweepSize>, Option<&[SweptOperand]>) {
        (self.plan.head().sweep, self.origin.outline.as_ref().map(|outline| &outline.operands[..]))
    }

    fn dir(&self) -> PathBuf {
        self.dir.clone()
    }

    /// Every run or unit of the shard has its row, and no row is of another shard.
    fn check_finished(&self) -> Result<(), MergeError> {
        let pending = self.results.rows().pending(self.shard(), 0..self.plan.head().positions())?;
        match self.results.summary()?.remaining {
            Some(remaining) if !pending.is_empty() => Err(MergeError::Unfinished { dir: self.dir(), remaining }),
            _ => Ok(()),
        }
    }
}

fn check_same(first: &Part, shards: &[Part]) -> Result<(), MergeError> {
    for other in shards {
        let what = if first.origin.digest != other.origin.digest {
            "the digests of their capsules".to_owned()
        } else if first.results.config().unsharded() != other.results.config().unsharded() {
            format!("their configurations{}", differing_keys(first.results.config(), other.results.config()))
        } else if first.swept() != other.swept() {
            "the faults that they found to run".to_owned()
        } else if first.origin.strata != other.origin.strata {
            "the strata that they found".to_owned()
        } else if first.shard().count() != other.shard().count() {
            "their numbers of shards".to_owned()
        } else {
            continue;
        };
        return Err(MergeError::Different { first: first.dir(), other: other.dir(), what });
    }
    Ok(())
}

/// The keys of two configurations that have not the same values, in brackets.
fn differing_keys(one: &Config, other: &Config) -> String {
    let entries = |config: &Config| Choices::from(&config.unsharded()).entries();
    let (one, other) = (entries(one), entries(other));
    let only = |these: &[OptionWords], those: &[OptionWords]| -> BTreeSet<&'static str> {
        these.iter().filter(|entry| !those.contains(entry)).map(|entry| entry.key).collect()
    };
    let keys = &only(&one, &other) | &only(&other, &one);
    let keys: Vec<String> = keys.into_iter().map(|key| format!("`{key}`")).collect();
    if keys.is_empty() { String::new() } else { format!(" ({})", keys.join(", ")) }
}

/// Exactly the shards 1 to n, once each; they are sorted.
fn check_complete(shards: &[Part]) -> Result<(), MergeError> {
    if let Some([one, two]) =
        shards.windows(2).find(|pair| pair[0].shard() == pair[1].shard()).map(|pair| [&pair[0], &pair[1]])
    {
        return Err(MergeError::Overlap { first: one.dir(), other: two.dir(), shard: one.shard() });
    }
    let count = shards.first().map_or(0, |shard| shard.shard().count());
    let present = |shard: &Shard| shards.iter().any(|part| part.shard() == *shard);
    let missing: Vec<Shard> =
        (1..=count).filter_map(|number| Shard::new(number, count)).filter(|shard| !present(shard)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(MergeError::Missing { found: shards.len(), count, missing })
}

/// The configuration of the campaign that is not divided.
fn whole(config: &Config) -> Result<Config, ConfigError> {
    Choices { shard: None, jobs: None, memory: None, seconds: None, ..Choices::from(config) }.settle()
}
