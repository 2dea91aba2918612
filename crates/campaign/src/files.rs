//! Files that are whole or absent, whatever happens while they are written: those of a campaign's directory, and with
//! [`write()`] all others that its users ask for.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// A file being written beside its final name, which it takes in [`finish`](Self::finish) or never.
///
/// The lock on it is what keeps two processes from writing the same file; it goes on with the file's new name.
pub(crate) struct Replacement {
    path: PathBuf,
    temporary: PathBuf,
    // `None` once finished.
    file: Option<BufWriter<File>>,
}

impl Replacement {
    /// Begins the file that will be `path`, over what an earlier, killed attempt left behind.
    pub(crate) fn begin(path: PathBuf) -> io::Result<Self> {
        Self::beside(path, ".tmp")
    }

    /// Begins it under its name with `ending` behind it.
    fn beside(path: PathBuf, ending: &str) -> io::Result<Self> {
        let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
        name.push(ending);
        let temporary = path.with_file_name(name);
        let file = empty(&temporary)?;
        Ok(Self { path, temporary, file: Some(BufWriter::new(file)) })
    }

    /// The final name.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the bytes durable, then gives the file its name, durably too. Returns the lock on it.
    pub(crate) fn finish(mut self) -> io::Result<Lock> {
        let Some(writer) = self.file.take() else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let named = self.name(writer);
        if named.is_err() {
            let _ = fs::remove_file(&self.temporary);
        }
        named.map(Lock)
    }

    fn name(&self, writer: BufWriter<File>) -> io::Result<File> {
        let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        fs::rename(&self.temporary, &self.path)?;
        sync_directory_of(&self.path)?;
        Ok(file)
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_mut().map_or(Ok(0), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), BufWriter::flush)
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if let Some(writer) = self.file.take() {
            // Abandoned: nothing of it is wanted, and a remnant would do no harm.
            drop(writer.into_parts());
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// How often an empty file is tried to be had, where others make and remove it meanwhile.
const ATTEMPTS: usize = 16;

/// The file at `path`, locked and empty: a new one, or what a killed attempt of ours left there. What is not a file of one
/// name was put there by somebody else, and goes; what it leads to stays as it is.
fn empty(path: &Path) -> io::Result<File> {
    for _ in 0..ATTEMPTS {
        match OpenOptions::new().write(true).create_new(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => {
                let file = opened?;
                try_lock(&file)?;
                if stands_at(&file, path) {
                    return Ok(file);
                }
                continue;
            }
        }
        match fs::symlink_metadata(path) {
            Ok(there) if is_plain(&there) => {
                let file = OpenOptions::new().write(true).open(path)?;
                try_lock(&file)?;
                // Only now: before, the bytes may have been another process's, or the name another file's.
                if stands_at(&file, path) {
                    file.set_len(0)?;
                    return Ok(file);
                }
            }
            Ok(_) => fs::remove_file(path)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, format!("`{}` is made by others again and again", path.display())))
}

/// Whether it is a file, and has no second name under which it is something else.
fn is_plain(metadata: &fs::Metadata) -> bool {
    metadata.is_file() && metadata.nlink() == 1
}

/// Whether an open file is what the name says, itself and not through a link.
fn stands_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(named)) = (file.metadata(), fs::symlink_metadata(path)) else { return false };
    is_plain(&named) && (open.dev(), open.ino()) == (named.dev(), named.ino())
}

/// Writes all of `bytes` to `path`, or leaves it as it was.
pub(crate) fn replace(path: PathBuf, bytes: &[u8]) -> io::Result<()> {
    let mut file = Replacement::begin(path)?;
    file.write_all(bytes)?;
    file.finish().map(drop)
}

/// Lets `content` be written to `path`, all of it or, where that fails, nothing: what was there stays then. What is no
/// file, such as a pipe or a terminal, is written as it comes.
///
/// # Errors
/// When the file cannot be written, and what `content` fails by.
pub fn write<T, E: From<io::Error>>(
    path: &Path,
    content: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, E>,
) -> Result<T, E> {
    if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        let mut file = BufWriter::new(OpenOptions::new().write(true).open(path)?);
        let written = content(&mut file)?;
        file.flush()?;
        return Ok(written);
    }
    let mut file = Replacement::beside(behind_links(path)?, ".beamline.tmp")?;
    let written = content(&mut file)?;
    file.finish()?;
    Ok(written)
}

/// Whether [`write()`] can begin a file, which leaves everything as it was.
///
/// # Errors
/// Why it cannot: no such directory, no right to write there, a directory of that name.
pub fn check_writable(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(there) if !there.is_file() => Ok(()),
        _ => Replacement::beside(behind_links(path)?, ".beamline.tmp").map(drop),
    }
}

/// Where [`write()`] would put a file: its directory without links, and its name there. Two names of one file have one place.
///
/// # Errors
/// If its directory is not there, or links lead in a circle.
pub fn place(path: &Path) -> io::Result<PathBuf> {
    let path = behind_links(path)?;
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(fs::canonicalize(directory)?.join(path.file_name().unwrap_or_default()))
}

/// How many links are followed, as Linux does.
const LINKS: usize = 40;

/// Where links lead, whether a file is there or not: a link goes on to lead where it leads.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().map_or_else(|| target.clone(), |parent| parent.join(&target)),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("its links lead in a circle"))
}

