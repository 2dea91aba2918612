//! What stands in a fat binary, as numbers.

use std::fmt;

/// The first four bytes of a fat binary.
pub const MAGIC: u32 = 0xba55_ed50;
/// The size of its header in bytes.
pub const HEADER_BYTES: usize = 16;
/// The most bytes that one image may have when it is decompressed.
pub const IMAGE_BYTES: u64 = 1 << 30;

/// What the flags of an image mean.
pub mod flags {
    /// Compiled with debug information (`-g -G`).
    pub const DEBUG: u64 = 0x2;
    /// Compressed with LZ4, one block: `--compress-mode=speed`, and all that nvcc 12 compresses.
    pub const LZ4: u64 = 0x2000;
    /// Compressed with Zstandard: the default of nvcc 13.
    pub const ZSTD: u64 = 0x8000;
    /// For this very architecture only (`compute_90a`).
    pub const ARCHITECTURE: u64 = 0x10_0000;
    /// For this family of architectures only (`compute_100f`).
    pub const FAMILY: u64 = 0x20_0000;
}

/// What an image is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageKind {
    /// PTX text.
    Ptx,
    /// An ELF file of machine code.
    Cubin,
    /// Intermediate code for link-time optimisation (`-dlto`).
    LtoIr,
    /// A kind that had no name when this was written.
    Other(u16),
}

/// A number of up to 8 bytes.
pub(super) fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

impl ImageKind {
    pub(super) fn of(number: u16) -> Self {
        match number {
            1 => Self::Ptx,
            2 => Self::Cubin,
            8 => Self::LtoIr,
            other => Self::Other(other),
        }
    }
}

impl fmt::Display for ImageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ptx => f.write_str("PTX"),
            Self::Cubin => f.write_str("cubin"),
            Self::LtoIr => f.write_str("intermediate code"),
            Self::Other(number) => write!(f, "image of kind {number}"),
        }
    }
}
