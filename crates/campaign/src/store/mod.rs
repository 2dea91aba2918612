//! The directory of a campaign, and how it comes to be in steps each of which may be the last.
//!
//! ```text
//! DIR/campaign.toml               the effective configuration; its presence makes DIR a campaign
//! DIR/plan                        the work list of this shard
//! DIR/shard-<k>-of-<n>.sqlite     the rows of this shard
//! DIR/summary.json                what they come to
//! ```
//!
//! Of an exhaustive campaign, `plan` is the totals alone, and the database holds units and their tally for rows.
//!
//! The files appear in this order, each whole or not at all. Killed before `campaign.toml` is there, nothing has
//! happened; after it, whatever is missing follows from it and from the target, and [`Store::resume`] makes it.
//! Killed while rows are written, the last batch is either in the database or not.
//!
//! A campaign in memory has plan and rows there, and no directory.
//!
//! One process at a time writes: it holds the lock on `campaign.toml`. Each shard has a directory of its own.

mod columns;
mod decode;
mod directory;
mod encode;
mod error;
mod file;
mod labels;
mod origin;
mod planned;
mod query;
mod races;
mod registers;
mod results;
mod row;
mod rows;
mod scan;
mod schema;
mod strata;
mod swept;
mod table;
mod unit;
mod units;
mod values;
mod view;

use std::fs;
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use crate::config::{Bytes, Choices, Config, Shard};
use crate::files::{Lock, Replacement, replace};
use crate::plan::{self, Head, Plan, PlanError};
use crate::strata::{StrataSize, strata_of};
use crate::summary::Summary;
use crate::sweep::Sweep;
use crate::target::{MemoryUse, Stratum, TargetSystem};
use directory::{config_path, kept_memory, missing_or, summary_path};
use planned::plan_beside;

pub use columns::Column;
pub use directory::read_config;
pub(crate) use directory::{plan_path, rows_path};
pub use error::StoreError;
pub(crate) use file::Rows;
pub(crate) use origin::{Origin, Session};
pub(crate) use query::{By, Count};
pub use results::Results;
pub use row::{Finding, Row};
pub(crate) use scan::RowCounts;
pub use table::Value;
pub(crate) use unit::{Packed, Unit};
pub use view::{Ending, RowView};

/// A campaign, open for running: in its directory, or in memory.
#[derive(Debug)]
pub struct Store {
    /// Its directory, and what locks it; none if it is in memory.
    place: Option<(PathBuf, Lock)>,
    config: Config,
    plan: Plan,
    /// What there is to run, if the campaign is exhaustive.
    sweep: Option<Sweep>,
    rows: Rows,
}

