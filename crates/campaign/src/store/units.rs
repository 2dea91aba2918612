//! The tables of an exhaustive campaign, and how they are written.
//!
//! `operand` lists what is hit, `unit` has a row for each unit that was made, and `tally` adds up their counts. A unit
//! and its share of the tally are written in one transaction, so that the tally is that of the units that are there
//! whenever the writer is killed.

use rusqlite::{Connection, Transaction, params};

use super::error::StoreError;
use super::file::{Rows, advance, clamp, copy};
use super::unit::Unit;
use crate::sweep::{Outline, SweptCount, SweptOperand, combine};
use outcome::CLASSIFIER_VERSION;

/// The tables.
pub(super) const TABLES: &str = "
    CREATE TABLE sweep (units INTEGER NOT NULL, faults INTEGER NOT NULL, members INTEGER NOT NULL) STRICT;
    CREATE TABLE operand (operand INTEGER PRIMARY KEY, kernel TEXT NOT NULL, pc INTEGER NOT NULL, file TEXT,
        line INTEGER, instruction_group TEXT NOT NULL, opcode TEXT NOT NULL, target TEXT NOT NULL,
        elements INTEGER NOT NULL CHECK (elements > 0), bits INTEGER NOT NULL CHECK (bits > 0)) STRICT;
    CREATE TABLE unit (unit INTEGER PRIMARY KEY, faults INTEGER NOT NULL, tier_full INTEGER, tier_delta INTEGER,
        tier_lanes INTEGER, tier_decided INTEGER, host_visible INTEGER, classifier INTEGER NOT NULL, error TEXT,
        outcomes BLOB, CHECK ((error IS NULL) = (outcomes IS NOT NULL))) STRICT;
    CREATE TABLE tally (operand INTEGER NOT NULL REFERENCES operand, bit INTEGER NOT NULL,
        outcome TEXT NOT NULL CHECK (outcome IN ('masked', 'sdc', 'due', 'undecided', 'not_landed')), kind TEXT NOT NULL,
        count INTEGER NOT NULL, PRIMARY KEY (operand, bit, outcome, kind)) STRICT, WITHOUT ROWID;";

const INSERT_UNIT: &str = "INSERT INTO unit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// A primary key has no nulls: the kind of an outcome without one is the empty text.
const ADD_TO_TALLY: &str = "INSERT INTO tally VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (operand, bit, outcome, kind) DO UPDATE SET count = count + excluded.count";

/// How many faults each fault of an operand stands for, where that is not one for all.
pub(super) const WEIGHTS: &str = "
    CREATE TABLE operand_weight (operand INTEGER PRIMARY KEY REFERENCES operand,
        weight INTEGER NOT NULL CHECK (weight > 0)) STRICT;";

/// Makes the tables, and lists what is hit.
pub(super) fn set_up(transaction: &Transaction<'_>, outline: &Outline) -> rusqlite::Result<()> {
    transaction.execute_batch(TABLES)?;
    let size = outline.size;
    let numbers = [size.units, size.faults, size.members].map(clamp);
    transaction.execute("INSERT INTO sweep VALUES (?, ?, ?)", numbers)?;
    let mut insert = transaction.prepare("INSERT INTO operand VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    for (index, operand) in outline.operands.iter().enumerate() {
        insert.execute(params![
            clamp(index as u64),
            operand.spot.kernel,
            operand.spot.pc,
            operand.spot.file,
            operand.spot.line,
            operand.spot.group,
            operand.spot.opcode,
            operand.spot.target,
            operand.elements,
            operand.bits
        ])?;
    }
    set_up_weights(transaction, &outline.operands)
}

/// Makes and fills the table of weights, if there are some.
fn set_up_weights(transaction: &Transaction<'_>, operands: &[SweptOperand]) -> rusqlite::Result<()> {
    if operands.iter().all(|operand| operand.weight == 1) {
        return Ok(());
    }
    transaction.execute_batch(WEIGHTS)?;
    let mut insert = transaction.prepare("INSERT INTO operand_weight VALUES (?, ?)")?;
    for (index, operand) in operands.iter().enumerate() {
        insert.execute([clamp(index as u64), clamp(operand.weight)])?;
    }
    Ok(())
}

/// Adds the units and the tally of another file, which has none of these units.
pub(super) fn append(transaction: &Transaction<'_>, other: &Connection) -> rusqlite::Result<()> {
    copy(other, "SELECT * FROM unit ORDER BY unit", transaction, INSERT_UNIT)?;
    copy(other, "SELECT operand, bit, outcome, kind, count FROM tally", transaction, ADD_TO_TALLY)
}

impl Rows {
    /// Writes units and their tally, and how long the session has taken so far, durably, all or nothing.
    pub(crate) fn commit_units(&mut self, units: &[Unit], session: i64, seconds: f64) -> Result<(), StoreError> {
        let counts = combine(units.iter().flat_map(|unit| unit.counts().iter().copied()).collect());
        self.transact(|transaction| {
            let mut insert = transaction.prepare(INSERT_UNIT)?;
            for unit in units {
                insert_unit(&mut insert, unit)?;
            }
            let mut add = transaction.prepare(ADD_TO_TALLY)?;
            for SweptCount { operand, bit, outcome, count } in counts {
                let kind = outcome.kind().unwrap_or_default();
                add.execute(params![operand, bit, outcome.class().word(), kind, clamp(count)])?;
            }
            let faults = units.iter().map(|unit| unit.faults).sum();
            advance(transaction, session, seconds, faults)
        })
    }
}

fn insert_unit(insert: &mut rusqlite::Statement<'_>, unit: &Unit) -> rusqlite::Result<()> {
    let (packed, error) = match &unit.finding {
        Ok(packed) => (Some(packed), None),
        Err(failure) => (None, Some(failure.message())),
    };
    let tiers = packed.map(|packed| packed.tiers);
    insert
        .execute(params![
            clamp(unit.unit),
            clamp(unit.faults),
            tiers.map(|tiers| clamp(tiers.full)),
            tiers.map(|tiers| clamp(tiers.delta)),
            tiers.map(|tiers| clamp(tiers.lanes)),
            tiers.map(|tiers| clamp(tiers.decided)),
            packed.map(|packed| clamp(packed.host_visible)),
            CLASSIFIER_VERSION,
            error,
            packed.map(|packed| &packed.outcomes[..])
        ])
        .map(drop)
}
