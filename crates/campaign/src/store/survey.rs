//! One pass over the rows for everything that summaries and reports count.
//!
//! Grouping a million rows in SQL sorts them once for each grouping. Here each row is looked at once, in the order of
//! runs, without being copied: its strings are borrowed from the file, and what it hit is found in a table of
//! [`Spot`]s that is as long as the program has instructions. Memory depends on the program, not on the rows.

use std::collections::{BTreeMap, HashMap};

use rusqlite::types::ValueRef;

use super::query::{By, Count};
use super::row::COLUMNS;
use super::rows::Rows;
use crate::store::StoreError;
use crate::tally::Tally;
use outcome::{Class, OutputDiff, Tier};

/// What rows hit: an operand of a static instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The kernel's name.
    pub kernel: String,
    /// The static instruction.
    pub pc: u32,
    /// The operand, such as `dst0`.
    pub target: String,
    /// The instruction group.
    pub group: String,
    /// The instruction's mnemonic.
    pub opcode: String,
    /// The source file, where known.
    pub file: Option<String>,
    /// The source line, where known.
    pub line: Option<u32>,
}

/// A row at a glance: what reports count, borrowed from the file for as long as the row is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Glance<'a> {
    /// Which run.
    pub run: u64,
    /// The stratum that it was drawn from; 0 in a campaign without strata.
    pub stratum: u32,
    /// What it hit: an index into the spots of the survey.
    pub spot: usize,
    /// The launch.
    pub launch: u32,
    /// The dynamic instruction of the thread.
    pub dynamic: u64,
    /// The bits or the value, as the fault's id writes them.
    pub bits: &'a str,
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

impl Glance<'_> {
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
pub(crate) struct Survey {
    pub(crate) tally: Tally,
    pub(crate) by_outcome: Vec<Count>,
    pub(crate) by_kernel: Vec<Count>,
    pub(crate) by_group: Vec<Count>,
    pub(crate) by_line: Vec<Count>,
    /// Landed runs that showed the host a difference before their end.
    pub(crate) host_visible: u64,
    /// How many of those were judged with the host in the loop.
    pub(crate) resolved: u64,
    /// Runs by the path they took.
    pub(crate) tiers: BTreeMap<String, u64>,
    /// What was hit, in the order in which rows first hit it; of an exhaustive campaign, see [`Rows::operands`].
    pub(crate) spots: Vec<Spot>,
}

/// A label and a line.
type Label = (Option<String>, Option<u32>);