impl Store {
    /// Makes a campaign in `dir`: plans it and writes the plan, ready for its first run.
    ///
    /// # Errors
    /// When there is a campaign already, the target does not offer the engine or cannot plan what is selected, or the directory cannot be
    /// written; nothing is left behind then.
    pub fn create<'t>(dir: &Path, config: Config, target: impl Into<TargetSystem<'t>>) -> Result<Self, StoreError> {
        let target = target.into();
        config.engine.among(target.engines.offered())?;
        let (mut sweep, mut strata) = (None, Vec::new());
        let (plan, lock) = lay_out(dir, &config, |file| {
            (sweep, strata) = (plan::sweep(&config, target)?, strata_of(&config, target)?);
            plan::write(file, &config, target, sweep.as_ref(), &strata)
        })?;
        let rows = open_rows(dir, &config, target, sweep.as_ref(), strata)?;
        Ok(Self { place: Some((dir.to_owned(), lock)), config, plan, sweep, rows })
    }

    /// Opens the campaign in `dir` to go on with it, however it ended.
    ///
    /// # Errors
    /// When there is no campaign, another process runs it, the target or the configuration is not the one that was
    /// planned, or a file is damaged.
    pub fn resume<'t>(dir: &Path, target: impl Into<TargetSystem<'t>>) -> Result<Self, StoreError> {
        let target = target.into();
        let lock = lock_campaign(dir)?;
        let config = read_config(dir)?;
        Rows::check_version(&rows_path(dir, config.shard))?;
        config.engine.among(target.engines.offered())?;
        let lost = !plan_path(dir).exists();
        let (plan, sweep, strata) = find_plan(dir, &config, target)?;
        let rows = open_rows(dir, &config, target, sweep.as_ref(), strata.clone())?;
        if lost && !is_plan_of(&plan, &rows, &config)? {
            let path = plan_path(dir);
            fs::remove_file(&path).map_err(|source| StoreError::File { path, source })?;
            return Err(StoreError::Changed { dir: dir.to_owned() });
        }
        let origin = rows.origin()?;
        same_digest(dir, &origin.digest, target.subject.digest())?;
        let same_operands =
            origin.outline.as_ref().zip(sweep.as_ref()).is_none_or(|(of, is)| of.operands == is.operands);
        if origin.strata != strata || !same_operands {
            return Err(StoreError::OtherSweep { dir: dir.to_owned() });
        }
        Ok(Self { place: Some((dir.to_owned(), lock)), config, plan, sweep, rows })
    }

    /// Goes on with the campaign in `dir`, or makes it where none was begun: one that was killed before `campaign.toml` was
    /// there has not begun.
    ///
    /// # Errors
    /// As [`create`](Self::create) and [`resume`](Self::resume), and when the campaign that is there has another
    /// configuration, so that its rows are others.
    pub fn make<'t>(dir: &Path, config: Config, target: impl Into<TargetSystem<'t>>) -> Result<Self, StoreError> {
        let target = target.into();
        match read_config(dir) {
            Err(StoreError::Missing { .. }) => return Self::create(dir, config, target),
            Err(error) => return Err(error),
            Ok(found) if found.unsharded() != config.unsharded() => {
                return Err(StoreError::OtherConfig { dir: dir.to_owned(), key: first_other(&found, &config) });
            }
            Ok(_) => {}
        }
        let mut store = Self::resume(dir, target)?;
        store.set_jobs(config.jobs);
        store.set_memory(config.memory);
        Ok(store)
    }

    /// Makes a campaign that is kept in memory only, ready for its first run; nothing is written anywhere.
    ///
    /// # Errors
    /// When the target does not offer the engine or cannot plan what is selected.
    pub fn in_memory<'t>(config: Config, target: impl Into<TargetSystem<'t>>) -> Result<Self, StoreError> {
        let target = target.into();
        config.engine.among(target.engines.offered())?;
        let (sweep, strata) = (plan::sweep(&config, target)?, strata_of(&config, target)?);
        let plan = Plan::in_memory(&config, target, sweep.as_ref(), &strata)?;
        let rows = Rows::in_memory(&origin(&config, target, sweep.as_ref(), strata))?;
        Ok(Self { place: None, config, plan, sweep, rows })
    }

    /// The directory; none of a campaign in memory.
    #[must_use]
    pub fn dir(&self) -> Option<&Path> {
        self.place.as_ref().map(|(dir, _)| dir.as_path())
    }

    /// What was run so far, to be read.
    #[must_use]
    pub fn into_results(self) -> Results {
        Results::of(self.place.map(|(dir, _)| dir), self.config, self.rows)
    }

    /// The effective configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Runs with another number of workers from here on; results do not depend on it.
    pub fn set_jobs(&mut self, jobs: Option<NonZeroU32>) {
        self.config.jobs = jobs;
    }

    /// Lets the campaign keep this much in memory from now on.
    pub fn set_memory(&mut self, memory: Option<Bytes>) {
        self.config.memory = memory;
    }

    /// What running needs, apart: workers read configuration and plan while the rows are written.
    pub(crate) fn parts(&mut self) -> (&Config, &Plan, Option<&Sweep>, &mut Rows) {
        (&self.config, &self.plan, self.sweep.as_ref(), &mut self.rows)
    }

    /// Summarises the rows, and keeps the summary in the directory, if there is one.
    pub(crate) fn summarise(&self, memory: Option<MemoryUse>) -> Result<Summary, StoreError> {
        summarise(self.dir(), &self.config, &self.rows, memory)
    }
}

/// Summarises the rows of a campaign, and keeps the summary in its directory, if it has one.
pub(crate) fn summarise(
    dir: Option<&Path>,
    config: &Config,
    rows: &Rows,
    memory: Option<MemoryUse>,
) -> Result<Summary, StoreError> {
    let mut summary = Summary::of(config, rows, &rows.scan(config, plan_beside(dir, config, rows)?, &mut |_| Ok(()))?)?;
    summary.speed.memory = memory.or_else(|| kept_memory(dir?));
    let Some(dir) = dir else { return Ok(summary) };
    let path = summary_path(dir);
    let json = summary.to_json().map_err(io::Error::from);
    let written = json.and_then(|json| replace(path.clone(), json.as_bytes()));
    written.map_err(|source| StoreError::File { path, source })?;
    if summary.remaining.is_none() {
        rows.seal();
    }
    Ok(summary)
}

/// Makes `dir` a campaign: configuration and plan. Returns the plan and the lock.
pub(crate) fn lay_out(
    dir: &Path,
    config: &Config,
    write_plan: impl FnOnce(&mut Replacement) -> Result<(), PlanError>,
) -> Result<(Plan, Lock), StoreError> {
    let created = !dir.exists();
    fs::create_dir_all(dir).map_err(|source| StoreError::Create { dir: dir.to_owned(), source })?;
    let laid_out = fill(dir, config, write_plan);
    if laid_out.is_err() && created {
        // What is not empty stays, so nothing but our own attempt can go.
        let _ = fs::remove_dir(dir);
    }
    laid_out
}

