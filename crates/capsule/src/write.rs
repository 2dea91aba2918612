//! Writing a capsule file: deterministic, and all or nothing.
//!
//! The file is made beside its destination under a name of its own, flushed to the disk, and renamed over the destination in
//! one step. Whoever opens the destination sees the old file or the new one, never a part of either.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::bounds;
use crate::format::{self, PartEntry};
use crate::{Action, Capsule, Digest, Error, FileSection, Origin, Part, Problem, pack, validate};

/// Why a write stopped: at the file being written, or at a blob that comes from another.
enum Stop {
    Here(Problem),
    Elsewhere(Error),
}

impl Capsule {
    /// Writes the capsule to a file, replacing what was there in one step.
    ///
    /// The same capsule gives the same bytes. One part at a time is held in memory beside what the capsule itself holds.
    ///
    /// # Errors
    ///
    /// The capsule is not valid or exceeds a bound of [`mod@format`]; one of its blobs cannot be read; or the file cannot be
    /// written. What was at `path` before is then still there, untouched.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        let origin = Origin::File(path.to_owned());
        write_file(self, path).map_err(|stop| stop.into_error(&origin))
    }

    /// The capsule as the bytes of a file.
    ///
    /// # Errors
    ///
    /// As [`Capsule::write`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Cursor::new(Vec::new());
        write_to(self, &mut bytes).map_err(|stop| stop.into_error(&Origin::Memory))?;
        Ok(bytes.into_inner())
    }
}

impl Stop {
    fn into_error(self, origin: &Origin) -> Error {
        match self {
            Self::Here(problem) => Error::new(Action::Write, origin, problem),
            Self::Elsewhere(error) => error,
        }
    }
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Here(problem)
    }
}

fn write_file(capsule: &Capsule, path: &Path) -> Result<(), Stop> {
    if path.is_dir() {
        return Err(Problem::NotAFile { found: "a directory" }.into());
    }
    if path.file_name().is_none() {
        return Err(Problem::NotAFile { found: "a path without a file name" }.into());
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (mut file, partial) = create_beside(directory).map_err(io("creating a file beside it"))?;
    let result = write_to(capsule, &mut file).and_then(|()| {
        file.sync_all().map_err(io("flushing the file to the disk"))?;
        fs::rename(&partial, path).map_err(io("renaming the finished file"))?;
        Ok(())
    });
    if result.is_err() {
        // The first failure is the one to report.
        let _ = fs::remove_file(&partial);
    } else if let Ok(directory) = File::open(directory) {
        // Makes the new name durable where the system lets us; the content is already.
        let _ = directory.sync_all();
    }
    result
}

/// A new file in `directory`, under a name that no other writer uses.
fn create_beside(directory: &Path) -> io::Result<(File, PathBuf)> {
    let process = std::process::id();
    let mut attempt = 0_u32;
    loop {
        let path = directory.join(format!(".capsule-{process}-{attempt}.partial"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => {
                attempt += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Parts first, then header and table before them, because sizes are known only when the parts are packed.
fn write_to(capsule: &Capsule, out: &mut (impl Write + Seek)) -> Result<(), Stop> {
    validate::capsule(capsule)?;
    let manifest = capsule.manifest_json();
    let count = check_sizes(capsule, manifest.len() as u64)?;
    let mut entries = Vec::new();
    out.seek(SeekFrom::Start(format::parts_offset(count))).map_err(io("writing the file"))?;
    entries.push(write_part(out, &manifest, Digest::of(&manifest))?);
    drop(manifest);
    for id in capsule.blobs.ids() {
        let raw = capsule.blobs.get(id).map_err(Stop::Elsewhere)?;
        let digest = capsule.blobs.digest(id).unwrap_or_else(|| Digest::of(&raw));
        entries.push(write_part(out, &raw, digest)?);
    }
    out.rewind().map_err(io("writing the file"))?;
    out.write_all(&format::encode(&entries)).map_err(io("writing the file"))?;
    Ok(())
}

fn write_part(out: &mut impl Write, raw: &[u8], digest: Digest) -> Result<PartEntry, Problem> {
    let (entry, packed) = pack::pack(raw, digest)?;
    out.write_all(&packed).map_err(io("writing the file"))?;
    Ok(entry)
}

/// The number of parts; refuses what no reader would accept.
fn check_sizes(capsule: &Capsule, manifest_bytes: u64) -> Result<u32, Problem> {
    let blobs = capsule.blobs.identities().map(|(bytes, _)| bytes);
    let (mut count, mut total) = (0_u32, 0_u64);
    for bytes in std::iter::once(manifest_bytes).chain(blobs) {
        let part = Part(count);
        bounds::within("raw bytes", part, bytes, bounds::raw_bound(part))?;
        total += bytes;
        bounds::within("raw bytes of all parts up to this one", part, total, format::TOTAL_BYTES)?;
        count += 1;
        if count > format::PARTS {
            let (declared, bound) = (capsule.blobs.len() as u64 + 1, u64::from(format::PARTS));
            return Err(Problem::TooLarge {
                section: FileSection::Table { parts: count },
                what: "parts",
                declared,
                bound,
            });
        }
    }
    Ok(count)
}

fn io(doing: &'static str) -> impl Fn(io::Error) -> Problem {
    move |error| Problem::Io { doing, error }
}
