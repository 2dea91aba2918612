//! The plan as a file: one line for each run, found by its offset.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::error::PlanError;
use super::head::Head;
use crate::files::Replacement;
use crate::site::{RunIndex, Site};

/// The longest line that is read, so that a damaged plan cannot exhaust memory.
pub(super) const MAX_LINE: u64 = 1 << 20;
/// The longest first line that is read: it holds the texts of files that the campaign was planned from.
pub(super) const MAX_HEAD: u64 = 1 << 30;

pub(super) fn write_line(file: &mut Replacement, value: &impl Serialize) -> Result<(), PlanError> {
    let written = serde_json::to_writer(&mut *file, value).map_err(io::Error::from);
    written.and_then(|()| file.write_all(b"\n")).map_err(|source| io_error(file.path(), source))
}

fn io_error(path: &Path, source: io::Error) -> PlanError {
    PlanError::Io { path: path.to_owned(), source }
}

/// The lines of a plan that is whole.
#[derive(Debug)]
pub(super) struct Lines {
    path: PathBuf,
    /// Where the line of each position starts, and where the last one ends.
    offsets: Vec<u64>,
}

impl Lines {
    /// Opens the plan at `path`, which must be whole.
    pub(super) fn open(path: PathBuf) -> Result<(Head, Self), PlanError> {
        let fail = |source| io_error(&path, source);
        let mut reader = BufReader::new(File::open(&path).map_err(fail)?);
        let mut first = Vec::new();
        reader.by_ref().take(MAX_HEAD).read_until(b'\n', &mut first).map_err(fail)?;
        let head: Head = match serde_json::from_slice(&first) {
            Ok(head) => head,
            Err(_) => return Err(PlanError::Format { path }),
        };
        let (offsets, end) = line_starts(reader, first.len() as u64).map_err(fail)?;
        let found = offsets.len() as u64 - 1;
        if !head.is_current() || (found == head.lines && offsets.last() != Some(&end)) {
            return Err(PlanError::Format { path });
        }
        if found != head.lines {
            return Err(PlanError::Truncated { path, expected: head.lines, found });
        }
        Ok((head, Self { path, offsets }))
    }

    /// A file handle for one worker.
    pub(super) fn file(&self) -> Result<File, PlanError> {
        File::open(&self.path).map_err(|source| io_error(&self.path, source))
    }

    /// The line of a position, which is that of `run`.
    pub(super) fn read(&self, file: &mut File, position: u64, run: RunIndex) -> Result<Site, PlanError> {
        let damaged = || PlanError::Line { path: self.path.clone(), run };
        let index = usize::try_from(position).map_err(|_| damaged())?;
        let Some(&[start, end]) = self.offsets.get(index..index + 2) else {
            return Err(damaged());
        };
        if end - start > MAX_LINE {
            return Err(damaged());
        }
        let mut line = vec![0; (end - start) as usize];
        let read = file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(&mut line));
        read.map_err(|source| io_error(&self.path, source))?;
        match serde_json::from_slice::<(RunIndex, Site)>(&line) {
            Ok((found, site)) if found == run => Ok(site),
            _ => Err(damaged()),
        }
    }
}

/// The offsets at which lines start in what follows the first `at` bytes, and the end of the file.
fn line_starts(mut reader: impl BufRead, at: u64) -> io::Result<(Vec<u64>, u64)> {
    let (mut starts, mut at) = (vec![at], at);
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok((starts, at));
        }
        let ends = bytes.iter().enumerate().filter(|&(_, &byte)| byte == b'\n');
        starts.extend(ends.map(|(index, _)| at + index as u64 + 1));
        let length = bytes.len();
        reader.consume(length);
        at += length as u64;
    }
}
