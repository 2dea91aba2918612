//! What can be wrong with a fat binary.

use super::format::ImageKind;

/// Why a fat binary, or an image of it, could not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FatbinError {
    /// It ends too early.
    #[error("{what} at byte {offset}: expected {expected} bytes, found {found}")]
    Truncated {
        /// What is not complete.
        what: &'static str,
        /// Where it begins.
        offset: usize,
        /// How many bytes it should have.
        expected: u64,
        /// How many there are.
        found: usize,
    },
    /// It is something else.
    #[error("expected a fat binary that begins with 0xba55ed50, found {found:#010x}")]
    NotAFatbin {
        /// How it begins.
        found: u32,
    },
    /// It is made in a way that did not exist when this was written.
    #[error("expected version 1 of the fat binary format, found version {found}")]
    Version {
        /// The version.
        found: u16,
    },
    /// A header contradicts itself.
    #[error("{what} at byte {offset}: expected {expected}, found {found}")]
    Malformed {
        /// What is wrong.
        what: &'static str,
        /// Where it is.
        offset: usize,
        /// What would be right.
        expected: &'static str,
        /// What is there.
        found: u64,
    },
    /// An image is compressed in a way that did not exist when this was written.
    #[error("expected an image that is plain or compressed with LZ4 or Zstandard, found flags {flags:#x}")]
    Compression {
        /// The flags of the image.
        flags: u64,
    },
    /// An image does not decompress to what its header says.
    #[error("failed to decompress the {kind}: expected {expected} bytes, found {found}")]
    Unpack {
        /// What the image is.
        kind: ImageKind,
        /// How many bytes should come out.
        expected: u64,
        /// What came out.
        found: String,
    },
}
