//! The work list on disk: written whole before the first run, read in pieces by the workers.
//!
//! One line of JSON heads the file and says how many lines follow; each of those is one run, `[index, site]`. Lines
//! are found by their offsets, so a plan of millions of runs is not held in memory. A plan that is cut short is
//! recognised by its count.
//!
//! What an exhaustive campaign runs follows from its configuration; its plan is the head alone, which says how much
//! that is, so that a target which would run something else is noticed.

mod error;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::{Choices, Config, Shard, Size};
use crate::files::Replacement;
use crate::site::{Label, LabelColumn, LabelKind, RunIndex, Site};
use crate::strata::StrataExtent;
use crate::sweep::{Extent, Sweep};
use crate::target::{Stratum, Target};

use error::FORMAT;
pub use error::PlanError;

/// Runs planned at a time: enough to spread the target's overhead, little enough to hold.
const CHUNK: u64 = 4096;
/// The longest line that is read, so that a damaged plan cannot exhaust memory.
const MAX_LINE: u64 = 1 << 20;

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
    pub(crate) sweep: Option<Extent>,
    /// The size of the strata of a campaign that has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) strata: Option<StrataExtent>,
    /// What the sites follow from, so that a configuration changed afterwards is noticed.
    pub(crate) config: Choices,
}

impl Head {
    pub(crate) fn new(config: &Config, digest: &str, sweep: Option<Extent>, strata: Option<StrataExtent>) -> Self {
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

    /// How many runs, or units of an exhaustive campaign, the shard has.
    pub(crate) fn positions(&self) -> u64 {
        self.sweep.map_or(self.lines, |extent| self.shard.share_of(extent.units))
    }
}

/// What there is to run, if the campaign is exhaustive.
pub(crate) fn sweep(config: &Config, target: Target<'_>) -> Result<Option<Sweep>, PlanError> {
    let exhaustive = config.size == Size::Exhaustive;
    exhaustive.then(|| target.planner.sweep(&config.selection)).transpose().map_err(PlanError::Target)
}

/// Writes the plan of a shard into `file`, which is not finished yet.
pub(crate) fn write(
    file: &mut Replacement,
    config: &Config,
    target: Target<'_>,
    sweep: Option<&Sweep>,
    strata: &[Stratum],
) -> Result<(), PlanError> {
    let extent = sweep.map(|sweep| sweep.extent(Shard::WHOLE));
    let head = Head::new(config, target.subject.digest(), extent, StrataExtent::of(strata));
    write_line(file, &head)?;
    let mut from = 0;
    while from < head.lines {
        let to = head.lines.min(from + CHUNK);
        let runs: Vec<RunIndex> = (from..to).map(|position| RunIndex(head.shard.run_at(position))).collect();
        let sites = target.planner.plan(&runs, &config.selection, config.seed).map_err(PlanError::Target)?;
        if sites.len() != runs.len() {
            return Err(PlanError::Count { asked: runs.len(), found: sites.len() });
        }
        for line in runs.iter().zip(&sites) {
            check_stratum(line, strata)?;
            check_labels(line, target.planner.labels())?;
            write_line(file, &line)?;
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

fn write_line(file: &mut Replacement, value: &impl Serialize) -> Result<(), PlanError> {
    let written = serde_json::to_writer(&mut *file, value).map_err(io::Error::from);
    written.and_then(|()| file.write_all(b"\n")).map_err(|source| io_error(file.path(), source))
}

fn io_error(path: &Path, source: io::Error) -> PlanError {
    PlanError::Io { path: path.to_owned(), source }
}

/// A plan that is whole.
#[derive(Debug)]
pub(crate) struct Plan {
    path: PathBuf,
    head: Head,
    /// Where the line of each position starts, and where the last one ends.
    offsets: Vec<u64>,
}

impl Plan {
    /// Opens the plan at `path`, which must be whole.
    pub(crate) fn open(path: PathBuf) -> Result<Self, PlanError> {
        let fail = |source| io_error(&path, source);
        let mut reader = BufReader::new(File::open(&path).map_err(fail)?);
        let mut first = Vec::new();
        reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut first).map_err(fail)?;
        let head: Head = match serde_json::from_slice(&first) {
            Ok(head) => head,
            Err(_) => return Err(PlanError::Format { path }),
        };
        let (offsets, end) = line_starts(reader, first.len() as u64).map_err(fail)?;
        let found = offsets.len() as u64 - 1;
        if head.format != FORMAT || (found == head.lines && offsets.last() != Some(&end)) {
            return Err(PlanError::Format { path });
        }
        if found != head.lines {
            return Err(PlanError::Truncated { path, expected: head.lines, found });
        }
        Ok(Self { path, head, offsets })
    }

    pub(crate) fn head(&self) -> &Head {
        &self.head
    }

    /// A reader of its own for one worker.
    pub(crate) fn reader(&self) -> Result<PlanReader<'_>, PlanError> {
        let file = File::open(&self.path).map_err(|source| io_error(&self.path, source))?;
        Ok(PlanReader { plan: self, file })
    }
}

/// The offsets at which lines start in what follows the first `at` bytes, and the end of the file.
fn line_starts(mut reader: impl BufRead, at: u64) -> io::Result<(Vec<u64>, u64)> {
    let (mut starts, mut at) = (vec![at], at);
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok((starts, at));
        }
        let ends = bytes.iter().enumerate().filter(|&(_, &byte)| byte == b'\n');
        starts.extend(ends.map(|(index, _)| at + index as u64 + 1));
        let length = bytes.len();
        reader.consume(length);
        at += length as u64;
    }
}

/// Reads pieces of a plan.
#[derive(Debug)]
pub(crate) struct PlanReader<'a> {
    plan: &'a Plan,
    file: File,
}

impl PlanReader<'_> {
    /// The runs at these positions of the shard, and their sites.
    pub(crate) fn sites(&mut self, positions: Range<u64>) -> Result<Vec<(RunIndex, Site)>, PlanError> {
        positions.map(|position| self.site(position)).collect()
    }

    fn site(&mut self, position: u64) -> Result<(RunIndex, Site), PlanError> {
        let run = RunIndex(self.plan.head.shard.run_at(position));
        let damaged = || PlanError::Line { path: self.plan.path.clone(), run };
        let index = usize::try_from(position).map_err(|_| damaged())?;
        let Some(&[start, end]) = self.plan.offsets.get(index..index + 2) else {
            return Err(damaged());
        };
        if end - start > MAX_LINE {
            return Err(damaged());
        }
        let mut line = vec![0; (end - start) as usize];
        let read = self.file.seek(SeekFrom::Start(start)).and_then(|_| self.file.read_exact(&mut line));
        read.map_err(|source| io_error(&self.plan.path, source))?;
        match serde_json::from_slice::<(RunIndex, Site)>(&line) {
            Ok((found, site)) if found == run => Ok((run, site)),
            _ => Err(damaged()),
        }
    }
}
