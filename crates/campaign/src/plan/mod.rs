//! The work list on disk: written whole before the first run, read in pieces by the workers.
//!
//! One line of JSON heads the file and says how many lines follow; each of those is one run, `[index, site]`. Lines
//! are found by their offsets, so a plan of millions of runs is not held in memory. A plan that is cut short is
//! recognised by its count.
//!
//! What an exhaustive campaign runs follows from its configuration; its plan is the head alone, which says how much
//! that is, so that a target which would run something else is noticed.

mod error;
mod file;
mod head;
mod lines;

use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;

use crate::config::{Config, Size};
use crate::files::Replacement;
use crate::site::{Label, LabelColumn, LabelKind, RunIndex, Site};
use crate::sweep::Sweep;
use crate::target::{Stratum, TargetSystem};

pub use error::PlanError;
use file::{Lines, write_line};
pub(crate) use head::Head;
pub(crate) use lines::PlanLines;

/// Runs planned at a time: enough to spread the target's overhead, little enough to hold.
const CHUNK: u64 = 4096;

/// What there is to run, if the campaign is exhaustive.
pub(crate) fn sweep(config: &Config, target: TargetSystem<'_>) -> Result<Option<Sweep>, PlanError> {
    let exhaustive = config.size == Size::Exhaustive;
    exhaustive.then(|| target.planner.sweep(&config.selection)).transpose().map_err(PlanError::Target)
}

/// Writes the plan of a shard into `file`, which is not finished yet.
pub(crate) fn write(
    file: &mut Replacement,
    config: &Config,
    target: TargetSystem<'_>,
    sweep: Option<&Sweep>,
    strata: &[Stratum],
) -> Result<(), PlanError> {
    let head = Head::of(config, target, sweep, strata);
    write_line(file, &head)?;
    each(&head, config, target, strata, &mut |run, site| write_line(file, &(run, site)))
}

/// Plans the runs of a shard, one after the other.
fn each(
    head: &Head,
    config: &Config,
    target: TargetSystem<'_>,
    strata: &[Stratum],
    take: &mut dyn FnMut(RunIndex, Site) -> Result<(), PlanError>,
) -> Result<(), PlanError> {
    let mut from = 0;
    while from < head.lines {
        let to = head.lines.min(from + CHUNK);
        let runs: Vec<RunIndex> = (from..to).map(|position| RunIndex(head.shard.run_at(position))).collect();
        let sites = target.planner.plan(&runs, &config.selection, config.seed).map_err(PlanError::Target)?;
        if sites.len() != runs.len() {
            return Err(PlanError::Count { asked: runs.len(), found: sites.len() });
        }
        for (run, site) in runs.into_iter().zip(sites) {
            check_stratum((&run, &site), strata)?;
            check_labels((&run, &site), target.planner.labels())?;
            take(run, site)?;
        }
        from = to;
    }
    Ok(())
}

/// Checks that a run was drawn from the stratum that is its turn.
fn check_stratum((run, site): (&RunIndex, &Site), strata: &[Stratum]) -> Result<(), PlanError> {
    let expected = (!strata.is_empty()).then(|| (run.0 % strata.len() as u64) as u32);
    if site.stratum == expected {
        return Ok(());
    }
    Err(PlanError::Strata(format!("run {run} is drawn from {:?} instead of {expected:?}", site.stratum)))
}

/// Checks that a site has a value, or none, for each label that its target declares, and stands for something.
fn check_labels((run, site): (&RunIndex, &Site), columns: &[LabelColumn]) -> Result<(), PlanError> {
    let wrong = |what: String| Err(PlanError::Site(format!("the site of run {run} {what}")));
    let labels = site.labels.all();
    if labels.len() != columns.len() {
        return wrong(format!("has {} labels, and {} are declared", labels.len(), columns.len()));
    }
    let fits = |label: &Label, column: &LabelColumn| match label {
        Label::Number(_) => column.kind == LabelKind::Number,
        Label::Text(_) => column.kind == LabelKind::Text,
        Label::None => true,
    };
    match labels.iter().zip(columns).find(|(label, column)| !fits(label, column)) {
        Some((_, column)) => wrong(format!("has a `{}` that is no {}", column.name, column.kind)),
        None if site.weight == 0 => wrong("weighs nothing".to_owned()),
        None => Ok(()),
    }
}

