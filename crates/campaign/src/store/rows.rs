//! The file of rows: one SQLite database per shard. Units of an exhaustive campaign have tables of their own.
//!
//! Tables are STRICT; the journal is a write-ahead log with full synchronisation, so a committed batch survives the
//! loss of power. The header of the file says whose it is and which version: a file that is something else is
//! refused, never changed.

use std::path::{Path, PathBuf};

use rusqlite::{OpenFlags, Transaction, params, params_from_iter};

use super::columns;
use super::encode::encode;
use super::error::StoreError;
use super::file::{Rows, advance, clamp, copy, parent};
use super::origin::{Origin, Session};
use super::row::Row;
use super::{labels, origin, races, registers, schema, strata, units};

/// "BEAM", in the header of the file.
const APPLICATION_ID: i32 = 0x4245_414d;
/// The version of the tables.
const VERSION: i32 = 7;

/// What SQLite calls a database in memory. No path of ours is like this: all name a directory.
const MEMORY: &str = ":memory:";

impl Rows {
    /// Opens the file for writing; makes it, with its tables, where there is none.
    pub(crate) fn open(path: PathBuf, origin: &Origin) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        if path.is_symlink() {
            return Err(StoreError::Link { path });
        }
        let mut rows = Self::connect(path, flags)?;
        if rows.is_blank()? {
            rows.set_up(origin)?;
        }
        rows.check()?;
        rows.batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 16384")?;
        Ok(rows)
    }

    /// Rows that are in no file.
    pub(crate) fn in_memory(origin: &Origin) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut rows = Self::connect(PathBuf::from(MEMORY), flags)?;
        rows.set_up(origin)?;
        rows.check()?;
        Ok(rows)
    }

    /// Opens the file for reading, while another process writes it or afterwards.
    pub(crate) fn read(path: PathBuf) -> Result<Self, StoreError> {
        let no_rows = StoreError::NoRows { dir: parent(&path), path: path.clone() };
        if !path.exists() {
            return Err(no_rows);
        }
        let mut rows = Self::connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        if rows.is_blank()? {
            return Err(no_rows);
        }
        rows.check()?;
        Ok(rows)
    }

    /// Refuses a file of another version, if there is one: what lies beside it may be of that version too.
    pub(crate) fn check_version(path: &Path) -> Result<(), StoreError> {
        match Self::read(path.to_owned()) {
            Err(error @ StoreError::Version { .. }) => Err(error),
            // Whatever else is wrong is found when the file is opened for writing.
            _ => Ok(()),
        }
    }

    /// Makes the tables in one transaction, so that they are all there or none is.
    fn set_up(&mut self, origin: &Origin) -> Result<(), StoreError> {
        columns::check(&origin.labels).map_err(StoreError::Labels)?;
        self.transact(|transaction| {
            transaction.execute_batch(origin::TABLES)?;
            transaction.execute_batch(&columns::table(&origin.labels))?;
            transaction.execute_batch(&format!(
                "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};"
            ))?;
            let golden = origin.golden;
            let numbers = [golden.launches, golden.threads, golden.thread_instructions].map(clamp);
            transaction.execute(
                "INSERT INTO target VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![origin.name, origin.digest, numbers[0], numbers[1], numbers[2], origin.races_unsearched],
            )?;
            set_up_parts(transaction, origin)
        })
    }

    /// Refuses a file that is something else, and notices what kind of rows it holds.
    fn check(&mut self) -> Result<(), StoreError> {
        let path = || self.path.clone();
        if self.header("application_id")? != APPLICATION_ID {
            return Err(StoreError::Foreign { path: path() });
        }
        match self.header("user_version")? {
            VERSION => {}
            found => return Err(StoreError::Version { path: path(), found, known: VERSION }),
        }
        schema::has_no_views(self)?;
        self.swept = self.has_table("sweep")?;
        self.strata = self.strata()?.len() as u64;
        self.labels = self.labels()?;
        // They become part of statements.
        columns::check(&self.labels).map_err(|what| self.damaged(what))?;
        schema::check(self)
    }

    /// Begins a session; the number is for [`commit`](Self::commit).
    pub(crate) fn begin(&mut self, session: Session) -> Result<i64, StoreError> {
        self.transact(|transaction| {
            transaction.execute(
                "INSERT INTO session (golden_seconds, jobs, seconds, runs) VALUES (?1, ?2, ?3, ?4)",
                params![session.golden_seconds, session.jobs, session.seconds, clamp(session.runs)],
            )?;
            Ok(transaction.last_insert_rowid())
        })
    }

    /// Writes a batch of rows and how long the session has taken so far, durably, all or nothing.
    pub(crate) fn commit(&mut self, rows: &[Row], session: i64, seconds: f64) -> Result<(), StoreError> {
        let columns = self.columns().len();
        let encoded = rows.iter().map(|row| encode(row, columns)).collect::<Result<Vec<_>, _>>()?;
        self.transact(|transaction| {
            let mut insert = transaction.prepare(&insert_sql(columns))?;
            for values in &encoded {
                insert.execute(params_from_iter(values))?;
            }
            advance(transaction, session, seconds, encoded.len() as u64)
        })
    }

    /// Adds all rows and sessions of `other`, as they are.
    pub(crate) fn append(&mut self, other: &Self) -> Result<(), StoreError> {
        let columns = self.columns().len();
        let rows = format!("SELECT {} FROM run ORDER BY run", columns::names(&self.labels));
        let sessions = "SELECT NULL, golden_seconds, jobs, seconds, runs FROM session ORDER BY session";
        self.transact(|transaction| {
            copy(&other.connection, &rows, transaction, &insert_sql(columns))?;
            if other.swept {
                units::append(transaction, &other.connection)?;
            }
            copy(&other.connection, sessions, transaction, "INSERT INTO session VALUES (?, ?, ?, ?, ?)")
        })
    }

    /// Leaves one plain file, without a log beside it, that can be read from where nothing can be written.
    ///
    /// A reader that has the file open prevents it; then the log stays, which loses nothing.
    pub(crate) fn seal(&self) {
        let _ = self.batch("PRAGMA journal_mode = DELETE");
    }
}

#[cfg(test)]
impl Rows {
    /// Makes the disk full once the file has this many pages.
    pub(crate) fn limit_pages(&self, pages: u32) {
        self.connection.pragma_update(None, "max_page_count", pages).expect("the pragma works");
    }
}

/// Makes the tables that some campaigns have, and that of labels.
fn set_up_parts(transaction: &Transaction<'_>, origin: &Origin) -> rusqlite::Result<()> {
    labels::set_up(transaction, &origin.labels)?;
    races::set_up(transaction, &origin.races)?;
    strata::set_up(transaction, &origin.strata)?;
    registers::set_up(transaction, &origin.registers)?;
    origin.outline.as_ref().map_or(Ok(()), |outline| units::set_up(transaction, outline))
}

/// Inserts a row by position.
fn insert_sql(columns: usize) -> String {
    let marks = vec!["?"; columns].join(", ");
    format!("INSERT INTO run VALUES ({marks})")
}
