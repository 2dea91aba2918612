//! How much of the register file each kernel is given, in a table of its own where registers are hit.

use rusqlite::{Transaction, params};

use super::error::StoreError;
use super::file::{Rows, get};
use crate::target::KernelRegisters;

/// The table.
pub(super) const TABLE: &str = "
    CREATE TABLE registers (kernel TEXT PRIMARY KEY, registers_per_thread INTEGER NOT NULL,
        share REAL NOT NULL) STRICT;";

/// Makes and fills the table, if there is something to fill it with.
pub(super) fn set_up(transaction: &Transaction<'_>, kernels: &[KernelRegisters]) -> rusqlite::Result<()> {
    if kernels.is_empty() {
        return Ok(());
    }
    transaction.execute_batch(TABLE)?;
    let mut insert = transaction.prepare("INSERT INTO registers VALUES (?, ?, ?)")?;
    for it in kernels {
        insert.execute(params![it.kernel, it.registers_per_thread, it.share])?;
    }
    Ok(())
}

impl Rows {
    /// What the kernels are given, by name; nothing where no registers are hit.
    pub(super) fn registers(&self) -> Result<Vec<KernelRegisters>, StoreError> {
        let mut kernels = Vec::new();
        if self.has_table("registers")? {
            self.each("SELECT kernel, registers_per_thread, share FROM registers ORDER BY kernel", [], |row| {
                let (kernel, registers_per_thread, share) = (get(row, 0)?, get(row, 1)?, get(row, 2)?);
                kernels.push(KernelRegisters { kernel, registers_per_thread, share });
                Ok(())
            })?;
        }
        Ok(kernels)
    }
}
