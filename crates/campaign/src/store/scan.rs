//! One pass over the rows for everything that summaries and reports count.
//!
//! Grouping a million rows in SQL sorts them once for each grouping. Here each row is looked at once, in the order of
//! runs, without being copied: its strings are borrowed from the file, and what it hit is found in a table of
//! [`Spot`]s that is as long as the program has instructions. Memory depends on the program, not on the rows.

use std::collections::{BTreeMap, HashMap};

use rusqlite::types::ValueRef;

use super::error::StoreError;
use super::file::Rows;
use super::query::{By, Count};
use crate::site::{LabelColumn, Spot};
use crate::tally::Tally;
use outcome::Class;
use outcome::{OutputDiff, Tier};

/// A row at a glance: what reports count, borrowed from the file for as long as the row is looked at.
#[derive(Clone, Copy, Debug)]
pub struct RowView<'a> {
    /// Which run.
    pub run: u64,
    /// The stratum that it was drawn from; 0 in a campaign without strata.
    pub stratum: u32,
    /// What it hit: an index into the spots of the scan.
    pub spot: usize,
    /// How many sites it stands for.
    pub weight: u64,
    /// The launch, if the target has a label `launch`.
    pub launch: Option<u32>,
    /// The dynamic instruction of the thread, if the target has a label `dynamic`.
    pub dynamic: Option<u64>,
    /// The bits or the value, as the fault's id writes them, if the target has a label `bits`.
    pub bits: Option<&'a str>,
    /// The class of what came of it.
    pub class: Class,
    /// Its kind, in a word; none of a fault that did not land or of a run that failed.
    pub kind: Option<&'a str>,
    /// Why the run failed.
    pub error: Option<&'a str>,
    /// What first happened to the hit value (`read`, `overwritten`, `never`), and how many instructions later.
    pub first_use: Option<(&'a str, Option<u64>)>,
    /// Where the run ended, if not by itself.
    pub ended: Option<Ending<'a>>,
    /// The comparisons of the outputs, as JSON.
    outputs: Option<&'a str>,
}

/// Where a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ending<'a> {
    /// The kernel.
    pub kernel: &'a str,
    /// The static instruction.
    pub pc: u32,
    /// The source line, where known.
    pub line: Option<u32>,
    /// Thread instructions from the first use of the hit value to here.
    pub after: u64,
}

impl RowView<'_> {
    /// The comparisons of the outputs; none of a run that did not complete.
    ///
    /// # Errors
    /// When the stored text is no such list.
    pub fn outputs(&self) -> Result<Vec<OutputDiff>, String> {
        self.outputs.map_or(Ok(Vec::new()), |text| serde_json::from_str(text).map_err(|error| error.to_string()))
    }
}

/// What a pass over the rows counted, for the summary.
#[derive(Debug, Default)]
pub(crate) struct RowCounts {
    pub(crate) tally: Tally,
    pub(crate) by_outcome: Vec<Count>,
    pub(crate) by_kernel: Vec<Count>,
    pub(crate) by_group: Vec<Count>,
    pub(crate) by_line: Vec<Count>,
    /// Landed runs that showed the host a difference before their end.
    pub(crate) host_visible: u64,
    /// How many of those were judged with the host in the loop.
    pub(crate) resolved: u64,
    /// Runs that were given up, by the reason.
    pub(crate) given_up: BTreeMap<String, u64>,
    /// Runs by the path they took.
    pub(crate) tiers: BTreeMap<String, u64>,
    /// What was hit, in the order in which rows first hit it; of an exhaustive campaign, see [`Rows::operands`].
    pub(crate) spots: Vec<Spot>,
}

/// A label and a line.
type Label = (Option<String>, Option<u32>);

