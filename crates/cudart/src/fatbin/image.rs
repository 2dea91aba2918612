//! One image of a fat binary and its header.

use std::borrow::Cow;

use super::error::FatbinError;
use super::format::{ImageKind, flags, little_endian};
use super::unpack;

/// The size of an image's header without name and options.
const HEADER_BYTES: usize = 64;

/// On which devices an image of an architecture runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ArchVariant {
    /// On this architecture and later ones.
    Plain,
    /// On its family (`compute_100f`).
    Family,
    /// On this very one (`compute_90a`).
    Architecture,
}

/// One image, still as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FatbinImage<'a> {
    /// What it is.
    pub kind: ImageKind,
    /// Its architecture: 80 for `sm_80` or `compute_80`.
    pub arch: u32,
    /// The devices of that architecture it is for.
    pub variant: ArchVariant,
    /// Flags as stored; see [`mod@flags`].
    pub flags: u64,
    /// The version of the PTX ISA, or of the cubin's ABI, as it is stored: the minor one in the lower half.
    pub isa: u32,
    /// Its name, where the compiler gave it one.
    pub name: Option<&'a str>,
    /// The options it was compiled with, where the compiler kept them.
    pub options: Option<&'a str>,
    /// The bytes as stored, without padding.
    payload: &'a [u8],
    /// The size when decompressed, if it is compressed.
    raw_bytes: u64,
    /// Where the next image begins.
    pub(super) end: usize,
}

impl<'a> FatbinImage<'a> {
    /// The image whose header begins at byte `at`.
    pub(super) fn parse(bytes: &'a [u8], at: usize) -> Result<Self, FatbinError> {
        let rest = bytes.get(at..).unwrap_or_default();
        let fixed = rest.get(..HEADER_BYTES);
        let fixed = fixed.ok_or_else(|| cut("the header of an image", at, HEADER_BYTES as u64, rest))?;
        let number = |from: usize, size: usize| little_endian(&fixed[from..from + size]);
        let header_bytes = number(4, 4);
        if header_bytes < HEADER_BYTES as u64 {
            return Err(FatbinError::Malformed {
                what: "size of an image's header",
                offset: at + 4,
                expected: "at least 64",
                found: header_bytes,
            });
        }
        let Some((header, body)) = rest.split_at_checked(header_bytes as usize) else {
            return Err(cut("the header of an image", at, header_bytes, rest));
        };
        let padded = number(8, 8);
        let stored = usize::try_from(padded).ok().and_then(|size| body.get(..size));
        let stored = stored.ok_or_else(|| cut("an image", at + header.len(), padded, body))?;
        let flags = number(40, 8);
        Ok(Self {
            kind: ImageKind::of(number(0, 2) as u16),
            arch: number(28, 4) as u32,
            variant: ArchVariant::of(flags),
            flags,
            isa: number(24, 4) as u32,
            name: text(header, number(32, 4), number(36, 4)),
            options: options(header, number(20, 4)),
            payload: payload(stored, flags, number(16, 4), at)?,
            raw_bytes: number(56, 8),
            end: at + header.len() + stored.len(),
        })
    }

    /// Its bytes, decompressed.
    ///
    /// # Errors
    /// The compression is unknown, or what comes out is not what the header promises.
    pub fn unpack(&self) -> Result<Cow<'a, [u8]>, FatbinError> {
        unpack::unpack(self.kind, self.flags, self.payload, self.raw_bytes)
    }

    /// Whether it still has to be linked with others (`-rdc=true`).
    pub fn is_relocatable(&self) -> bool {
        let mut options = self.options.unwrap_or_default().split_whitespace();
        options.any(|option| matches!(option, "--compile-only" | "-c"))
    }

    /// Its virtual architecture, as the compiler's options spell it.
    pub fn compute(&self) -> String {
        let suffix = match self.variant {
            ArchVariant::Plain => "",
            ArchVariant::Family => "f",
            ArchVariant::Architecture => "a",
        };
        format!("compute_{}{suffix}", self.arch)
    }
}

/// The part of the stored bytes that is not padding.
fn payload(stored: &[u8], flags: u64, packed: u64, at: usize) -> Result<&[u8], FatbinError> {
    if flags & (flags::LZ4 | flags::ZSTD) == 0 {
        return Ok(stored);
    }
    let payload = usize::try_from(packed).ok().and_then(|size| stored.get(..size));
    payload.ok_or(FatbinError::Malformed {
        what: "size of a compressed image",
        offset: at + 16,
        expected: "no more than what is stored",
        found: packed,
    })
}

fn cut(what: &'static str, offset: usize, expected: u64, found: &[u8]) -> FatbinError {
    FatbinError::Truncated { what, offset, expected, found: found.len() }
}

/// A text in a header. One that is not there is none: no result depends on it.
fn text(header: &[u8], offset: u64, length: u64) -> Option<&str> {
    let start = usize::try_from(offset).ok().filter(|&start| start >= HEADER_BYTES)?;
    let end = start.checked_add(usize::try_from(length).ok()?)?;
    let text = std::str::from_utf8(header.get(start..end)?).ok()?;
    Some(text.trim_end_matches('\0').trim()).filter(|text| !text.is_empty())
}

/// The options, whose offset and length stand at a place of the header.
fn options(header: &[u8], at: u64) -> Option<&str> {
    let at = usize::try_from(at).ok().filter(|&at| at >= HEADER_BYTES)?;
    let pair = header.get(at..at.checked_add(8)?)?;
    text(header, little_endian(&pair[..4]), little_endian(&pair[4..]))
}

impl ArchVariant {
    fn of(flags: u64) -> Self {
        if flags & flags::ARCHITECTURE != 0 {
            Self::Architecture
        } else if flags & flags::FAMILY != 0 {
            Self::Family
        } else {
            Self::Plain
        }
    }
}
