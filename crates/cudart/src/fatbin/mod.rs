//! Fat binaries: the containers in which nvcc puts device code into applications.
//!
//! A fat binary is a header and a sequence of images: PTX text, device binaries (cubins), intermediate code for
//! link-time optimisation. Each image has a header of its own that says what it is, for which architecture, and how
//! it is compressed. There is no public description; what stands here was found by letting nvcc 13.0
//! (`--compress-mode`, `-gencode`, `-rdc=true`, `-G`) make them and looking. All numbers are little-endian.
//!
//! | offset | bytes | header |
//! |---|---|---|
//! | 0 | 4 | magic, 0xba55ed50 |
//! | 4 | 2 | version: 1 |
//! | 6 | 2 | size of this header: 16 |
//! | 8 | 8 | size of all that follows it |
//!
//! | offset | bytes | header of an image |
//! |---|---|---|
//! | 0 | 2 | kind: 1 PTX, 2 cubin, 8 intermediate code |
//! | 2 | 2 | version: 0x101 |
//! | 4 | 4 | size of this header, name and options included |
//! | 8 | 8 | size of the payload, rounded up to 8 |
//! | 16 | 4 | size of the compressed payload; 0 if it is plain |
//! | 20 | 4 | offset of the options in this header, or 0 |
//! | 24 | 4 | minor and major version of the PTX ISA, or of the cubin's ABI |
//! | 28 | 4 | architecture: 80 for `sm_80` |
//! | 32 | 8 | offset in this header and length of the name (`-ident`, or the source file if compiled with `-G`) |
//! | 40 | 8 | flags: see [`mod@flags`] |
//! | 48 | 8 | unknown; 0 but for intermediate code |
//! | 56 | 8 | size of the decompressed payload; 0 if it is plain |
//!
//! The options, if there are any, are the offset in the header and the length of a text such as `--compile-only`.
//!
//! Reading is bounded: nothing is allocated for a size that is only declared.

mod choose;
mod error;
mod format;
mod image;
mod unpack;
mod written;

#[cfg(test)]
mod tests;

pub use choose::{Chosen, NoPtx, choose};
pub use error::FatbinError;
pub use format::{HEADER_BYTES, IMAGE_BYTES, ImageKind, MAGIC, flags};
pub use image::{ArchVariant, FatbinImage};
pub use written::of_ptx;

use format::little_endian;

/// How many bytes the fat binary has that begins with this header.
///
/// # Errors
/// It is not the header of a fat binary.
pub fn extent(header: &[u8; HEADER_BYTES]) -> Result<u64, FatbinError> {
    let number = |at: usize, bytes: usize| little_endian(&header[at..at + bytes]);
    let magic = number(0, 4) as u32;
    if magic != MAGIC {
        return Err(FatbinError::NotAFatbin { found: magic });
    }
    let version = number(4, 2) as u16;
    if version != 1 {
        return Err(FatbinError::Version { found: version });
    }
    let own = number(6, 2);
    if own < HEADER_BYTES as u64 {
        return Err(FatbinError::Malformed {
            what: "size of the header",
            offset: 6,
            expected: "at least 16",
            found: own,
        });
    }
    let total = own.checked_add(number(8, 8));
    total.ok_or(FatbinError::Malformed {
        what: "size of the images",
        offset: 8,
        expected: "less than 2^64",
        found: number(8, 8),
    })
}

/// The images of a fat binary, in order. Bytes after its end are ignored.
///
/// # Errors
/// It is not a fat binary, or is cut short, or contradicts itself.
pub fn parse(bytes: &[u8]) -> Result<Vec<FatbinImage<'_>>, FatbinError> {
    let truncated =
        |expected| FatbinError::Truncated { what: "the fat binary", offset: 0, expected, found: bytes.len() };
    let header = bytes.first_chunk::<HEADER_BYTES>().ok_or_else(|| truncated(HEADER_BYTES as u64))?;
    let end = extent(header)?;
    let whole = usize::try_from(end).ok().and_then(|end| bytes.get(..end));
    let whole = whole.ok_or_else(|| truncated(end))?;
    let mut at = usize::from(u16::from_le_bytes([header[6], header[7]]));
    let mut images = Vec::new();
    while at < whole.len() {
        let image = FatbinImage::parse(whole, at)?;
        at = image.end;
        images.push(image);
    }
    Ok(images)
}