/// A label, a line, a class, a kind, a stratum and a weight: what rows are counted by, in the order of summaries.
type Key = (Option<String>, Option<u32>, &'static str, Option<String>, u32, u64);

impl Rows {
    /// Looks at all rows, calling `visit` for each, by ascending run. An exhaustive campaign has none, and is counted
    /// from its tally. What `visit` finds wrong with a row is an error of the file.
    pub(crate) fn scan(
        &self,
        visit: &mut dyn FnMut(&RowView<'_>) -> Result<(), String>,
    ) -> Result<RowCounts, StoreError> {
        if self.swept {
            return self.scan_units();
        }
        let mut pass = Pass { strata: self.strata, ..Pass::default() };
        self.each(&sql(&self.labels), [], |row| {
            let columns = Columns(row);
            let run = columns.number(RUN)?;
            let view = pass.look(run, &columns).map_err(|what| format!("run {run}: {what}"))?;
            visit(&view).map_err(|what| format!("run {run}: {what}"))
        })?;
        Ok(pass.finish())
    }

    fn scan_units(&self) -> Result<RowCounts, StoreError> {
        Ok(RowCounts {
            tally: self.tally()?,
            by_outcome: self.counts(By::Outcome)?,
            by_kernel: self.counts(By::Kernel)?,
            by_group: self.counts(By::Group)?,
            by_line: self.counts(By::Line)?,
            host_visible: self.swept_host_visible()?,
            resolved: 0,
            given_up: BTreeMap::new(),
            tiers: self.swept_tiers()?,
            spots: Vec::new(),
        })
    }
}

/// The columns that are looked at, in the order of the statement. The constants below are their places.
const LOOKED_AT: [&str; 26] = [
    "run",
    "kernel",
    "pc",
    "target",
    "instruction_group",
    "opcode",
    "file",
    "line",
    "weight",
    "given_up",
    "launch",
    "dynamic",
    "bits",
    "outcome",
    "kind",
    "error",
    "first_use",
    "first_use_after",
    "ended_kernel",
    "ended_pc",
    "ended_line",
    "ended_after",
    "outputs",
    "host_visible",
    "landed_before",
    "tier",
];
const RUN: usize = 0;
const KERNEL: usize = 1;
const LINE: usize = 7;
const WEIGHT: usize = 8;
const GIVEN_UP: usize = 9;
const LAUNCH: usize = 10;
const OUTCOME: usize = 13;
const FIRST_USE: usize = 16;
const ENDED_KERNEL: usize = 18;
const OUTPUTS: usize = 22;

/// The statement: of the labels that a target may have, those that it does not have are null.
fn sql(labels: &[LabelColumn]) -> String {
    let column = |(place, &name): (usize, &&'static str)| {
        let declared = !(LAUNCH..OUTCOME).contains(&place) || labels.iter().any(|label| label.name == name);
        if declared { name } else { "NULL" }
    };
    format!("SELECT {} FROM run ORDER BY run", LOOKED_AT.iter().enumerate().map(column).collect::<Vec<_>>().join(", "))
}

/// How many rows of a stratum and a weight came to a class and kind.
struct Tallied {
    class: Class,
    kind: Option<String>,
    stratum: u32,
    weight: u64,
    count: u64,
}

/// What has been counted so far.
#[derive(Default)]
struct Pass {
    /// How many strata the runs take turns in; 0 if there are none.
    strata: u64,
    spots: Vec<Spot>,
    /// The bytes of a spot's columns, and its index.
    known: HashMap<Vec<u8>, usize>,
    /// The key of the row in hand; kept for its memory.
    key: Vec<u8>,
    /// For each spot, how many rows came to which outcome.
    counts: Vec<Vec<Tallied>>,
    host_visible: u64,
    resolved: u64,
    given_up: BTreeMap<String, u64>,
    tiers: BTreeMap<String, u64>,
}

impl Pass {
    fn look<'a>(&mut self, run: u64, columns: &Columns<'a>) -> Result<RowView<'a>, String> {
        let spot = self.spot(columns)?;
        let class: Class = columns.text(OUTCOME)?.parse().map_err(|error| format!("{error}"))?;
        let kind = columns.optional_text(OUTCOME + 1)?;
        let stratum = run.checked_rem(self.strata).unwrap_or(0) as u32;
        let weight = columns.number(WEIGHT)?;
        self.count(spot, class, kind, stratum, weight);
        if let Some(reason) = columns.optional_text(GIVEN_UP)? {
            add_one(&mut self.given_up, reason);
        }
        if columns.optional_number(OUTPUTS + 1)?.is_some_and(|seen| seen != 0) && !columns.is_null(OUTPUTS + 2) {
            self.host_visible += 1;
            self.resolved += u64::from(columns.optional_text(OUTPUTS + 3)? == Some(Tier::Live.word()));
        }
        if let Some(tier) = columns.optional_text(OUTPUTS + 3)? {
            add_one(&mut self.tiers, tier);
        }
        Ok(RowView {
            run,
            stratum,
            spot,
            weight,
            launch: columns.optional_small(LAUNCH)?,
            dynamic: columns.optional_number(LAUNCH + 1)?,
            bits: columns.optional_text(LAUNCH + 2)?,
            class,
            kind,
            error: columns.optional_text(OUTCOME + 2)?,
            first_use: match columns.optional_text(FIRST_USE)? {
                Some(word) => Some((word, columns.optional_number(FIRST_USE + 1)?)),
                None => None,
            },
            ended: ending(columns)?,
            outputs: columns.optional_text(OUTPUTS)?,
        })
    }

    /// The spot that the row hit, found by the bytes of its columns.
    fn spot(&mut self, columns: &Columns<'_>) -> Result<usize, String> {
        self.key.clear();
        for column in KERNEL..=LINE {
            match columns.value(column)? {
                ValueRef::Text(text) => {
                    self.key.extend_from_slice(&(text.len() as u64).to_le_bytes());
                    self.key.extend_from_slice(text);
                }
                ValueRef::Integer(number) => self.key.extend_from_slice(&number.to_le_bytes()),
                // No length is this large.
                _ => self.key.extend_from_slice(&[0xff; 8]),
            }
        }
        if let Some(&spot) = self.known.get(&self.key) {
            return Ok(spot);
        }
        let owned = |column| Ok::<_, String>(columns.text(column)?.to_owned());
        self.spots.push(Spot {
            kernel: owned(KERNEL)?,
            pc: columns.small(KERNEL + 1)?,
            target: owned(KERNEL + 2)?,
            group: owned(KERNEL + 3)?,
            opcode: owned(KERNEL + 4)?,
            file: columns.optional_text(KERNEL + 5)?.map(str::to_owned),
            line: columns.optional_small(LINE)?,
        });
        self.counts.push(Vec::new());
        let spot = self.spots.len() - 1;
        self.known.insert(self.key.clone(), spot);
        Ok(spot)
    }

    fn count(&mut self, spot: usize, class: Class, kind: Option<&str>, stratum: u32, weight: u64) {
        let counts = &mut self.counts[spot];
        let of = (class, kind, stratum, weight);
        let same = |it: &&mut Tallied| (it.class, it.kind.as_deref(), it.stratum, it.weight) == of;
        match counts.iter_mut().find(same) {
            Some(tallied) => tallied.count += 1,
            None => counts.push(Tallied { class, kind: kind.map(str::to_owned), stratum, weight, count: 1 }),
        }
    }

    fn finish(self) -> RowCounts {
        let mut tally = Tally::default();
        for tallied in self.counts.iter().flatten() {
            tally.add(tallied.class, tallied.count);
        }
        let by = |key: fn(&Spot) -> Label, kinds: bool| {
            let mut counts: BTreeMap<Key, u64> = BTreeMap::new();
            for (spot, of) in self.spots.iter().zip(&self.counts) {
                let (label, line) = key(spot);
                for Tallied { class, kind, stratum, weight, count } in of {
                    let kind = kind.clone().filter(|_| kinds);
                    let key = (label.clone(), line, class.word(), kind, *stratum, *weight);
                    *counts.entry(key).or_default() += count;
                }
            }
            counts.into_iter().filter_map(count).collect()
        };
        let usual = Tier::ALL.iter().filter(|tier| **tier != Tier::Live);
        let mut tiers: BTreeMap<String, u64> = usual.map(|tier| (tier.word().to_owned(), 0)).collect();
        tiers.extend(self.tiers);
        RowCounts {
            tally,
            by_outcome: by(|_| (None, None), true),
            by_kernel: by(|spot| (Some(spot.kernel.clone()), None), false),
            by_group: by(|spot| (Some(spot.group.clone()), None), false),
            by_line: by(|spot| (spot.file.clone(), spot.line), false),
            host_visible: self.host_visible,
            resolved: self.resolved,
            given_up: self.given_up,
            tiers,
            spots: self.spots,
        }
    }
}