/// Writes the plan of a whole campaign from those of its shards, which stand in the order of their numbers: the
/// same bytes that one machine would have written.
pub(crate) fn write_merged(file: &mut Replacement, head: &Head, shards: &[&Plan]) -> Result<(), PlanError> {
    write_line(file, head)?;
    let mut readers = shards.iter().map(|plan| plan.reader()).collect::<Result<Vec<_>, _>>()?;
    for run in 0..head.lines {
        let count = readers.len() as u64;
        let Some(reader) = readers.get_mut((run % count) as usize) else {
            continue;
        };
        for line in reader.sites(run / count..run / count + 1)? {
            write_line(file, &line)?;
        }
    }
    Ok(())
}

/// A plan that is whole.
#[derive(Debug)]
pub(crate) struct Plan {
    head: Head,
    kept: SitesPlace,
}

/// The place of the sites of a plan.
#[derive(Debug)]
enum SitesPlace {
    File(Lines),
    Memory(Vec<Site>),
}

impl Plan {
    /// Opens the plan at `path`, which must be whole.
    pub(crate) fn open(path: PathBuf) -> Result<Self, PlanError> {
        let (head, lines) = Lines::open(path)?;
        Ok(Self { head, kept: SitesPlace::File(lines) })
    }

    /// Plans a campaign that is not kept on disk.
    pub(crate) fn in_memory(
        config: &Config,
        target: TargetSystem<'_>,
        sweep: Option<&Sweep>,
        strata: &[Stratum],
    ) -> Result<Self, PlanError> {
        let (head, mut sites) = (Head::of(config, target, sweep, strata), Vec::new());
        each(&head, config, target, strata, &mut |_, site| {
            sites.push(site);
            Ok(())
        })?;
        Ok(Self { head, kept: SitesPlace::Memory(sites) })
    }

    pub(crate) fn head(&self) -> &Head {
        &self.head
    }

    /// A reader of its own for one worker.
    pub(crate) fn reader(&self) -> Result<PlanReader<'_>, PlanError> {
        let pieces = match &self.kept {
            SitesPlace::File(lines) => Pieces::File(lines, lines.file()?),
            SitesPlace::Memory(sites) => Pieces::Memory(sites),
        };
        Ok(PlanReader { head: &self.head, pieces })
    }
}

/// Reads pieces of a plan.
#[derive(Debug)]
pub(crate) struct PlanReader<'a> {
    head: &'a Head,
    pieces: Pieces<'a>,
}

#[derive(Debug)]
enum Pieces<'a> {
    File(&'a Lines, File),
    Memory(&'a [Site]),
}

impl PlanReader<'_> {
    /// The runs at these positions of the shard, and their sites.
    pub(crate) fn sites(&mut self, positions: Range<u64>) -> Result<Vec<(RunIndex, Site)>, PlanError> {
        positions.map(|position| self.site(position)).collect()
    }

    fn site(&mut self, position: u64) -> Result<(RunIndex, Site), PlanError> {
        let run = RunIndex(self.head.shard.run_at(position));
        let site = match &mut self.pieces {
            Pieces::File(lines, file) => lines.read(file, position, run)?,
            Pieces::Memory(sites) => {
                let planned = usize::try_from(position).ok().and_then(|position| sites.get(position));
                planned.cloned().ok_or_else(|| PlanError::Site(format!("there is no site for run {run}")))?
            }
        };
        Ok((run, site))
    }
}
