//! What is read from a file of units.

use std::collections::BTreeMap;

use super::error::StoreError;
use super::file::{Rows, class, get, unsigned};
use super::unit::unpack;
use super::values::{self, wrong};
use crate::config::Shard;
use crate::site::Spot;
use crate::sweep::{Outline, SweepSize, SweptCount, SweptOperand};
use crate::tally::Tally;
use outcome::Class;

impl Rows {
    /// What all units are of.
    pub(super) fn outline(&self) -> Result<Outline, StoreError> {
        let operands = self.operands()?;
        let mut size = None;
        self.each("SELECT units, faults, members FROM sweep", [], |row| {
            let (units, faults, members) = (unsigned(row, 0)?, unsigned(row, 1)?, unsigned(row, 2)?);
            size = Some(SweepSize { operands: operands.len() as u64, units, faults, members });
            Ok(())
        })?;
        let size = size.ok_or_else(|| self.damaged("it does not say what its units are of"))?;
        Ok(Outline { operands, size })
    }

    /// What is hit, in order; nothing in a file of single runs.
    pub(crate) fn operands(&self) -> Result<Vec<SweptOperand>, StoreError> {
        let mut operands = Vec::new();
        if self.swept {
            let (weight, join) = self.operand_weight()?;
            let sql = format!(
                "SELECT kernel, pc, file, line, instruction_group, opcode, target, elements, bits, {weight}
                 FROM operand {join} ORDER BY operand"
            );
            self.each(&sql, [], |row| {
                let spot = Spot {
                    kernel: get(row, 0)?,
                    pc: get(row, 1)?,
                    file: get(row, 2)?,
                    line: get(row, 3)?,
                    group: get(row, 4)?,
                    opcode: get(row, 5)?,
                    target: get(row, 6)?,
                };
                operands.push(SweptOperand {
                    spot,
                    elements: get(row, 7)?,
                    bits: get(row, 8)?,
                    weight: unsigned(row, 9)?,
                });
                Ok(())
            })?;
        }
        Ok(operands)
    }

    /// The weight of an operand, and how its table joins that of the operands.
    pub(super) fn operand_weight(&self) -> Result<(&'static str, &'static str), StoreError> {
        let has_weights = self.has_table("operand_weight")?;
        Ok(if has_weights { ("weight", "LEFT JOIN operand_weight USING (operand)") } else { ("1", "") })
    }

    /// How often each bit of each operand came to each outcome, in this order; nothing in a file of single runs.
    pub(crate) fn swept_counts(&self) -> Result<Vec<SweptCount>, StoreError> {
        let mut counts = Vec::new();
        if self.swept {
            self.each("SELECT operand, bit, outcome, kind, count FROM tally", [], |row| {
                let (class, kind) = (class(row, 2)?, get::<String>(row, 3)?);
                let outcome = values::outcome(class, Some(kind.as_str()).filter(|kind| !kind.is_empty()))?;
                let outcome = outcome.ok_or("its tally counts faults that failed")?;
                counts.push(SweptCount { operand: get(row, 0)?, bit: get(row, 1)?, outcome, count: unsigned(row, 4)? });
                Ok(())
            })?;
        }
        // The file is in the order of words.
        counts.sort();
        Ok(counts)
    }

    /// Calls `visit` with each unit that was made and the outcomes of its faults, by ascending unit.
    pub(crate) fn visit_units(&self, visit: &mut dyn FnMut(u64, Vec<u8>)) -> Result<(), StoreError> {
        if !self.swept {
            return Ok(());
        }
        self.each("SELECT unit, faults, outcomes FROM unit ORDER BY unit", [], |row| {
            let unit = unsigned(row, 0)?;
            let packed: Option<Vec<u8>> = get(row, 2)?;
            let outcomes = unpack(packed.as_deref(), unsigned(row, 1)?);
            visit(unit, outcomes.map_err(|what| format!("unit {unit}: {what}"))?);
            Ok(())
        })
    }

    /// Refuses units that there are not.
    pub(super) fn check_units(&self, shard: Shard) -> Result<(), StoreError> {
        let units = self.outline()?.size.units;
        self.each("SELECT unit FROM unit", [], |row| {
            let unit = unsigned(row, 0)?;
            if shard.position_of(unit).is_some_and(|position| position < units) {
                return Ok(());
            }
            Err(wrong("unit", unit, format_args!("one of the {units} units of shard {shard}")))
        })
    }

    /// How many faults there are of each class.
    pub(super) fn swept_tally(&self) -> Result<Tally, StoreError> {
        let (mut tally, mut faults) = (Tally::default(), 0);
        // One statement, so that another process that writes cannot come between the counts and their total.
        let sql = "SELECT outcome, sum(count) FROM tally GROUP BY outcome
                   UNION ALL SELECT 'failed', coalesce(sum(faults), 0) FROM unit";
        self.each(sql, [], |row| {
            match class(row, 0)? {
                Class::Failed => faults = unsigned(row, 1)?,
                class => tally.add(class, unsigned(row, 1)?),
            }
            Ok(())
        })?;
        // What has no outcome has failed.
        let damaged = || self.damaged("its tally is of more faults than its units have");
        tally.failed = faults.checked_sub(tally.total()).ok_or_else(damaged)?;
        Ok(tally)
    }

    /// How many faults took each path.
    pub(super) fn swept_tiers(&self) -> Result<BTreeMap<String, u64>, StoreError> {
        let mut tiers = BTreeMap::new();
        for tier in ["full", "delta", "lanes", "decided"] {
            self.each(&format!("SELECT coalesce(sum(tier_{tier}), 0) FROM unit"), [], |row| {
                tiers.insert(tier.to_owned(), unsigned(row, 0)?);
                Ok(())
            })?;
        }
        Ok(tiers)
    }
}