fn count(((label, line, class, kind, stratum, weight), count): (Key, u64)) -> Option<Count> {
    Some(Count { label, line, class: class.parse().ok()?, kind, count, weight, inverse_weight: 1, stratum })
}

/// Adds one to the count of a word; most words are known.
fn add_one(counts: &mut BTreeMap<String, u64>, word: &str) {
    match counts.get_mut(word) {
        Some(count) => *count += 1,
        None => drop(counts.insert(word.to_owned(), 1)),
    }
}

fn ending<'a>(columns: &Columns<'a>) -> Result<Option<Ending<'a>>, String> {
    let Some(kernel) = columns.optional_text(ENDED_KERNEL)? else { return Ok(None) };
    Ok(Some(Ending {
        kernel,
        pc: columns.small(ENDED_KERNEL + 1)?,
        line: columns.optional_small(ENDED_KERNEL + 2)?,
        after: columns.number(ENDED_KERNEL + 3)?,
    }))
}

/// The values of a row by place; every one is checked, since the file may have been edited.
struct Columns<'a>(&'a rusqlite::Row<'a>);

impl<'a> Columns<'a> {
    fn value(&self, column: usize) -> Result<ValueRef<'a>, String> {
        self.0.get_ref(column).map_err(|error| error.to_string())
    }

    fn is_null(&self, column: usize) -> bool {
        matches!(self.value(column), Ok(ValueRef::Null))
    }

    fn optional_text(&self, column: usize) -> Result<Option<&'a str>, String> {
        self.value(column)?.as_str_or_null().map_err(|error| format!("`{}`: {error}", LOOKED_AT[column]))
    }

    fn text(&self, column: usize) -> Result<&'a str, String> {
        self.optional_text(column)?.ok_or_else(|| format!("`{}` is missing", LOOKED_AT[column]))
    }

    fn optional_number(&self, column: usize) -> Result<Option<u64>, String> {
        let value =
            self.value(column)?.as_i64_or_null().map_err(|error| format!("`{}`: {error}", LOOKED_AT[column]))?;
        let fit = |value: i64| u64::try_from(value).map_err(|_| format!("{value} where nothing is negative"));
        value.map(fit).transpose()
    }

    fn number(&self, column: usize) -> Result<u64, String> {
        self.optional_number(column)?.ok_or_else(|| format!("`{}` is missing", LOOKED_AT[column]))
    }

    fn optional_small(&self, column: usize) -> Result<Option<u32>, String> {
        let fit = |value: u64| u32::try_from(value).map_err(|_| format!("the number {value} is out of range"));
        self.optional_number(column)?.map(fit).transpose()
    }

    fn small(&self, column: usize) -> Result<u32, String> {
        self.optional_small(column)?.ok_or_else(|| format!("`{}` is missing", LOOKED_AT[column]))
    }
}
