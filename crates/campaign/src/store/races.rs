//! The data races of the golden run, in a table of their own: a report that is made later has no golden run to ask.

use rusqlite::{Transaction, params};

use super::error::StoreError;
use super::file::{Rows, clamp, get, unsigned};
use super::values::word;
use crate::race::{DataRace, RacingAccess};

/// The table; empty where there are no races.
pub(super) const TABLE: &str = "
    CREATE TABLE race (race INTEGER PRIMARY KEY, kernel TEXT NOT NULL, racers TEXT NOT NULL, memory TEXT NOT NULL,
        first_pc INTEGER NOT NULL, first_file TEXT, first_line INTEGER, second_pc INTEGER NOT NULL, second_file TEXT,
        second_line INTEGER, words INTEGER NOT NULL) STRICT;";

/// Makes and fills the table.
pub(super) fn set_up(transaction: &Transaction<'_>, races: &[DataRace]) -> rusqlite::Result<()> {
    transaction.execute_batch(TABLE)?;
    let mut insert = transaction.prepare("INSERT INTO race VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    for DataRace { kernel, between, memory, accesses: [first, second], words } in races {
        insert.execute(params![
            kernel,
            between.word(),
            memory.word(),
            first.pc,
            first.file,
            first.line,
            second.pc,
            second.file,
            second.line,
            clamp(*words)
        ])?;
    }
    Ok(())
}

impl Rows {
    /// The races, in the order in which they were found.
    pub(super) fn races(&self) -> Result<Vec<DataRace>, StoreError> {
        let mut races = Vec::new();
        let sql =
            "SELECT kernel, racers, memory, first_pc, first_file, first_line, second_pc, second_file, second_line,
                   words FROM race ORDER BY race";
        self.each(sql, [], |row| {
            let access = |at| {
                Ok::<_, String>(RacingAccess { pc: get(row, at)?, file: get(row, at + 1)?, line: get(row, at + 2)? })
            };
            races.push(DataRace {
                kernel: get(row, 0)?,
                between: word("racers", &get::<String>(row, 1)?)?,
                memory: word("memory", &get::<String>(row, 2)?)?,
                accesses: [access(3)?, access(6)?],
                words: unsigned(row, 9)?,
            });
            Ok(())
        })?;
        Ok(races)
    }
}
