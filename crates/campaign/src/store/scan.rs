//! One pass over the rows for everything that summaries and reports count.
//!
//! Grouping a million rows in SQL sorts them once for each grouping. Here each row is looked at once, in the order of
//! runs, without being copied: its strings are borrowed from the file, and what it hit is found in a table of
//! [`Spot`]s that is as long as the program has instructions. Memory depends on the program, not on the rows.

use std::collections::{BTreeMap, HashMap};

use rusqlite::types::ValueRef;

use super::error::StoreError;
use super::file::Rows;
use super::planned::{Planned, unsigned};
use super::query::{By, Count};
use super::values;
use super::view::{Columns, Glance, KERNEL, LINE, RUN, RowView, places, sql};
use crate::config::Config;
use crate::plan::PlanLines;
use crate::site::{LabelKind, Spot};
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
    /// from its tally. A run that the configuration does not plan, a value that none can have, what the plan has otherwise, and what
    /// `visit` finds wrong with a row is an error of the file.
    pub(crate) fn scan(
        &self,
        config: &Config,
        plan: Option<PlanLines>,
        visit: &mut dyn FnMut(&RowView<'_>) -> Result<(), String>,
    ) -> Result<RowCounts, StoreError> {
        if self.swept {
            return self.scan_units(config);
        }
        let (mut pass, mut glance) = (Pass::default(), Glance::new(self.strata));
        let labels: Vec<_> = places(&self.labels).map(|(label, place)| (label.clone(), place)).collect();
        let numbers: Vec<_> = labels.iter().filter(|(label, _)| label.kind == LabelKind::Number).cloned().collect();
        let mut planned = plan.map(|lines| Planned::new(lines, labels));
        // What is wrong with the plan itself, and not with a row.
        let mut failed = None;
        let scanned = self.each(&sql(&self.labels), [], |row| {
            let columns = Columns(row);
            let run = columns.number(RUN)?;
            let mut look = || {
                let position = values::run(run, config)?;
                let row = glance.row(run, pass.spot(&columns)?, &columns)?;
                match &mut planned {
                    None => numbers.iter().try_for_each(|(label, place)| match columns.value(*place)? {
                        ValueRef::Integer(value) => unsigned(label, value).map(drop),
                        _ => Ok(()),
                    })?,
                    Some(planned) => {
                        let checked = planned.check(run, position, (row.spot, &pass.spots[row.spot]), &columns);
                        checked.unwrap_or_else(|error| {
                            failed = Some(error);
                            Err("its plan cannot be read".to_owned())
                        })?;
                    }
                }
                pass.add(&row);
                visit(&row)
            };
            look().map_err(|what| format!("run {run}: {what}"))
        });
        failed.map_or(scanned, Err)?;
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
    /// The spots by their instruction and the first bytes of their operand.
    known: HashMap<(i64, u64), Vec<usize>>,
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

    /// The spot that the row hit.
    fn spot(&mut self, columns: &Columns<'_>) -> Result<usize, String> {
        let mut values = [ValueRef::Null; LINE + 1 - KERNEL];
        for (value, column) in values.iter_mut().zip(KERNEL..) {
            *value = columns.value(column)?;
        }
        // Names of kernels are long; the number of the instruction and its operand nearly say it.
        let key = (integer(values[1]), beginning(values[2]));
        let same = |&spot: &usize| is_spot(&self.spots[spot], &values);
        if let Some(spot) = self.known.get(&key).and_then(|spots| spots.iter().copied().find(same)) {
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
        self.known.entry(key).or_default().push(spot);
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
        let usual = Tier::ALL.iter().filter(|tier| !matches!(tier, Tier::Live | Tier::Stopped));
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

/// Whether these values are the columns of a spot.
fn is_spot(spot: &Spot, values: &[ValueRef<'_>; LINE + 1 - KERNEL]) -> bool {
    let text = |value: ValueRef<'_>, text: &str| matches!(value, ValueRef::Text(found) if found == text.as_bytes());
    let number = |value, number: u32| matches!(value, ValueRef::Integer(found) if found == i64::from(number));
    let null = |value| matches!(value, ValueRef::Null);
    let [kernel, pc, target, group, opcode, file, line] = *values;
    number(pc, spot.pc)
        && text(target, &spot.target)
        && text(kernel, &spot.kernel)
        && text(group, &spot.group)
        && text(opcode, &spot.opcode)
        && spot.file.as_deref().map_or_else(|| null(file), |name| text(file, name))
        && spot.line.map_or_else(|| null(line), |at| number(line, at))
}

fn integer(value: ValueRef<'_>) -> i64 {
    if let ValueRef::Integer(number) = value { number } else { -1 }
}

/// The first bytes of a text, as a number.
fn beginning(value: ValueRef<'_>) -> u64 {
    let ValueRef::Text(text) = value else { return 0 };
    text.iter().take(8).fold(text.len() as u64, |number, &byte| number << 8 | u64::from(byte))
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
