//! How a capsule names what it holds: numbers that are places in its lists.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Names a module of a capsule: its place in [`Capsule::modules`](crate::Capsule::modules).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModuleId(pub u32);

/// Names a blob of a capsule: its place in [`Capsule::blobs`](crate::Capsule::blobs).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BlobId(pub u32);

/// Names a part of a file: its place in the table of contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Part(pub u32);

impl fmt::Display for ModuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "module {}", self.0)
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "blob {}", self.0)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.checked_sub(1) {
            None => f.write_str("part 0 (manifest)"),
            Some(blob) => write!(f, "part {} (blob {blob})", self.0),
        }
    }
}
