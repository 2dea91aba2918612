//! What is read from a file of rows, or of units. The file may have been edited: what makes no sense is an error, not a number.

use std::collections::BTreeMap;
use std::ops::Range;

use super::columns::names;
use super::decode::decode;
use super::error::StoreError;
use super::file::{Rows, class, get, unsigned};
use super::origin::{Origin, Session};
use super::row::Row;
use super::values;
use crate::config::{Config, Shard};
use crate::tally::Tally;
use crate::target::GoldenSummary;
use outcome::{Class, Sdc};

/// How many rows share a label and an outcome.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Count {
    pub(crate) label: Option<String>,
    pub(crate) line: Option<u32>,
    pub(crate) class: Class,
    pub(crate) kind: Option<String>,
    pub(crate) count: u64,
    /// How many sites each stands for.
    pub(crate) weight: u64,
    /// The weight of each is divided by this; 1 where what is run is drawn by weight.
    pub(crate) inverse_weight: u64,
    /// The stratum; 0 where there are none.
    pub(crate) stratum: u32,
}

impl Count {
    /// Whether it is of silent corruptions that no criterion accepts.
    pub(crate) fn is_bad(&self) -> bool {
        self.class == Class::Sdc && self.kind.as_deref().is_some_and(Sdc::counts_as_bad)
    }
}

/// By what rows, or faults of an exhaustive campaign, are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum By {
    Outcome,
    Kernel,
    Group,
    Line,
}

impl By {
    /// The columns that give label and line.
    fn columns(self) -> [&'static str; 2] {
        match self {
            Self::Outcome => ["NULL", "NULL"],
            Self::Kernel => ["kernel", "NULL"],
            Self::Group => ["instruction_group", "NULL"],
            Self::Line => ["file", "line"],
        }
    }
}

impl Rows {
    /// Calls `visit` for each row, by ascending run. A run that the configuration does not plan is an error of the file.
    pub(crate) fn visit(&self, config: &Config, visit: &mut dyn FnMut(Row)) -> Result<(), StoreError> {
        self.each(&format!("SELECT {} FROM run ORDER BY run", names(&self.labels)), [], |columns| {
            let run = unsigned(columns, 0)?;
            let mut row = values::run(run, config)
                .and_then(|_| decode(columns, &self.labels))
                .map_err(|what| format!("run {run}: {what}"))?;
            // The file need not hold what follows from the number of the run.
            row.site.stratum = (self.strata > 0).then(|| (row.run.0 % self.strata) as u32);
            visit(row);
            Ok(())
        })
    }

    /// The positions among `positions` of the shard whose run, or unit, has no row yet, as ascending ranges.
    pub(crate) fn pending(&self, shard: Shard, positions: Range<u64>) -> Result<Vec<Range<u64>>, StoreError> {
        let (mut pending, mut next) = (Vec::new(), positions.start);
        let runs = bounds(shard.run_at(positions.start)..shard.run_at(positions.end));
        let table = if self.swept { "unit" } else { "run" };
        let sql = format!("SELECT {table} FROM {table} WHERE {table} >= ?1 AND {table} < ?2 ORDER BY 1");
        self.each(&sql, runs, |row| {
            let run = unsigned(row, 0)?;
            let position = shard.position_of(run).ok_or_else(|| format!("{table} {run} is not of shard {shard}"))?;
            pending.push(next..position);
            next = position + 1;
            Ok(())
        })?;
        pending.push(next..positions.end);
        pending.retain(|range| !range.is_empty());
        Ok(pending)
    }

    /// How many rows, or faults of an exhaustive campaign, there are of each class.
    pub(crate) fn tally(&self) -> Result<Tally, StoreError> {
        if self.swept { self.swept_tally() } else { self.tally_of(0..u64::MAX) }
    }

    /// How many rows with these indices there are of each class.
    pub(crate) fn tally_of(&self, runs: Range<u64>) -> Result<Tally, StoreError> {
        let mut tally = Tally::default();
        let sql = "SELECT outcome, count(*) FROM run WHERE run >= ?1 AND run < ?2 GROUP BY outcome";
        self.each(sql, bounds(runs), |row| {
            tally.add(class(row, 0)?, unsigned(row, 1)?);
            Ok(())
        })?;
        Ok(tally)
    }

    /// How many rows with these indices there are of each class, kernel by kernel.
    pub(crate) fn tallies_of_kernels(&self, runs: Range<u64>) -> Result<Vec<Tally>, StoreError> {
        let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
        let sql = "SELECT kernel, outcome, count(*) FROM run WHERE run >= ?1 AND run < ?2 GROUP BY kernel, outcome";
        self.each(sql, bounds(runs), |row| {
            tallies.entry(get(row, 0)?).or_default().add(class(row, 1)?, unsigned(row, 2)?);
            Ok(())
        })?;
        Ok(tallies.into_values().collect())
    }

