//! The strata of a campaign that has some, in a table of their own. Which of them a row is of follows from its number.

use rusqlite::{Transaction, params};

use super::error::StoreError;
use super::file::{Rows, clamp, get, unsigned};
use crate::target::Stratum;

/// The table.
pub(super) const TABLE: &str = "
    CREATE TABLE stratum (stratum INTEGER PRIMARY KEY, name TEXT NOT NULL,
        members INTEGER NOT NULL CHECK (members > 0)) STRICT;";

/// Makes and fills the table, if there are strata.
pub(super) fn set_up(transaction: &Transaction<'_>, strata: &[Stratum]) -> rusqlite::Result<()> {
    if strata.is_empty() {
        return Ok(());
    }
    transaction.execute_batch(TABLE)?;
    let mut insert = transaction.prepare("INSERT INTO stratum VALUES (?, ?, ?)")?;
    for (number, stratum) in strata.iter().enumerate() {
        insert.execute(params![clamp(number as u64), stratum.name, clamp(stratum.members)])?;
    }
    Ok(())
}

impl Rows {
    /// The strata in their order; none in the file of a campaign without.
    pub(super) fn strata(&self) -> Result<Vec<Stratum>, StoreError> {
        let mut strata = Vec::new();
        if self.has_table("stratum")? {
            self.each("SELECT stratum, name, members FROM stratum ORDER BY stratum", [], |row| {
                if unsigned(row, 0)? != strata.len() as u64 {
                    return Err("its strata have gaps".to_owned());
                }
                strata.push(Stratum { name: get(row, 1)?, members: unsigned(row, 2)? });
                Ok(())
            })?;
        }
        Ok(strata)
    }
}
