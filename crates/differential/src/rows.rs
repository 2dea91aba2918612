//! Rows as they are kept: a file of JSON lines, the first of which says what they are of.
//!
//! A row is on the disk before the next comes. What an interruption leaves of a line is dropped, and a later run goes on,
//! with the same faults or with others: the rows of several runs add up.

use crate::protocol::MachineInfo;
use crate::row::Row;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The format of the file.
const FORMAT: &str = "beamline.differential/1";

/// Its name in the directory.
const NAME: &str = "rows.jsonl";

/// What rows are of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The format of the file.
    pub format: String,
    /// The name of the capsule.
    pub capsule: String,
    /// Its digest.
    pub digest: String,
    /// What ran the faults.
    pub machine: String,
}

impl Header {
    /// The header of rows of a capsule on a machine.
    #[must_use]
    pub fn new(capsule: &str, digest: &str, machine: &str) -> Self {
        let own = str::to_owned;
        Self { format: own(FORMAT), capsule: own(capsule), digest: own(digest), machine: own(machine) }
    }
}

/// Something that was noted beside the rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// A fault on both.
    Row(Box<Row>),
    /// A fault that cannot be run, and why.
    Refused { fault: String, reason: String },
    /// What a session ran on.
    Machine(MachineInfo),
    /// Whether a rewritten module gave, without a fault, the copies to the host of the simulator.
    FaultFree { same: bool },
}

/// Why rows cannot be kept. The text follows "failed to".
#[derive(Debug, Error)]
pub enum RowsError {
    /// The file cannot be used.
    #[error("use {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A line that has an end means nothing.
    #[error("read line {line} of {}: it is no row of the format {FORMAT}", path.display())]
    Unclear {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// They are of something else.
    #[error("use {}: its rows are of {found}, not of {wanted}; name another directory", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What they are of.
        found: String,
        /// What they have to be of.
        wanted: String,
    },
    /// There are none.
    #[error("use {}: it has no rows", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

/// Rows in memory, and in a file if they are kept.
#[derive(Debug, Default)]
pub struct Rows {
    /// One for each fault that both ran, in the order in which they came.
    pub rows: Vec<Row>,
    /// Faults that could not be run, each with the reason.
    pub refused: Vec<(String, String)>,
    /// What sessions ran on, each once.
    pub machines: Vec<MachineInfo>,
    /// Runs of rewritten modules without a fault: those that gave the simulator's copies, and the others.
    pub fault_free: [u64; 2],
    /// Bytes at the end of what was read that are no whole line: whoever wrote it was stopped there.
    pub cut: u64,
    known: BTreeSet<String>,
    file: Option<(PathBuf, File)>,
}

impl Rows {
    /// Rows that are kept in a directory, which is made if it is not there; those that are there already are read.
    ///
    /// # Errors
    /// If the directory cannot be used, or holds rows of something else.
    pub fn open(directory: &Path, header: &Header) -> Result<Self, RowsError> {
        let path = directory.join(NAME);
        let failed = |source| RowsError::Io { path: path.clone(), source };
        fs::create_dir_all(directory).map_err(failed)?;
        let mut rows = Self::default();
        if path.exists() {
            let whole = rows.read(&path, |found| check(&path, found, header))?;
            let file = OpenOptions::new().write(true).open(&path).map_err(failed)?;
            file.set_len(whole).map_err(failed)?;
        }
        let mut file = OpenOptions::new().append(true).create(true).open(&path).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() == 0 {
            write_line(&mut file, header).map_err(failed)?;
        }
        rows.file = Some((path, file));
        Ok(rows)
    }

    /// The rows of a capsule that are kept in a directory, whatever machine they are of.
    ///
    /// # Errors
    /// If there are none, or they are of something else.
    pub fn kept(directory: &Path, capsule: &str, digest: &str) -> Result<Self, RowsError> {
        let (path, mut rows) = (directory.join(NAME), Self::default());
        rows.read(&path, |found| check(&path, found, &Header::new(capsule, digest, &found.machine)))?;
        if rows.rows.is_empty() { Err(RowsError::Empty { path }) } else { Ok(rows) }
    }

    /// Reads what is there; how many bytes of it are whole lines.
    fn read(&mut self, path: &Path, check: impl Fn(&Header) -> Result<(), RowsError>) -> Result<u64, RowsError> {
        let failed = |source| RowsError::Io { path: path.to_owned(), source };
        let mut reader = BufReader::new(File::open(path).map_err(failed)?);
        let (mut text, mut whole) = (String::new(), 0);
        for line in 1.. {
            text.clear();
            let read = reader.read_line(&mut text).map_err(failed)?;
            if !text.ends_with('\n') {
                self.cut = read as u64;
                break;
            }
            whole += read as u64;
            let unclear = |_| RowsError::Unclear { path: path.to_owned(), line };
            if line == 1 {
                let found: Header = serde_json::from_str(&text).map_err(unclear)?;
                check(&found)?;
            } else {
                self.take(serde_json::from_str(&text).map_err(unclear)?);
            }
        }
        Ok(whole)
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::Row(row) => {
                self.known.insert(row.fault.clone());
                self.rows.push(*row);
            }
            Line::Refused { fault, reason } => {
                self.known.insert(fault.clone());
                self.refused.push((fault, reason));
            }
            Line::Machine(info) if self.machines.contains(&info) => {}
            Line::Machine(info) => self.machines.push(info),
            Line::FaultFree { same } => self.fault_free[usize::from(!same)] += 1,
        }
    }