/// A label, a line, a class, a kind and a stratum: what rows are counted by, in the order of summaries.
type Key = (Option<String>, Option<u32>, &'static str, Option<String>, u32);

impl Rows {
    /// Looks at all rows, calling `visit` for each, by ascending run. An exhaustive campaign has none, and is counted
    /// from its tally. What `visit` finds wrong with a row is an error of the file.
    pub(crate) fn survey(
        &self,
        visit: &mut dyn FnMut(&Glance<'_>) -> Result<(), String>,
    ) -> Result<Survey, StoreError> {
        if self.swept {
            return self.swept_survey();
        }
        let mut pass = Pass { strata: self.strata, ..Pass::default() };
        self.each(&sql(), [], |row| {
            let columns = Columns(row);
            let run = columns.number(RUN)?;
            let glance = pass.look(run, &columns).map_err(|what| format!("run {run}: {what}"))?;
            visit(&glance).map_err(|what| format!("run {run}: {what}"))
        })?;
        Ok(pass.finish())
    }

    fn swept_survey(&self) -> Result<Survey, StoreError> {
        Ok(Survey {
            tally: self.tally()?,
            by_outcome: self.counts(By::Outcome)?,
            by_kernel: self.counts(By::Kernel)?,
            by_group: self.counts(By::Group)?,
            by_line: self.counts(By::Line)?,
            host_visible: self.swept_host_visible()?,
            resolved: 0,
            tiers: self.swept_tiers()?,
            spots: Vec::new(),
        })
    }
}

/// The columns that are looked at, in the order of the statement. The constants below are their places.
const LOOKED_AT: [&str; 24] = [
    "run",
    "kernel",
    "pc",
    "target",
    "instruction_group",
    "opcode",
    "file",
    "line",
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
const LAUNCH: usize = 8;
const OUTCOME: usize = 11;
const FIRST_USE: usize = 14;
const ENDED_KERNEL: usize = 16;
const OUTPUTS: usize = 20;

fn sql() -> String {
    debug_assert!(LOOKED_AT.iter().all(|name| COLUMNS.iter().any(|(column, _)| column == name)));
    format!("SELECT {} FROM run ORDER BY run", LOOKED_AT.join(", "))
}

/// How many rows of a stratum came to a class and kind.
struct Came {
    class: Class,
    kind: Option<String>,
    stratum: u32,
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
    counts: Vec<Vec<Came>>,
    host_visible: u64,
    resolved: u64,
    tiers: BTreeMap<String, u64>,
}

impl Pass {
    fn look<'a>(&mut self, run: u64, columns: &Columns<'a>) -> Result<Glance<'a>, String> {
        let spot = self.spot(columns)?;
        let class: Class = columns.text(OUTCOME)?.parse().map_err(|error| format!("{error}"))?;
        let kind = columns.optional_text(OUTCOME + 1)?;
        let stratum = run.checked_rem(self.strata).unwrap_or(0) as u32;
        self.count(spot, class, kind, stratum);
        if columns.optional_number(OUTPUTS + 1)?.is_some_and(|seen| seen != 0) && !columns.is_null(OUTPUTS + 2) {
            self.host_visible += 1;
            self.resolved += u64::from(columns.optional_text(OUTPUTS + 3)? == Some(Tier::Live.word()));
        }
        if let Some(tier) = columns.optional_text(OUTPUTS + 3)? {
            match self.tiers.get_mut(tier) {
                Some(count) => *count += 1,
                None => drop(self.tiers.insert(tier.to_owned(), 1)),
            }
        }
        Ok(Glance {
            run,
            stratum,
            spot,
            launch: columns.small(LAUNCH)?,
            dynamic: columns.number(LAUNCH + 1)?,
            bits: columns.text(LAUNCH + 2)?,
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

    fn count(&mut self, spot: usize, class: Class, kind: Option<&str>, stratum: u32) {
        let counts = &mut self.counts[spot];
        let same = |it: &&mut Came| it.class == class && it.kind.as_deref() == kind && it.stratum == stratum;
        match counts.iter_mut().find(same) {
            Some(came) => came.count += 1,
            None => counts.push(Came { class, kind: kind.map(str::to_owned), stratum, count: 1 }),
        }
    }

    fn finish(self) -> Survey {
        let mut tally = Tally::default();
        for came in self.counts.iter().flatten() {
            tally.add(came.class, came.count);
        }
        let by = |key: fn(&Spot) -> Label, kinds: bool| {
            let mut counts: BTreeMap<Key, u64> = BTreeMap::new();
            for (spot, of) in self.spots.iter().zip(&self.counts) {
                let (label, line) = key(spot);
                for Came { class, kind, stratum, count } in of {
                    let kind = kind.clone().filter(|_| kinds);
                    *counts.entry((label.clone(), line, class.word(), kind, *stratum)).or_default() += count;
                }
            }
            counts.into_iter().filter_map(count).collect()
        };
        let usual = Tier::ALL.iter().filter(|tier| **tier != Tier::Live);
        let mut tiers: BTreeMap<String, u64> = usual.map(|tier| (tier.word().to_owned(), 0)).collect();
        tiers.extend(self.tiers);
        Survey {
            tally,
            by_outcome: by(|_| (None, None), true),
            by_kernel: by(|spot| (Some(spot.kernel.clone()), None), false),
            by_group: by(|spot| (Some(spot.group.clone()), None), false),
            by_line: by(|spot| (spot.file.clone(), spot.line), false),
            host_visible: self.host_visible,
            resolved: self.resolved,
            tiers,
            spots: self.spots,
        }
    }
}

fn count(((label, line, class, kind, stratum), count): (Key, u64)) -> Option<Count> {
    Some(Count { label, line, class: class.parse().ok()?, kind, count, inverse_weight: 1, stratum })
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