    /// How many rows, or faults of an exhaustive campaign, share what `by` says and an outcome with its kind, in the order
    /// of their labels.
    pub(crate) fn counts_by_kind(&self, by: By) -> Result<Vec<Count>, StoreError> {
        let [label, line] = by.columns();
        let stratum = if self.strata > 0 { format!("run % {}", self.strata) } else { "0".to_owned() };
        let (operand_weight, join) = self.operand_weight()?;
        let of_operands = format!("tally JOIN operand USING (operand) {join}");
        let [weight, inverse_weight, count, from] = match self.swept {
            true => [operand_weight, "elements * bits", "sum(count)", &of_operands],
            false => ["weight", "1", "count(*)", "run"],
        };
        let keys = [label, line, "outcome", "kind", inverse_weight, &stratum, weight];
        // Rows would be compared by what is the same in all of them, too.
        let varied = (1..).zip(keys).filter(|(_, key)| !["NULL", "0", "1"].contains(key));
        let varied = varied.map(|(place, _): (usize, _)| place.to_string()).collect::<Vec<_>>().join(", ");
        let sql = format!("SELECT {}, {count} FROM {from} GROUP BY {varied} ORDER BY {varied}", keys.join(", "));
        let mut counts = Vec::new();
        self.each(&sql, [], |row| {
            let (label, class, kind) = (get(row, 0)?, class(row, 2)?, get::<Option<String>>(row, 3)?);
            values::outcome(class, kind.as_deref().filter(|kind| !kind.is_empty()))?;
            let (line, inverse_weight) = (get::<Option<u32>>(row, 1)?, unsigned(row, 4)?);
            let (stratum, weight, count) = (get(row, 5)?, unsigned(row, 6)?, unsigned(row, 7)?);
            counts.push(Count { label, line, class, kind, count, weight, inverse_weight, stratum });
            Ok(())
        })?;
        Ok(counts)
    }

    /// In how many landed faults of an exhaustive campaign the host could have seen a difference before the end.
    pub(super) fn swept_host_visible(&self) -> Result<u64, StoreError> {
        let mut count = 0;
        self.each("SELECT coalesce(sum(host_visible), 0) FROM unit", [], |row| {
            count = unsigned(row, 0)?;
            Ok(())
        })?;
        Ok(count)
    }

    /// The id of a run's fault, if the run has a row and was not given up.
    pub(super) fn fault_of(&self, run: u64) -> Result<Option<String>, StoreError> {
        let mut found = None;
        self.each("SELECT fault FROM run WHERE run = ?1", [i64::try_from(run).unwrap_or(i64::MAX)], |row| {
            found = get(row, 0)?;
            Ok(())
        })?;
        Ok(found)
    }

    /// Every stretch of work, in order.
    pub(crate) fn sessions(&self) -> Result<Vec<Session>, StoreError> {
        let mut sessions = Vec::new();
        self.each("SELECT golden_seconds, jobs, seconds, runs FROM session ORDER BY session", [], |row| {
            sessions.push(Session {
                golden_seconds: values::seconds("golden_seconds", get(row, 0)?)?,
                jobs: get(row, 1)?,
                seconds: values::seconds("seconds", get(row, 2)?)?,
                runs: unsigned(row, 3)?,
            });
            Ok(())
        })?;
        Ok(sessions)
    }

    /// What the rows are of; the golden run took as long as in the first session.
    pub(crate) fn origin(&self) -> Result<Origin, StoreError> {
        let seconds = self.sessions()?.first().map_or(0.0, |session| session.golden_seconds);
        let mut origin = None;
        self.each(
            "SELECT name, digest, launches, threads, thread_instructions, races_unsearched FROM target",
            [],
            |row| {
                let (launches, threads, thread_instructions) =
                    (unsigned(row, 2)?, unsigned(row, 3)?, unsigned(row, 4)?);
                let golden = GoldenSummary { launches, threads, thread_instructions, seconds };
                origin = Some(Origin {
                    name: get(row, 0)?,
                    digest: get(row, 1)?,
                    golden,
                    labels: self.labels.clone(),
                    races: Vec::new(),
                    races_unsearched: get(row, 5)?,
                    outline: None,
                    strata: Vec::new(),
                    registers: Vec::new(),
                });
                Ok(())
            },
        )?;
        if let Some(origin) = &mut origin {
            origin.strata = self.strata()?;
            origin.registers = self.registers()?;
            origin.races = self.races()?;
        }
        if let (true, Some(origin)) = (self.swept, &mut origin) {
            origin.outline = Some(self.outline()?);
        }
        origin.ok_or_else(|| self.damaged("it does not say what its rows are of"))
    }
}

/// The bounds of a range of runs, as SQLite's integers.
fn bounds(runs: Range<u64>) -> [i64; 2] {
    [runs.start, runs.end].map(|run| i64::try_from(run).unwrap_or(i64::MAX))
}
