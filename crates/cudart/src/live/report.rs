//! What the process of a live run tells of itself, so that it holds whenever the process ends.
//!
//! The report begins with counters, which are overwritten; entries follow, each a kind, a length and that many bytes.
//! An entry that is cut short was being written when the process ended, and is not there.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use outcome::{End, FirstUse, Landed};
use serde::{Deserialize, Serialize};

/// Bytes of the counters, with what is set aside.
const HEADER: u64 = 64;

/// What is counted from the faulty launch on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Launches that were replayed or executed, all of them.
    pub launches: u64,
    /// Launches that were replayed.
    pub replayed: u64,
    /// Instructions of all threads in launches from the faulty one on.
    pub instructions: u64,
    /// Accesses outside every allocation in these.
    pub strayed: u64,
    /// Whether the host saw a difference before it gave the device more work.
    pub visible: bool,
    /// Operations that were done, of all kinds.
    pub operations: u64,
}

/// Something that happened once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Note {
    /// We cannot go on; why, as it follows "failed to".
    Failure(String),
    /// The faulty launch was executed.
    Injected {
        /// The value that was hit, if any was.
        landed: Option<Landed>,
        /// What first became of it.
        first_use: FirstUse,
    },
    /// A kernel did what no program may, or used up its fuel.
    Ended(End),
}

/// A copy of a region that outputs are copied from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputCopy {
    /// Of the same bytes as the recorded copy of the region with this number.
    Known(u64),
    /// Of other bytes.
    Other(Vec<u8>),
}

/// A whole report.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveReport {
    /// The counters as they were last.
    pub counters: Counters,
    /// What happened, in order.
    pub notes: Vec<Note>,
    /// The copies of each region of the trace, in order: the region's number, and what was copied.
    pub copies: Vec<(u32, OutputCopy)>,
}

const NOTE: u8 = 1;
const KNOWN: u8 = 2;
const OTHER: u8 = 3;

/// A report that is being written.
#[derive(Debug)]
pub struct LiveReportWriter {
    file: File,
    end: u64,
}

impl LiveReportWriter {
    /// Begins a report in an empty file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(file: File) -> io::Result<Self> {
        let mut writer = Self { file, end: HEADER };
        writer.count(&Counters::default()).map(|()| writer)
    }

    /// Replaces the counters.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn count(&mut self, counters: &Counters) -> io::Result<()> {
        let Counters { launches, replayed, instructions, strayed, visible, operations } = *counters;
        let words = [launches, replayed, instructions, strayed, u64::from(visible), operations, 0, 0];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.file.write_all_at(&bytes, 0)
    }

    /// Adds a note.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn note(&mut self, note: &Note) -> io::Result<()> {
        let text = serde_json::to_vec(note).map_err(io::Error::from)?;
        self.entry(NOTE, &[&text])
    }

    /// Adds a copy of a region.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn copy(&mut self, region: u32, known: Option<u64>, bytes: &[u8]) -> io::Result<()> {
        match known {
            Some(number) => self.entry(KNOWN, &[&region.to_le_bytes(), &number.to_le_bytes()]),
            None => self.entry(OTHER, &[&region.to_le_bytes(), bytes]),
        }
    }

    fn entry(&mut self, kind: u8, parts: &[&[u8]]) -> io::Result<()> {
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        let mut entry = vec![kind];
        entry.extend((bytes as u64).to_le_bytes());
        entry.extend(parts.concat());
        self.file.write_all_at(&entry, self.end)?;
        self.end += entry.len() as u64;
        Ok(())
    }
}

impl LiveReport {
    /// Reads what a process wrote until it ended; `None` if it did not even begin.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (header, mut rest) = bytes.split_at_checked(HEADER as usize)?;
        let word = |at: usize| header[8 * at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        let counters = Counters {
            launches: word(0),
            replayed: word(1),
            instructions: word(2),
            strayed: word(3),
            visible: word(4) != 0,
            operations: word(5),
        };
        let mut report = Self { counters, ..Self::default() };
        while let Some((kind, body, after)) = entry(rest) {
            rest = after;
            report.take(kind, body);
        }
        Some(report)
    }

    fn take(&mut self, kind: u8, body: &[u8]) {
        let region = |body: &[u8]| body.first_chunk().map_or(u32::MAX, |word| u32::from_le_bytes(*word));
        match (kind, body.split_at_checked(4)) {
            (NOTE, _) => self.notes.extend(serde_json::from_slice::<Note>(body)),
            (KNOWN, Some((place, number))) => {
                let number = number.first_chunk().map_or(u64::MAX, |word| u64::from_le_bytes(*word));
                self.copies.push((region(place), OutputCopy::Known(number)));
            }
            (OTHER, Some((place, bytes))) => self.copies.push((region(place), OutputCopy::Other(bytes.to_vec()))),
            _ => {}
        }
    }
}

/// The first entry, and what follows it.
fn entry(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&kind, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (body, after) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    Some((kind, body, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_report_is_read_as_far_as_it_was_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report");
        let mut writer = LiveReportWriter::new(File::create(&path).unwrap()).unwrap();
        let notes = [
            Note::Injected {
                landed: Some(Landed { before: 1, after: u128::MAX, threads: 32 }),
                first_use: FirstUse::Never,
            },
            Note::Failure("say \"why\"".to_owned()),
        ];
        notes.iter().for_each(|note| writer.note(note).unwrap());
        writer.copy(0, Some(3), b"ignored").unwrap();
        writer.copy(1, None, b"bytes").unwrap();
        let counters =
            Counters { launches: 9, replayed: 4, instructions: 77, strayed: 1, visible: true, operations: 30 };
        writer.count(&counters).unwrap();
        let bytes = fs::read(&path).unwrap();
        let copies = vec![(0, OutputCopy::Known(3)), (1, OutputCopy::Other(b"bytes".to_vec()))];
        let whole = LiveReport { counters, notes: notes.to_vec(), copies };
        assert_eq!(LiveReport::read(&bytes), Some(whole.clone()));
        let cut = LiveReport::read(&bytes[..bytes.len() - 1]).unwrap();
        assert_eq!(cut.copies, whole.copies[..1]);
        assert_eq!(LiveReport::read(&bytes[..9]), None);
        for end in 64..bytes.len() {
            assert!(LiveReport::read(&bytes[..end]).is_some());
        }
    }
}
