//! What can be fuzzed, and the folders of its seeds.

use super::behaviour::ReadResult;
use super::dice::Dice;
use std::path::{Path, PathBuf};

/// What is fuzzed.
pub trait FuzzTarget {
    /// Where to start.
    fn seeds(&self) -> Vec<Vec<u8>>;
    /// An input like this one, with something of the other perhaps.
    fn mutate(&mut self, input: &[u8], other: &[u8], dice: &mut Dice) -> Vec<u8>;
    /// Reads an input, to the end of all that can be read of it, and panics if anything is not as it must be.
    fn read(&self, input: &[u8]) -> ReadResult;
}

/// The folder `fuzz/` of the repository, or one inside it.
#[must_use]
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz").join(name)
}

/// The contents of all files in a folder, by name; none if there is no such folder.
///
/// # Panics
/// If a file cannot be read.
#[must_use]
pub fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    let read = |path: PathBuf| match std::fs::read(&path) {
        Ok(bytes) => (path, bytes),
        Err(error) => panic!("read {}: {error}", path.display()),
    };
    paths.into_iter().map(read).collect()
}

/// The contents of files as seeds: those that end in one of the extensions.
pub(super) fn seeds_in(folder: &Path, extension: &str) -> impl Iterator<Item = Vec<u8>> {
    let of_kind = move |path: &Path| path.extension().is_some_and(|found| found == extension);
    contents(folder).into_iter().filter(move |(path, _)| of_kind(path)).map(|(_, bytes)| bytes)
}
