//! The values of the inputs that a study evaluated, in one file, so that the same command goes on where it was ended.
//!
//! A value is a document under the text of an input and the word of an evaluation. A search is a function of its seed and of the
//! values that it is told: begun anew, it asks for the same inputs, and those that the file knows cost nothing. Each value is
//! written in a transaction of its own; a process that is killed loses the evaluation in hand.

use super::error::StudyError;
use campaign::names::file_name;
use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::path::{Path, PathBuf};

/// "BEAS", in the header of the file.
const APPLICATION_ID: i32 = 0x4245_4153;
/// The version of the tables.
const VERSION: i32 = 1;

const TABLES: &str = "
    CREATE TABLE study (of TEXT NOT NULL) STRICT;
    CREATE TABLE evaluation (number INTEGER PRIMARY KEY, input TEXT NOT NULL, what TEXT NOT NULL, value TEXT NOT NULL,
        UNIQUE (input, what)) STRICT;";

/// What a study found out about inputs.
#[derive(Debug)]
pub struct InputHistory {
    path: PathBuf,
    connection: Connection,
}

impl InputHistory {
    /// Opens the history of an application in a directory, or begins one. `of` identifies all that its values depend on beside the
    /// input and the evaluation: the program, its space, how outputs are compared.
    ///
    /// # Errors
    /// If the directory cannot be made, the file is something else, belongs to another study, or is in use.
    pub fn open(dir: &Path, name: &str, of: &str) -> Result<Self, StudyError> {
        let digest: String = of.chars().take(8).collect();
        let path = dir.join(format!("{}.history", file_name(&format!("{name}-{digest}"))));
        let refused = |what: String| StudyError::Refused(format!("use {}: {what}", path.display()));
        fs::create_dir_all(dir).map_err(|error| refused(error.to_string()))?;
        if path.is_symlink() {
            return Err(refused("it is a link".to_owned()));
        }
        let connection = Connection::open(&path).map_err(|error| refused(error.to_string()))?;
        let history = Self { path: path.clone(), connection };
        history.set_up(of)?;
        Ok(history)
    }

    fn set_up(&self, of: &str) -> Result<(), StudyError> {
        let it = &self.connection;
        // One process at a time: a second would make the same evaluations.
        self.check(
            it.execute_batch("PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = NORMAL; BEGIN EXCLUSIVE; COMMIT"),
        )?;
        let header = |name: &str| it.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
        let tables: i64 = self.check(it.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)))?;
        if tables == 0 {
            let header = format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};");
            self.check(it.execute_batch(&format!("BEGIN; {TABLES} {header}")))?;
            self.check(it.execute("INSERT INTO study VALUES (?1)", [of]))?;
            return self.check(it.execute_batch("COMMIT"));
        }
        if self.check(header("application_id"))? != APPLICATION_ID || self.check(header("user_version"))? != VERSION {
            return Err(self.refused("it is not a history of this version"));
        }
        let known: String = self.check(it.query_row("SELECT of FROM study", [], |row| row.get(0)))?;
        if known != of {
            let why = format!("it is of another study ({known}): name another directory with --out");
            return Err(self.refused(&why));
        }
        Ok(())
    }

    /// The value of an input by an evaluation, if it is known.
    ///
    /// # Errors
    /// If the file cannot be read, or holds something else.
    pub fn get<T: DeserializeOwned>(&self, input: &str, what: &str) -> Result<Option<T>, StudyError> {
        let sql = "SELECT value FROM evaluation WHERE input = ?1 AND what = ?2";
        let found = self.connection.query_row(sql, params![input, what], |row| row.get::<_, String>(0)).optional();
        let Some(text) = self.check(found)? else { return Ok(None) };
        let value = serde_json::from_str(&text);
        value.map(Some).map_err(|error| self.refused(&format!("its value of {input}, {what} cannot be read: {error}")))
    }

    /// The values of all inputs by an evaluation, with the inputs.
    ///
    /// # Errors
    /// If the file cannot be read, or holds something else.
    pub fn all<T: DeserializeOwned>(&self, what: &str) -> Result<Vec<(String, T)>, StudyError> {
        let statement = self.connection.prepare("SELECT input, value FROM evaluation WHERE what = ?1 ORDER BY number");
        let mut statement = self.check(statement)?;
        let rows = statement.query_map([what], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)));
        let mut all = Vec::new();
        for row in self.check(rows)? {
            let (input, text) = self.check(row)?;
            match serde_json::from_str(&text) {
                Ok(value) => all.push((input, value)),
                Err(error) => {
                    return Err(self.refused(&format!("its value of {input}, {what} cannot be read: {error}")));
                }
            }
        }
        Ok(all)
    }

    /// Keeps the value of an input by an evaluation.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn put<T: Serialize>(&self, input: &str, what: &str, value: &T) -> Result<(), StudyError> {
        let text = serde_json::to_string(value).map_err(|error| self.refused(&error.to_string()))?;
        let sql = "INSERT OR REPLACE INTO evaluation (input, what, value) VALUES (?1, ?2, ?3)";
        self.check(self.connection.execute(sql, params![input, what, text])).map(drop)
    }

    /// How many values it has.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn count(&self) -> Result<u64, StudyError> {
        let count = self.connection.query_row("SELECT count(*) FROM evaluation", [], |row| row.get::<_, i64>(0));
        Ok(u64::try_from(self.check(count)?).unwrap_or(0))
    }

    fn check<T>(&self, result: rusqlite::Result<T>) -> Result<T, StudyError> {
        result.map_err(|error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseBusy) => self.refused("another process uses it"),
            _ => self.refused(&error.to_string()),
        })
    }

    fn refused(&self, why: &str) -> StudyError {
        StudyError::Refused(format!("use {}: {why}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_known_to_the_next_process_to_the_bit() {
        let dir = tempfile::tempdir().unwrap();
        let history = InputHistory::open(dir.path(), "app", "blackscholes").unwrap();
        history.put("options=16", "sdc", &(3_u64, 0.1 + 0.2)).unwrap();
        assert_eq!(history.get::<f64>("options=16", "time").unwrap(), None);
        let second = InputHistory::open(dir.path(), "app", "blackscholes").unwrap_err();
        assert!(second.to_string().ends_with("another process uses it"), "{second}");
        drop(history);
        let again = InputHistory::open(dir.path(), "app", "blackscholes").unwrap();
        assert_eq!(again.get("options=16", "sdc").unwrap(), Some((3_u64, 0.1 + 0.2)));
        assert_eq!(again.count().unwrap(), 1);
    }

    #[test]
    fn a_history_of_another_study_or_another_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        drop(InputHistory::open(dir.path(), "app", "blackscholes").unwrap());
        let other = InputHistory::open(dir.path(), "app", "blacksch of before").unwrap_err().to_string();
        assert!(other.contains("it is of another study (blackscholes): name another directory with --out"), "{other}");
        let file = fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
        fs::write(
            file,
            "a text that is longer than the header of a database, which has a hundred bytes, and that has nothing to do with one .......",
        )
        .unwrap();
        let text = InputHistory::open(dir.path(), "app", "blackscholes").unwrap_err().to_string();
        assert!(text.contains("not a database"), "{text}");
    }
}