fn fill(
    dir: &Path,
    config: &Config,
    write_plan: impl FnOnce(&mut Replacement) -> Result<(), PlanError>,
) -> Result<(Plan, Lock), StoreError> {
    let (config_path, plan_path) = (config_path(dir), plan_path(dir));
    let fail = |path: &Path, source| StoreError::File { path: path.to_owned(), source };
    let mut config_file = Replacement::begin(config_path.clone()).map_err(|source| fail(&config_path, source))?;
    // Asked under the lock: of two processes that start here at once, one finds the other's campaign.
    let occupants = [&config_path, &plan_path, &rows_path(dir, config.shard)];
    if occupants.into_iter().any(|path| path.exists()) {
        return Err(StoreError::Occupied { dir: dir.to_owned() });
    }
    let text = config.to_toml().map_err(|source| StoreError::Config { path: config_path.clone(), source })?;
    config_file.write_all(text.as_bytes()).map_err(|source| fail(&config_path, source))?;
    // The plan is made before the configuration gets its name: a selection that selects nothing leaves no campaign.
    let mut plan_file = Replacement::begin(plan_path.clone()).map_err(|source| fail(&plan_path, source))?;
    write_plan(&mut plan_file)?;
    let lock = config_file.finish().map_err(|source| fail(&config_path, source))?;
    plan_file.finish().map_err(|source| fail(&plan_path, source))?;
    Ok((Plan::open(plan_path)?, lock))
}

/// Opens the plan in `dir`, or makes it where a kill came before it; either way it is the plan of this
/// configuration and target.
fn find_plan(
    dir: &Path,
    config: &Config,
    target: TargetSystem<'_>,
) -> Result<(Plan, Option<Sweep>, Vec<Stratum>), StoreError> {
    let path = plan_path(dir);
    if !path.exists() {
        let fail = |source| StoreError::File { path: path.clone(), source };
        let mut file = Replacement::begin(path.clone()).map_err(fail)?;
        let (sweep, strata) = (plan::sweep(config, target)?, strata_of(config, target)?);
        plan::write(&mut file, config, target, sweep.as_ref(), &strata)?;
        file.finish().map_err(fail)?;
    }
    let plan = Plan::open(path)?;
    let head = plan.head();
    same_digest(dir, &head.digest, target.subject.digest())?;
    if *head != Head::new(config, target.subject.digest(), head.sweep, head.strata) {
        return Err(StoreError::Changed { dir: dir.to_owned() });
    }
    let (sweep, strata) = (plan::sweep(config, target)?, strata_of(config, target)?);
    let (expected, found) = (head.sweep, sweep.as_ref().map(|sweep| sweep.size(Shard::WHOLE)));
    if expected != found || head.strata != StrataSize::of(&strata) {
        return Err(StoreError::OtherSweep { dir: dir.to_owned() });
    }
    Ok((plan, sweep, strata))
}

/// Whether the rows that there are already are of the runs of a plan that was made again.
fn is_plan_of(plan: &Plan, rows: &Rows, config: &Config) -> Result<bool, StoreError> {
    let (mut reader, mut found) = (plan.reader()?, Ok(true));
    rows.visit(config, &mut |row| {
        if let (Ok(true), Some(position)) = (&found, config.shard.position_of(row.run.0)) {
            let planned = reader.sites(position..position + 1);
            found = planned.map(|sites| sites.iter().all(|(_, site)| site.intent == row.site.intent));
        }
    })?;
    Ok(found?)
}

/// Opens the rows of the campaign in `dir`, or makes their file.
fn open_rows(
    dir: &Path,
    config: &Config,
    target: TargetSystem<'_>,
    sweep: Option<&Sweep>,
    strata: Vec<Stratum>,
) -> Result<Rows, StoreError> {
    Rows::open(rows_path(dir, config.shard), &origin(config, target, sweep, strata))
}

/// What the rows of a campaign are of.
fn origin(config: &Config, target: TargetSystem<'_>, sweep: Option<&Sweep>, strata: Vec<Stratum>) -> Origin {
    let outline = sweep.map(|sweep| sweep.outline(config.shard));
    Origin { strata, registers: target.planner.registers(&config.selection), ..Origin::of(target, outline) }
}

/// The first key that two configurations say differently.
fn first_other(found: &Config, wanted: &Config) -> String {
    let entries = |config: &Config| Choices::from(&config.unsharded()).entries();
    let (found, wanted) = (entries(found), entries(wanted));
    let other =
        wanted.iter().find(|entry| !found.contains(entry)).or(found.iter().find(|entry| !wanted.contains(entry)));
    other.map_or_else(String::new, |entry| entry.key.to_owned())
}

fn same_digest(dir: &Path, expected: &str, found: &str) -> Result<(), StoreError> {
    if expected == found {
        return Ok(());
    }
    Err(StoreError::OtherTarget { dir: dir.to_owned(), expected: expected.to_owned(), found: found.to_owned() })
}

fn lock_campaign(dir: &Path) -> Result<Lock, StoreError> {
    let path = config_path(dir);
    Lock::take(&path).map_err(|source| missing_or(dir, &path, source))
}
