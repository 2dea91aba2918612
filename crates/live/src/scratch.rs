//! Where a run works: a directory of its own that looks like the one the application was started for.
//!
//! Every entry of that directory is there as a symbolic link, so that relative names of inputs mean what they mean to
//! the user, and nothing is copied. What the application creates stays in the scratch directory and goes with it. Files
//! that it is known to leave are not linked, and directories on the way to them are real ones, with links inside; so each
//! run has its own. A file that is linked and written to would be shared, and is the user's: the golden run gets copies of the
//! files at the top, as far as they are not huge, and those that it writes to are copied for every run.
//!
//! In place, there is one directory, and one run at a time; the files that are known are removed before each.

use crate::error::LiveError;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Makes the directories of runs.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// The directory that the application is started for.
    start: PathBuf,
    /// Where directories are made; nowhere if runs are in place.
    root: Option<PathBuf>,
    /// Directories that are real, and entries that are links, in the order in which they are made.
    directories: Vec<PathBuf>,
    links: Vec<PathBuf>,
    /// Files that the golden run wrote to: each run has a copy.
    copies: Vec<PathBuf>,
    /// What the linked files are, so that it is noticed when one changes.
    known: BTreeMap<PathBuf, Identity>,
    number: AtomicU64,
}

/// Files of at most so many bytes are copied for the golden run.
const LARGEST_COPY: u64 = 64 << 20;

/// Copies of files, with what they were before the golden run.
pub(crate) type Copied = BTreeMap<PathBuf, Identity>;

/// What changes when a file is written to.
type Identity = (u64, u64, i64, i64);

/// The directory of one run; it goes when this does.
#[derive(Debug)]
pub(crate) struct WorkDirectory {
    pub(crate) path: PathBuf,
    temporary: bool,
}

