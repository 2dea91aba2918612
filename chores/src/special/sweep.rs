//! Many arguments of one instruction, and who answers.

use anyhow::{Context, Result, ensure};
use std::path::PathBuf;

/// Arguments of an instruction, evenly spaced by their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sweep {
    /// The instruction.
    pub(super) spelling: &'static str,
    /// The first argument.
    pub(super) from: u32,
    /// From one to the next.
    pub(super) step: u32,
    /// The number of arguments.
    pub(super) count: u32,
}

impl Sweep {
    /// The arguments.
    pub(super) fn arguments(self) -> impl Iterator<Item = u32> {
        (0..self.count).map(move |index| self.from + index * self.step)
    }

    /// The name of the file that holds the results.
    pub(super) fn file_name(self) -> String {
        format!("{}-{:08x}-{}", self.spelling, self.from, self.step)
    }
}

/// What executes instructions, or has the results.
pub(super) trait Answers {
    /// The results, in the order of the arguments.
    fn of(&self, sweep: &Sweep) -> Result<Vec<u32>>;
}

/// Results in the files of a folder: 32 bits each, the lowest byte first.
pub(super) struct Folder(pub(super) PathBuf);

impl Answers for Folder {
    fn of(&self, sweep: &Sweep) -> Result<Vec<u32>> {
        let path = self.0.join(sweep.file_name());
        let bytes = std::fs::read(&path).with_context(|| format!("read {}", path.display()))?;
        let (expected, found) = (sweep.count as usize * 4, bytes.len());
        ensure!(found == expected, "{}: {expected} bytes expected, {found} found", path.display());
        Ok(bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect())
    }
}
