//! The file format of a capsule, byte by byte, and the bounds that a reader holds it to.
//!
//! All numbers are little-endian. A file is a header, a table of contents, and then the parts one after the other in the order
//! of the table, without gaps, up to the end of the file. Offsets are not stored: they are the running sum of the packed
//! sizes, so that parts cannot overlap, leave holes or hide anything behind the last one.
//!
//! | offset | bytes | header |
//! |---|---|---|
//! | 0 | 8 | magic, `89 42 4D 43 0D 0A 1A 0A`: not text, and telling when a transfer "converted line endings" (after PNG) |
//! | 8 | 2 | major version: 1 |
//! | 10 | 2 | minor version: 0 |
//! | 12 | 4 | number of parts *n*, at least 1 |
//! | 16 | 32 | seal: BLAKE3 of bytes 0–15 followed by the whole table |
//!
//! | offset in entry | bytes | entry *k* of the table, at 48 + 80 *k* |
//! |---|---|---|
//! | 0 | 8 | size of the packed part |
//! | 8 | 8 | size of the raw part |
//! | 16 | 32 | BLAKE3 of the packed part: tells damage from a transfer or a disk, before a decompressor sees it |
//! | 48 | 32 | BLAKE3 of the raw part: the identity of a blob |
//!
//! Each part is exactly one Zstandard frame (RFC 8878) without dictionary, whose window is at most 2<sup>23</sup> bytes. Part 0
//! is the manifest; part *k* + 1 is [`BlobId`](crate::BlobId) *k*.
//!
//! # The manifest
//!
//! One JSON object: `format` (a name for people), `name`, `provenance`, `modules`, `events`, `outputs` and `sources`, with the
//! fields of the types in this crate. An event is an object with one field named after its kind, as in
//! `{"free":{"address":139637976727552}}`, or the word `"synchronize"`; kinds and enumerations are in snake case; digests and
//! kernel arguments are lower-case hexadecimal text; a [`Region`](crate::Region) leaves out what follows from the rest.
//!
//! # Versions
//!
//! A minor version adds fields to the manifest that may be ignored, and parts that only they refer to; readers of the same
//! major version read it, ignoring what they do not know (and lose it if they write the capsule again). Whatever may not be
//! ignored, such as a new kind of event, is a new major version, which older readers refuse. Bytes 0–11 never change meaning.
//!
//! # Bounds
//!
//! Checked before anything is allocated for the size in question. Memory then grows with what really decompresses, not with what
//! was declared. A manifest of [`MANIFEST_BYTES`] takes less than 2 GiB when parsed, however it was chosen; an ordinary one
//! takes about its own size.
//!
//! Flipping any bit of a file, cutting it short or appending to it is found: in the header, table and manifest by
//! [`Capsule::open`](crate::Capsule::open), in a blob when it is read.

use crate::foreign::MAGIC;
use crate::{Digest, Digester, Part};

/// The major version that this crate reads and writes.
pub const MAJOR: u16 = 1;
/// The minor version that this crate writes.
pub const MINOR: u16 = 0;
/// The most parts a file may have.
pub const PARTS: u32 = 1 << 20;
/// The largest raw manifest.
pub const MANIFEST_BYTES: u64 = 128 << 20;
/// The largest raw part.
pub const PART_BYTES: u64 = 4 << 30;
/// The most raw bytes that all parts together may have.
pub const TOTAL_BYTES: u64 = 64 << 30;

/// The size of the header.
pub const HEADER_BYTES: u64 = 48;
/// The size of an entry of the table.
pub const ENTRY_BYTES: u64 = 80;
/// Binary logarithm of the largest window of a frame.
pub(crate) const WINDOW_LOG: u32 = 23;

/// What the table says about one part. Public for tests that make files which no writer makes.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartEntry {
    /// The size of the packed part.
    pub packed_bytes: u64,
    /// The size of the raw part.
    pub raw_bytes: u64,
    /// The digest of the packed part.
    pub packed: Digest,
    /// The digest of the raw part.
    pub raw: Digest,
}

/// A part, and where it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    pub(crate) part: Part,
    pub(crate) offset: u64,
    pub(crate) entry: PartEntry,
}

/// The header after its magic and version.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header {
    pub(crate) parts: u32,
    pub(crate) seal: Digest,
}

/// Where the parts begin in a file of `parts` parts.
pub(crate) const fn parts_offset(parts: u32) -> u64 {
    HEADER_BYTES + ENTRY_BYTES * parts as u64
}

/// The most bytes that a packed part of `raw` bytes may have: Zstandard's own bound is `raw + raw / 256` and a constant.
pub(crate) const fn packed_bound(raw: u64) -> u64 {
    raw + raw / 128 + 1024
}

/// Header and table of a file with these parts, whatever is said of them. Public as [`PartEntry`] is.
#[doc(hidden)]
pub fn encode(entries: &[PartEntry]) -> Vec<u8> {
    let mut head = MAGIC.to_vec();
    head.extend(MAJOR.to_le_bytes());
    head.extend(MINOR.to_le_bytes());
    head.extend((entries.len() as u32).to_le_bytes());
    let table: Vec<u8> = entries.iter().flat_map(|entry| entry.encode()).collect();
    let seal = seal(&head, &table);
    head.extend(seal.as_bytes());
    head.extend(table);
    head
}

/// The seal of a header whose first 16 bytes are `head`.
pub(crate) fn seal(head: &[u8], table: &[u8]) -> Digest {
    let mut digester = Digester::new();
    digester.update(head);
    digester.update(table);
    digester.finish()
}

impl PartEntry {
    fn encode(&self) -> [u8; ENTRY_BYTES as usize] {
        let mut bytes = [0; ENTRY_BYTES as usize];
        bytes[0..8].copy_from_slice(&self.packed_bytes.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.raw_bytes.to_le_bytes());
        bytes[16..48].copy_from_slice(self.packed.as_bytes());
        bytes[48..80].copy_from_slice(self.raw.as_bytes());
        bytes
    }

    /// The entry that these bytes of a table are.
    #[must_use]
    pub fn decode(bytes: &[u8; ENTRY_BYTES as usize]) -> Self {
        Self {
            packed_bytes: u64::from_le_bytes(array(bytes, 0)),
            raw_bytes: u64::from_le_bytes(array(bytes, 8)),
            packed: Digest::from_bytes(array(bytes, 16)),
            raw: Digest::from_bytes(array(bytes, 48)),
        }
    }
}

impl Header {
    /// The rest of a header whose magic and version are right.
    pub(crate) fn decode(bytes: &[u8; HEADER_BYTES as usize]) -> Self {
        Self { parts: u32::from_le_bytes(array(bytes, 12)), seal: Digest::from_bytes(array(bytes, 16)) }
    }
}

/// `N` bytes from `offset` of `bytes`, where the offset is a constant of the layout above.
pub(crate) fn array<const N: usize, const M: usize>(bytes: &[u8; M], offset: usize) -> [u8; N] {
    std::array::from_fn(|index| bytes[offset + index])
}
