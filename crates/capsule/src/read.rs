//! Reading a capsule file: header, table and manifest at once, blobs when they are asked for.
//!
//! The order of the checks is the order in which their answers make sense: is it a capsule, of a version that can be read, is
//! it all there, is the table as it was written, are its sizes sane, is the manifest as it was written, does it make sense.

use std::path::Path;

use crate::blobs::Blobs;
use crate::bounds;
use crate::container::{CapsuleBytes, Container};
use crate::error::shown;
use crate::format::{self, HEADER_BYTES, Header, Placed};
use crate::model::Manifest;
use crate::{Action, Capsule, Error, FileSection, Foreign, Origin, Problem, pack, validate};

impl Capsule {
    /// Reads a capsule file. The file stays open, and its blobs are read when they are asked for.
    ///
    /// # Errors
    ///
    /// It cannot be read, is not a capsule, is of another major version, is damaged, exceeds a bound of [`mod@format`], or is
    /// not valid.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let container = Container::open(path);
        let origin = Origin::File(path.to_owned());
        read(container.map_err(|problem| Error::new(Action::Read, &origin, problem))?)
    }

    /// Reads a capsule from memory, such as one that was bundled with `include_bytes!`.
    ///
    /// # Errors
    ///
    /// As [`Capsule::open`].
    pub fn from_bytes(bytes: impl Into<CapsuleBytes>) -> Result<Self, Error> {
        read(Container::memory(bytes.into()))
    }

    /// Reads every blob, which checks the rest of a capsule that was opened.
    ///
    /// # Errors
    ///
    /// A blob cannot be read or is damaged.
    pub fn read_all(&self) -> Result<(), Error> {
        self.blobs.ids().try_for_each(|id| self.blobs.get(id).map(drop))
    }
}

fn read(container: Container) -> Result<Capsule, Error> {
    let manifest = read_manifest(&container);
    let (manifest, blobs) = manifest.map_err(|problem| Error::new(Action::Read, container.origin(), problem))?;
    let origin = container.origin().clone();
    let capsule = manifest.with(Blobs::stored(container, &blobs));
    validate::capsule(&capsule).map_err(|problem| Error::new(Action::Read, &origin, problem))?;
    Ok(capsule)
}

/// The manifest, and the places of the blobs.
fn read_manifest(container: &Container) -> Result<(Manifest, Vec<Placed>), Problem> {
    let header = read_header(container)?;
    let mut parts = read_table(container, header)?;
    if parts.is_empty() {
        return Err(Problem::NoManifest);
    }
    check_extent(container, &parts)?;
    let blobs = parts.split_off(1);
    let manifest = parts[0];
    let json = pack::read(container, &manifest)?;
    let mistake =
        |error: serde_json::Error| Problem::Manifest { offset: manifest.offset, reason: shown(&error.to_string()) };
    Ok((serde_json::from_slice(&json).map_err(mistake)?, blobs))
}

fn read_header(container: &Container) -> Result<[u8; HEADER_BYTES as usize], Problem> {
    let found = container.bytes();
    let prefix = container.read(0, found.min(Foreign::PREFIX_BYTES))?;
    if let Some(found) = Foreign::of(&prefix) {
        return Err(Problem::Foreign { found });
    }
    if let Some(version) = prefix.first_chunk::<12>() {
        check_version(u16::from_le_bytes(format::array(version, 8)), u16::from_le_bytes(format::array(version, 10)))?;
    }
    let truncated = Problem::Truncated { section: FileSection::Header, expected: HEADER_BYTES, found };
    prefix.first_chunk().copied().ok_or(truncated)
}

/// Comes before every other check, because nothing after it need be the same in another major version.
fn check_version(major: u16, minor: u16) -> Result<(), Problem> {
    match major {
        format::MAJOR => Ok(()),
        0 => Err(Problem::NoSuchVersion { major, minor }),
        _ => Err(Problem::Newer { major, minor }),
    }
}

fn read_table(container: &Container, bytes: [u8; HEADER_BYTES as usize]) -> Result<Vec<Placed>, Problem> {
    let Header { parts, seal } = Header::decode(&bytes);
    let section = FileSection::Table { parts };
    if parts > format::PARTS {
        let (declared, bound) = (u64::from(parts), u64::from(format::PARTS));
        return Err(Problem::TooLarge { section, what: "parts", declared, bound });
    }
    let end = format::parts_offset(parts);
    if container.bytes() < end {
        return Err(Problem::Truncated { section, expected: end, found: container.bytes() });
    }
    let table = container.read(HEADER_BYTES, end - HEADER_BYTES)?;
    let found = format::seal(&bytes[..16], &table);
    if found != seal {
        return Err(Problem::Seal { end, expected: seal, found });
    }
    bounds::place(&table)
}

/// The parts fill the file to its end.
fn check_extent(container: &Container, parts: &[Placed]) -> Result<(), Problem> {
    let found = container.bytes();
    let mut end = format::parts_offset(parts.len() as u32);
    for Placed { part, offset, entry } in parts {
        end = offset + entry.packed_bytes;
        if found < end {
            return Err(Problem::Truncated { section: FileSection::Part(*part), expected: end, found });
        }
    }
    if found > end { Err(Problem::Appended { expected: end, found }) } else { Ok(()) }
}