/// A file that other processes find locked, until this is dropped or the process dies.
#[derive(Debug)]
pub(crate) struct Lock(File);

impl Lock {
    /// Locks the file at `path`, which must exist.
    pub(crate) fn take(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        try_lock(&file)?;
        Ok(Self(file))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is not enough: a process that is being started by another thread holds a copy for a moment.
        let _ = self.0.unlock();
    }
}

/// A file system without locks grants it: the lock spares confusion, it does not guard the rows, whose primary key
/// refuses a second writer in any case.
fn try_lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            Err(io::Error::new(io::ErrorKind::ResourceBusy, "another process has it open; wait for it to end"))
        }
    }
}

/// Makes the name of a new file durable, which on Unix is its directory's business.
fn sync_directory_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if cfg!(unix) => {
            let here = parent.as_os_str().is_empty();
            File::open(if here { Path::new(".") } else { parent })?.sync_all()
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_whole_under_its_name_and_leaves_nothing_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("plan");
        replace(path.clone(), b"one").unwrap();
        replace(path.clone(), b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_abandoned_file_leaves_the_old_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("plan");
        replace(path.clone(), b"old").unwrap();
        let mut file = Replacement::begin(path.clone()).unwrap();
        file.write_all(&[b'x'; 100_000]).unwrap();
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_users_ask_for_is_whole_or_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("page.html"), dir.path().join("link.html"));
        let text = |text: &'static str| move |file: &mut (dyn Write + Send)| file.write_all(text.as_bytes());
        write(&path, text("one")).unwrap();
        let failed = write(&path, |file| {
            file.write_all(&[b'x'; 100_000])?;
            Err::<(), _>(io::Error::other("no more"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "no more");
        assert_eq!(fs::read(&path).unwrap(), b"one");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write(&link, text("two")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert!(link.is_symlink() && fs::read_dir(dir.path()).unwrap().count() == 2);
        let (dangling, circle) = (dir.path().join("dangling"), dir.path().join("circle"));
        std::os::unix::fs::symlink("new.html", &dangling).unwrap();
        std::os::unix::fs::symlink("circle", &circle).unwrap();
        write(&dangling, text("three")).unwrap();
        assert!(dangling.is_symlink() && fs::read(dir.path().join("new.html")).unwrap() == b"three");
        write(Path::new("/dev/null"), text("three")).unwrap();
        let writable = |path: &Path| check_writable(path).is_ok();
        assert!(writable(&link) && writable(&dir.path().join("newer.html")) && writable(Path::new("/dev/null")));
        fs::create_dir(dir.path().join("in")).unwrap();
        let winding = dir.path().join("in/../new.html");
        assert_eq!(place(&dangling).unwrap(), place(&winding).unwrap());
        assert_ne!(place(&dangling).unwrap(), place(&path).unwrap());
        assert!(!writable(dir.path()) && !writable(&dir.path().join("none/page.html")) && !writable(&circle));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 6);
        assert!(write(dir.path(), text("four")).is_err());
        assert!(write(&dir.path().join("none/page.html"), text("five")).is_err());
    }

    #[test]
    fn what_a_killed_attempt_left_is_written_over() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("plan.tmp"), [b'x'; 1000]).unwrap();
        replace(dir.path().join("plan"), b"new").unwrap();
        assert_eq!(fs::read(dir.path().join("plan")).unwrap(), b"new");
    }

    #[test]
    fn a_link_in_the_place_of_what_is_written_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (path, other) = (dir.path().join("plan"), dir.path().join("other"));
        let temporary = dir.path().join("plan.tmp");
        for symbolic in [true, false] {
            fs::write(&other, "mine").unwrap();
            match symbolic {
                true => std::os::unix::fs::symlink(&other, &temporary).unwrap(),
                false => fs::hard_link(&other, &temporary).unwrap(),
            }
            replace(path.clone(), b"new").unwrap();
            assert_eq!(fs::read(&other).unwrap(), b"mine");
            assert_eq!(fs::read(&path).unwrap(), b"new");
            assert!(!path.is_symlink() && fs::read_dir(dir.path()).unwrap().count() == 2);
        }
        // Nor is a file made where a link without an end leads.
        std::os::unix::fs::symlink(dir.path().join("none"), &temporary).unwrap();
        replace(path.clone(), b"newer").unwrap();
        assert_eq!((fs::read(&path).unwrap(), fs::read_dir(dir.path()).unwrap().count()), (b"newer".to_vec(), 2));
        let beside = dir.path().join("plan.beamline.tmp");
        std::os::unix::fs::symlink(&other, &beside).unwrap();
        write(&path, |file| file.write_all(b"newest")).unwrap();
        assert_eq!((fs::read(&other).unwrap(), fs::read(&path).unwrap()), (b"mine".to_vec(), b"newest".to_vec()));
    }

    #[test]
    fn two_writers_of_one_file_do_not_mix() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("plan");
        let mut first = Replacement::begin(path.clone()).unwrap();
        first.write_all(b"first").unwrap();
        let second = Replacement::begin(path.clone()).err().unwrap();
        assert_eq!(second.kind(), io::ErrorKind::ResourceBusy);
        first.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first");
    }
}
