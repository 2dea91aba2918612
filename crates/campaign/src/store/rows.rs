//! The file of rows: one SQLite database per shard. Units of an exhaustive campaign have tables of their own.
//!
//! Tables are STRICT; the journal is a write-ahead log with full synchronisation, so a committed batch survives the
//! loss of power. The header of the file says whose it is and which version: a file that is something else is
//! refused, never changed.

use std::path::{Path, PathBuf};

use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, params, params_from_iter};

use super::encode::encode;
use super::row::{COLUMNS, Row};
use super::units;
use crate::store::StoreError;
use crate::sweep::Outline;
use crate::target::{Golden, Target};

/// "BEAM", in the header of the file.
const APPLICATION_ID: i32 = 0x4245_414d;
/// The version of the tables.
const VERSION: i32 = 2;

/// What the rows are of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) digest: String,
    pub(crate) golden: Golden,
    /// For an exhaustive campaign, what all its units are of.
    pub(crate) outline: Option<Outline>,
}

impl Subject {
    pub(crate) fn of(target: &dyn Target, outline: Option<Outline>) -> Self {
        let (name, digest) = (target.name().to_owned(), target.digest().to_owned());
        Self { name, digest, golden: target.golden(), outline }
    }
}

/// A stretch of work on the campaign by one process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Session {
    pub(crate) golden_seconds: f64,
    pub(crate) jobs: u32,
    pub(crate) seconds: f64,
    pub(crate) runs: u64,
}

/// An open file of rows.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(super) path: PathBuf,
    pub(super) connection: Connection,
    /// It holds the units of an exhaustive campaign, and no rows of single runs.
    pub(super) swept: bool,
}

impl Rows {
    /// Opens the file for writing; makes it, with its tables, where there is none.
    pub(crate) fn open(path: PathBuf, subject: &Subject) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut rows = Self::connect(path, flags)?;
        if rows.is_blank()? {
            rows.set_up(subject)?;
        }
        rows.check()?;
        rows.batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 16384")?;
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

    fn connect(path: PathBuf, flags: OpenFlags) -> Result<Self, StoreError> {
        // No URI flag: a directory may be called `file:x?mode=memory`. No mutex: a connection stays on one thread.
        match Connection::open_with_flags(&path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX) {
            Ok(connection) => {
                let rows = Self { path, connection, swept: false };
                // The file may be anybody's: nothing in its schema may call functions with side effects.
                rows.batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")?;
                Ok(rows)
            }
            Err(source) => Err(explain(&path, source)),
        }
    }

    fn batch(&self, sql: &str) -> Result<(), StoreError> {
        self.connection.execute_batch(sql).map_err(|source| self.fail(source))
    }

    pub(super) fn fail(&self, source: rusqlite::Error) -> StoreError {
        explain(&self.path, source)
    }

    fn header(&self, pragma: &str) -> Result<i32, StoreError> {
        self.connection.pragma_query_value(None, pragma, |row| row.get(0)).map_err(|source| self.fail(source))
    }

    /// A file that nobody wrote into, such as one whose making was interrupted.
    fn is_blank(&self) -> Result<bool, StoreError> {
        let count = self.connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0));
        let empty = count.map_err(|source| self.fail(source))? == 0;
        Ok(empty && self.header("application_id")? == 0 && self.header("user_version")? == 0)
    }

    /// Makes the tables in one transaction, so that they are all there or none is.
    fn set_up(&mut self, subject: &Subject) -> Result<(), StoreError> {
        let columns: Vec<String> = COLUMNS.iter().map(|(name, declaration)| format!("{name} {declaration}")).collect();
        let sql = format!(
            "CREATE TABLE target (name TEXT NOT NULL, digest TEXT NOT NULL, launches INTEGER NOT NULL,
                threads INTEGER NOT NULL, thread_instructions INTEGER NOT NULL) STRICT;
             CREATE TABLE session (session INTEGER PRIMARY KEY, golden_seconds REAL NOT NULL, jobs INTEGER NOT NULL,
                seconds REAL NOT NULL, runs INTEGER NOT NULL) STRICT;
             CREATE TABLE run ({}) STRICT;
             PRAGMA application_id = {APPLICATION_ID};
             PRAGMA user_version = {VERSION};",
            columns.join(", ")
        );
        self.transact(|transaction| {
            transaction.execute_batch(&sql)?;
            let golden = subject.golden;
            let numbers = [golden.launches, golden.threads, golden.thread_instructions].map(clamp);
            transaction.execute(
                "INSERT INTO target VALUES (?1, ?2, ?3, ?4, ?5)",
                params![subject.name, subject.digest, numbers[0], numbers[1], numbers[2]],
            )?;
            subject.outline.as_ref().map_or(Ok(()), |outline| units::set_up(transaction, outline))
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
        let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'sweep'";
        let tables = self.connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        self.swept = tables.map_err(|source| self.fail(source))? > 0;
        Ok(())
    }

    pub(super) fn transact<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let path = &self.path;
        let run = |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        run(&mut self.connection).map_err(|source| explain(path, source))
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
        let encoded = rows.iter().map(encode).collect::<Result<Vec<_>, _>>()?;
        self.transact(|transaction| {
            let mut insert = transaction.prepare(&insert_sql())?;
            for values in &encoded {
                insert.execute(params_from_iter(values))?;
            }
            advance(transaction, session, seconds, encoded.len() as u64)
        })
    }

    /// Adds all rows and sessions of `other`, as they are.
    pub(crate) fn append(&mut self, other: &Self) -> Result<(), StoreError> {
        let names = COLUMNS.iter().map(|column| column.0).collect::<Vec<_>>().join(", ");
        let rows = format!("SELECT {names} FROM run ORDER BY run");
        let sessions = "SELECT NULL, golden_seconds, jobs, seconds, runs FROM session ORDER BY session";
        self.transact(|transaction| {
            copy(&other.connection, &rows, transaction, &insert_sql())?;
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

/// Notes how long a session has taken so far, and that it made `runs` more.
pub(super) fn advance(transaction: &Transaction<'_>, session: i64, seconds: f64, runs: u64) -> rusqlite::Result<()> {
    let sql = "UPDATE session SET seconds = ?1, runs = runs + ?2 WHERE session = ?3";
    transaction.execute(sql, params![seconds, clamp(runs), session]).map(drop)
}

/// Inserts each result of `select` on one connection into another, value by value.
pub(super) fn copy(from: &Connection, select: &str, to: &Transaction<'_>, insert: &str) -> rusqlite::Result<()> {
    let (mut select, mut insert) = (from.prepare(select)?, to.prepare(insert)?);
    let count = select.column_count();
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let values = (0..count).map(|index| row.get_ref(index).map(ToSqlOutput::Borrowed));
        insert.execute(params_from_iter(values.collect::<rusqlite::Result<Vec<_>>>()?))?;
    }
    Ok(())
}

/// Inserts a row by position.
fn insert_sql() -> String {
    let marks = vec!["?"; COLUMNS.len()].join(", ");
    format!("INSERT INTO run VALUES ({marks})")
}

/// Sizes of the golden run and counts of rows: beyond 2⁶³ nothing could have been counted.
pub(super) fn clamp(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn parent(path: &Path) -> PathBuf {
    path.parent().unwrap_or(path).to_owned()
}

/// Names the two failures that need words of their own.
fn explain(path: &Path, source: rusqlite::Error) -> StoreError {
    match source.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full { dir: parent(path) },
        Some(ErrorCode::NotADatabase) => StoreError::Foreign { path: path.to_owned() },
        _ => StoreError::Sqlite { path: path.to_owned(), dir: parent(path), source },
    }
}
