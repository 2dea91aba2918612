//! One SQLite file: opening it, transactions, statements, and what its errors mean.
//!
//! The file may have been edited by somebody: what makes no sense is an error, not a number.

use std::path::{Path, PathBuf};

use rusqlite::types::{FromSql, ToSqlOutput};
use rusqlite::{Connection, ErrorCode, OpenFlags, Params, Transaction, params, params_from_iter};

use super::error::StoreError;
use crate::site::LabelColumn;
use outcome::Class;

/// An open file of rows.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(super) path: PathBuf,
    pub(super) connection: Connection,
    /// It holds the units of an exhaustive campaign, and no rows of single runs.
    pub(super) swept: bool,
    /// How many strata its runs take turns in; 0 if they were drawn from the whole population.
    pub(super) strata: u64,
    /// What the target says of each site: columns of the table `run`.
    pub(super) labels: Vec<LabelColumn>,
}

impl Rows {
    pub(super) fn connect(path: PathBuf, flags: OpenFlags) -> Result<Self, StoreError> {
        // No URI flag: a directory may be called `file:x?mode=memory`. No mutex: a connection stays on one thread.
        match Connection::open_with_flags(&path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX) {
            Ok(connection) => {
                let rows = Self { path, connection, swept: false, strata: 0, labels: Vec::new() };
                // The file may be anybody's: nothing in its schema may call functions with side effects.
                rows.batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")?;
                Ok(rows)
            }
            Err(source) => Err(explain(&path, source)),
        }
    }

    pub(super) fn batch(&self, sql: &str) -> Result<(), StoreError> {
        self.connection.execute_batch(sql).map_err(|source| self.fail(source))
    }

    pub(super) fn fail(&self, source: rusqlite::Error) -> StoreError {
        explain(&self.path, source)
    }

    pub(super) fn damaged(&self, what: impl Into<String>) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), what: what.into() }
    }

    pub(super) fn header(&self, pragma: &str) -> Result<i32, StoreError> {
        self.connection.pragma_query_value(None, pragma, |row| row.get(0)).map_err(|source| self.fail(source))
    }

    /// A file that nobody wrote into, such as one whose making was interrupted.
    pub(super) fn is_blank(&self) -> Result<bool, StoreError> {
        let count = self.connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0));
        let empty = count.map_err(|source| self.fail(source))? == 0;
        Ok(empty && self.header("application_id")? == 0 && self.header("user_version")? == 0)
    }

    /// Whether the file has a table of this name.
    pub(super) fn has_table(&self, name: &str) -> Result<bool, StoreError> {
        let mut tables = 0;
        let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        self.each(sql, [name], |row| {
            tables = unsigned(row, 0)?;
            Ok(())
        })?;
        Ok(tables > 0)
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

    /// Calls `visit` for each result of `sql`.
    pub(super) fn each(
        &self,
        sql: &str,
        params: impl Params,
        mut visit: impl FnMut(&rusqlite::Row<'_>) -> Result<(), String>,
    ) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare(sql).map_err(|source| self.fail(source))?;
        let mut rows = statement.query(params).map_err(|source| self.fail(source))?;
        while let Some(row) = rows.next().map_err(|source| self.fail(source))? {
            visit(row).map_err(|what| self.damaged(what))?;
        }
        Ok(())
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

/// Sizes of the golden run and counts of rows: beyond 2⁶³ nothing could have been counted.
pub(super) fn clamp(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(super) fn get<T: FromSql>(row: &rusqlite::Row<'_>, index: usize) -> Result<T, String> {
    row.get(index).map_err(|error| error.to_string())
}

pub(super) fn unsigned(row: &rusqlite::Row<'_>, index: usize) -> Result<u64, String> {
    let value: i64 = get(row, index)?;
    u64::try_from(value).map_err(|_| format!("{value} where nothing is negative"))
}

pub(super) fn class(row: &rusqlite::Row<'_>, index: usize) -> Result<Class, String> {
    get::<String>(row, index)?.parse().map_err(|error| format!("{error}"))
}

pub(super) fn parent(path: &Path) -> PathBuf {
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
