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
use super::values;
use super::view::{Columns, Glance, KERNEL, LINE, RUN, RowView, sql};
use crate::config::Config;
use crate::site::Spot;
use crate::tally::Tally;
use outcome::{Class, Tier};

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
    /// from its tally. A run that the configuration does not plan, a value that none can have, and what `visit` finds wrong with a row is an error of the file.
    pub(crate) fn scan(
        &self,
        config: &Config,
        visit: &mut dyn FnMut(&RowView<'_>) -> Result<(), String>,
    ) -> Result<RowCounts, StoreError> {
        if self.swept {
            return self.scan_units(config);
        }
        let (mut pass, mut glance) = (Pass::default(), Glance::new(self.strata));
        self.each(&sql(&self.labels), [], |row| {
            let columns = Columns(row);
            let run = columns.number(RUN)?;
            let mut look = || {
                values::run(run, config)?;
                let row = glance.row(run, pass.spot(&columns)?, &columns)?;
                pass.add(&row);
                visit(&row)
            };
            look().map_err(|what| format!("run {run}: {what}"))
        })?;
        Ok(pass.finish())
    }

    fn scan_units(&self, config: &Config) -> Result<RowCounts, StoreError> {
        self.check_units(config.shard)?;
        Ok(RowCounts {
            tally: self.tally()?,
            by_outcome: self.counts_by_kind(By::Outcome)?,
            by_kernel: self.counts_by_kind(By::Kernel)?,
            by_group: self.counts_by_kind(By::Group)?,
            by_line: self.counts_by_kind(By::Line)?,
            host_visible: self.swept_host_visible()?,
            resolved: 0,
            given_up: BTreeMap::new(),
            tiers: self.swept_tiers()?,
            spots: Vec::new(),
        })
    }
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
    /// Counts a row.
    fn add(&mut self, row: &RowView<'_>) {
        self.count(row.spot, row.class, row.kind, row.stratum, row.weight);
        if let Some(reason) = row.given_up {
            add_one(&mut self.given_up, reason);
        }
        if row.host_visible {
            self.host_visible += 1;
            self.resolved += u64::from(row.tier == Some(Tier::Live));
        }
        if let Some(tier) = row.tier {
            add_one(&mut self.tiers, tier.word());
        }
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
        let by = |key: fn(&Spot) -> Label| {
            let mut counts: BTreeMap<Key, u64> = BTreeMap::new();
            for (spot, of) in self.spots.iter().zip(&self.counts) {
                let (label, line) = key(spot);
                for Tallied { class, kind, stratum, weight, count } in of {
                    let key = (label.clone(), line, class.word(), kind.clone(), *stratum, *weight);
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
            by_outcome: by(|_| (None, None)),
            by_kernel: by(|spot| (Some(spot.kernel.clone()), None)),
            by_group: by(|spot| (Some(spot.group.clone()), None)),
            by_line: by(|spot| (spot.file.clone(), spot.line)),
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