impl Drop for WorkDirectory {
    fn drop(&mut self) {
        if self.temporary {
            // What cannot be removed now goes with the directory of all.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

impl Scratch {
    /// For an application that is started for a directory and leaves these files.
    pub(crate) fn new(start: &Path, root: Option<PathBuf>, files: &[String]) -> Result<Self, LiveError> {
        let unreadable = |source| LiveError::Directory { path: start.to_owned(), source };
        let start = start.canonicalize().map_err(unreadable)?;
        let mut scratch = Self {
            start: start.clone(),
            root,
            directories: Vec::new(),
            links: Vec::new(),
            copies: Vec::new(),
            known: BTreeMap::new(),
            number: AtomicU64::new(0),
        };
        let files: Vec<&Path> = files.iter().map(Path::new).collect();
        scratch.list(Path::new(""), &files).map_err(|source| LiveError::Directory { path: start, source })?;
        Ok(scratch)
    }

    /// Lists a directory: links, and real directories on the way to files.
    fn list(&mut self, below: &Path, files: &[&Path]) -> io::Result<()> {
        for entry in fs::read_dir(self.start.join(below))? {
            let path = below.join(entry?.file_name());
            if files.contains(&&*path) {
                continue;
            }
            let on_the_way = files.iter().any(|file| file.starts_with(&path));
            if on_the_way && self.start.join(&path).is_dir() {
                self.directories.push(path.clone());
                self.list(&path, files)?;
                continue;
            }
            if let Some(identity) = identity(&self.start.join(&path)) {
                self.known.insert(path.clone(), identity);
            }
            self.links.push(path);
        }
        Ok(())
    }

    /// The directory that the application is started for.
    pub(crate) fn start(&self) -> &Path {
        &self.start
    }

    /// Whether runs are in place.
    pub(crate) fn in_place(&self) -> bool {
        self.root.is_none()
    }

    /// A directory for a run. All have names of the same length, so that they take the same room in its environment.
    pub(crate) fn place(&self, files: &[String]) -> io::Result<WorkDirectory> {
        let Some(root) = &self.root else {
            for name in files {
                match fs::remove_file(self.start.join(name)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
            return Ok(WorkDirectory { path: self.start.clone(), temporary: false });
        };
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let place = WorkDirectory { path: root.join(format!("run-{number:010}")), temporary: true };
        fs::create_dir(&place.path)?;
        self.directories.iter().try_for_each(|path| fs::create_dir(place.path.join(path)))?;
        self.copies.iter().try_for_each(|path| fs::copy(self.start.join(path), place.path.join(path)).map(drop))?;
        self.links.iter().try_for_each(|path| symlink(self.start.join(path), place.path.join(path)))?;
        Ok(place)
    }

    /// A directory for the golden run, with copies in the place of links to files that are not huge.
    pub(crate) fn first_place(&self, files: &[String]) -> io::Result<(WorkDirectory, Copied)> {
        let place = self.place(files)?;
        let mut copied = Copied::new();
        if self.in_place() {
            return Ok((place, copied));
        }
        for path in self.known.iter().filter(|(_, identity)| identity.1 <= LARGEST_COPY).map(|(path, _)| path) {
            let at = place.path.join(path);
            fs::remove_file(&at)?;
            fs::copy(self.start.join(path), &at)?;
            copied.extend(identity(&at).map(|identity| (path.clone(), identity)));
        }
        Ok((place, copied))
    }

    /// Copies for every run the files that the golden run wrote to.
    pub(crate) fn learn(&mut self, place: &WorkDirectory, copied: &Copied) {
        let is_written =
            |path: &PathBuf| copied.get(path).is_some_and(|known| identity(&place.path.join(path)) != Some(*known));
        let (written, links) = std::mem::take(&mut self.links).into_iter().partition(is_written);
        (self.copies, self.links) = (written, links);
        self.known.retain(|path, _| !self.copies.contains(path));
    }

    /// Checks that no linked file has been written to.
    pub(crate) fn check(&self) -> Result<(), LiveError> {
        let changed = self.known.iter().find(|(path, known)| identity(&self.start.join(path)) != Some(**known));
        match changed {
            Some((path, _)) if !self.in_place() => Err(LiveError::Shared { name: path.display().to_string() }),
            _ => Ok(()),
        }
    }
}

/// What a regular file is at the moment.
fn identity(path: &Path) -> Option<Identity> {
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((metadata.ino(), metadata.size(), metadata.mtime(), metadata.mtime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_links_to_inputs_and_room_of_its_own_for_outputs() {
        let (start, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for directory in ["data", "out", "out/deep"] {
            fs::create_dir(start.path().join(directory)).unwrap();
        }
        for file in ["data/in", "out/old", "out/deep/result", "plain"] {
            fs::write(start.path().join(file), file).unwrap();
        }
        let files = ["out/deep/result".to_owned(), "new".to_owned()];
        let scratch = Scratch::new(start.path(), Some(root.path().to_owned()), &files).unwrap();
        let (one, two) = (scratch.place(&files).unwrap(), scratch.place(&files).unwrap());
        for input in ["data/in", "out/old", "plain"] {
            assert_eq!(fs::read_to_string(one.path.join(input)).unwrap(), input);
        }
        assert!(!one.path.join("out/deep/result").exists());
        fs::write(one.path.join("out/deep/result"), "mine").unwrap();
        fs::write(one.path.join("new"), "mine").unwrap();
        assert!(!two.path.join("out/deep/result").exists() && !two.path.join("new").exists());
        assert_eq!(fs::read_to_string(start.path().join("out/deep/result")).unwrap(), "out/deep/result");
        scratch.check().unwrap();
        fs::write(two.path.join("plain"), "written through").unwrap();
        assert!(matches!(scratch.check(), Err(LiveError::Shared { name }) if name == "plain"));
        // The golden run has copies, and what it writes to every run has.
        let other = tempfile::tempdir().unwrap();
        let mut scratch = Scratch::new(start.path(), Some(other.path().to_owned()), &files).unwrap();
        let (first, copied) = scratch.first_place(&files).unwrap();
        fs::write(first.path.join("plain"), "written by the golden run").unwrap();
        scratch.learn(&first, &copied);
        let third = scratch.place(&files).unwrap();
        assert!(fs::symlink_metadata(third.path.join("plain")).unwrap().is_file());
        assert!(fs::symlink_metadata(third.path.join("data")).unwrap().is_symlink());
        fs::write(third.path.join("plain"), "its own").unwrap();
        assert_eq!(fs::read_to_string(start.path().join("plain")).unwrap(), "written through");
        scratch.check().unwrap();
        drop((first, third));
        let path = one.path.clone();
        drop((one, two));
        assert!(!path.exists() && start.path().join("data/in").exists());
    }

    #[test]
    fn in_place_files_of_the_run_before_are_removed_and_nothing_else() {
        let start = tempfile::tempdir().unwrap();
        for file in ["result", "input"] {
            fs::write(start.path().join(file), "").unwrap();
        }
        let files = ["result".to_owned(), "never".to_owned()];
        let scratch = Scratch::new(start.path(), None, &files).unwrap();
        drop(scratch.place(&files).unwrap());
        assert!(!start.path().join("result").exists() && start.path().join("input").exists());
    }
}
