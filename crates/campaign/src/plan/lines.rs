//! The lines of a plan, one after the other, for who holds rows against them.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use super::error::PlanError;
use super::file::{MAX_HEAD, MAX_LINE};
use super::head::Head;
use crate::site::{RunIndex, Site};

/// How much is read at once.
const BUFFER: usize = 1 << 18;

/// A plan that is read from its beginning to its end.
#[derive(Debug)]
pub(crate) struct PlanLines {
    path: PathBuf,
    head: Head,
    reader: BufReader<File>,
    /// The position whose line comes next.
    next: u64,
    /// The line in hand.
    line: Vec<u8>,
}

impl PlanLines {
    /// The plan at `path`; none if there is none, as where rows were handed on alone.
    pub(crate) fn open(path: PathBuf) -> Result<Option<Self>, PlanError> {
        let fail = |source| PlanError::Io { path: path.clone(), source };
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(fail)?,
        };
        let (mut reader, mut line) = (BufReader::with_capacity(BUFFER, file), Vec::new());
        reader.by_ref().take(MAX_HEAD).read_until(b'\n', &mut line).map_err(fail)?;
        match serde_json::from_slice::<Head>(&line) {
            Ok(head) if head.is_current() => Ok(Some(Self { path, head, reader, next: 0, line })),
            _ => Err(PlanError::Format { path }),
        }
    }

    pub(crate) fn head(&self) -> &Head {
        &self.head
    }

    /// The line of a position, which is that of `run`, without its end; positions ascend.
    pub(crate) fn line(&mut self, position: u64, run: RunIndex) -> Result<&[u8], PlanError> {
        let fail = |path: &Path, source| PlanError::Io { path: path.to_owned(), source };
        while self.next <= position {
            self.line.clear();
            let read = self.reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut self.line);
            read.map_err(|source| fail(&self.path, source))?;
            if self.line.pop() != Some(b'\n') {
                return Err(self.damaged(run));
            }
            self.next += 1;
        }
        Ok(&self.line)
    }

    /// What the line in hand plans, which is that of `run`.
    pub(crate) fn site(&self, run: RunIndex) -> Result<Site, PlanError> {
        match serde_json::from_slice::<(RunIndex, Site)>(&self.line) {
            Ok((found, site)) if found == run => Ok(site),
            _ => Err(self.damaged(run)),
        }
    }

    fn damaged(&self, run: RunIndex) -> PlanError {
        PlanError::Line { path: self.path.clone(), run }
    }
}