    /// Whether a fault has its row, or was refused.
    #[must_use]
    pub fn has(&self, fault: &str) -> bool {
        self.known.contains(fault)
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If it cannot be kept.
    pub fn add(&mut self, row: Row) -> Result<(), RowsError> {
        self.keep(Line::Row(Box::new(row)))
    }

    /// Notes that a fault cannot be run.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub fn refuse(&mut self, fault: String, reason: String) -> Result<(), RowsError> {
        self.keep(Line::Refused { fault, reason })
    }

    /// Notes what a session runs on.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub fn machine(&mut self, info: MachineInfo) -> Result<(), RowsError> {
        if self.machines.contains(&info) { Ok(()) } else { self.keep(Line::Machine(info)) }
    }

    /// Notes whether a rewritten module gave the simulator's copies without a fault.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub fn fault_free(&mut self, same: bool) -> Result<(), RowsError> {
        self.keep(Line::FaultFree { same })
    }

    fn keep(&mut self, line: Line) -> Result<(), RowsError> {
        if let Some((path, file)) = &mut self.file {
            write_line(file, &line).map_err(|source| RowsError::Io { path: path.clone(), source })?;
        }
        self.take(line);
        Ok(())
    }
}

fn check(path: &Path, found: &Header, wanted: &Header) -> Result<(), RowsError> {
    if found == wanted {
        return Ok(());
    }
    let of = |header: &Header| format!("{} ({:.12}…) on {}", header.capsule, header.digest, header.machine);
    Err(RowsError::Other { path: path.to_owned(), found: of(found), wanted: of(wanted) })
}

fn write_line(file: &mut File, line: &impl Serialize) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    file.write_all(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::HardwareEnd;
    use crate::row::SimulatedEnd;
    use outcome::Class;

    fn row(number: u32) -> Row {
        let kind = || "logical".to_owned();
        Row {
            fault: format!("fault {number}"),
            kernel: "k".into(),
            pc: number,
            opcode: "add.u32".into(),
            simulated: SimulatedEnd { class: Class::Masked, kind: kind(), strayed: 0, instructions: 0, copies: None },
            hardware: HardwareEnd::NotFired,
            class: Class::NotLanded,
            kind: String::new(),
            placed: false,
        }
    }

    #[test]
    fn what_was_kept_is_there_again_and_half_a_line_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let header = Header::new("k", "digest", "H200");
        let mut rows = Rows::open(directory.path(), &header).unwrap();
        rows.add(row(1)).unwrap();
        rows.refuse("fault 2".into(), "write it".into()).unwrap();
        rows.machine(MachineInfo { name: "H200".into(), ..MachineInfo::default() }).unwrap();
        rows.fault_free(false).unwrap();
        drop(rows);
        let path = directory.path().join(NAME);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"row\":{\"fau").unwrap();
        let kept = Rows::kept(directory.path(), "k", "digest").unwrap();
        assert_eq!((kept.rows.len(), kept.cut), (1, 12));
        let mut rows = Rows::open(directory.path(), &header).unwrap();
        assert!(rows.has("fault 1") && rows.has("fault 2") && !rows.has("fault 3"));
        assert_eq!((rows.rows.len(), rows.machines.len(), rows.fault_free), (1, 1, [0, 1]));
        rows.add(row(3)).unwrap();
        assert_eq!(Rows::open(directory.path(), &header).unwrap().rows, [row(1), row(3)]);
    }

    #[test]
    fn rows_of_something_else_are_not_added_to_and_a_line_that_means_nothing_is_named() {
        let directory = tempfile::tempdir().unwrap();
        drop(Rows::open(directory.path(), &Header::new("k", "one", "H200")).unwrap());
        let error = Rows::open(directory.path(), &Header::new("k", "other", "H200")).unwrap_err().to_string();
        assert!(error.contains("k (one…) on H200") && error.contains("name another directory"), "{error}");
        let error = Rows::kept(directory.path(), "k", "one").unwrap_err().to_string();
        assert!(error.contains("it has no rows"), "{error}");
        fs::write(directory.path().join(NAME), "what\n").unwrap();
        let error = Rows::open(directory.path(), &Header::new("k", "one", "H200")).unwrap_err().to_string();
        assert!(error.contains("read line 1 of"), "{error}");
    }
}
