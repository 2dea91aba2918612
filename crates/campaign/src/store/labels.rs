//! What the target says of each site, in a table of its own, for those who read the rows without this program.

use rusqlite::{Transaction, params};

use super::error::StoreError;
use super::file::{Rows, clamp, get};
use crate::site::{LabelColumn, LabelKind};

/// The table.
pub(super) const TABLE: &str = "
    CREATE TABLE label (label INTEGER PRIMARY KEY, name TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('number', 'text')), meaning TEXT NOT NULL) STRICT;";

/// Makes and fills the table.
pub(super) fn set_up(transaction: &Transaction<'_>, labels: &[LabelColumn]) -> rusqlite::Result<()> {
    transaction.execute_batch(TABLE)?;
    let mut insert = transaction.prepare("INSERT INTO label VALUES (?, ?, ?, ?)")?;
    for (number, label) in labels.iter().enumerate() {
        insert.execute(params![clamp(number as u64), label.name, label.kind.word(), label.meaning])?;
    }
    Ok(())
}

impl Rows {
    /// The labels in their order.
    pub(super) fn labels(&self) -> Result<Vec<LabelColumn>, StoreError> {
        let mut labels = Vec::new();
        self.each("SELECT name, kind, meaning FROM label ORDER BY label", [], |row| {
            let (name, kind, meaning) = (get::<String>(row, 0)?, get::<String>(row, 1)?, get::<String>(row, 2)?);
            let kind: LabelKind = kind.parse().map_err(|error| format!("{error}"))?;
            labels.push(LabelColumn { name: name.into(), kind, meaning: meaning.into() });
            Ok(())
        })?;
        Ok(labels)
    }
}
