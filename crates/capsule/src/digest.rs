//! Digests: BLAKE3, 32 bytes, written as 64 hexadecimal digits.
//!
//! Reference: O'Connor, Aumasson, Neves, Wilcox-O'Hearn, *BLAKE3: one function, fast everywhere*, 2021.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::hex;

/// The BLAKE3 digest of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The digest whose value is these bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its value.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// A text that spells no [`Digest`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("failed to read a digest: {reason}")]
pub struct UnreadableDigest {
    /// What was expected and what was found.
    pub reason: String,
}

/// The digest of bytes that come in pieces, such as the rows of a region.
#[derive(Debug, Clone, Default)]
pub struct Digester(blake3::Hasher);

impl Digester {
    /// No bytes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// More bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all bytes so far, as if they had come in one piece.
    pub fn finish(&self) -> Digest {
        Digest(*self.0.finalize().as_bytes())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&hex::encode(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = UnreadableDigest;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bytes = hex::decode(text).map_err(|reason| UnreadableDigest { reason })?;
        let value = bytes.try_into().map_err(|bytes: Vec<u8>| UnreadableDigest {
            reason: format!("expected 64 hexadecimal digits, found {}", 2 * bytes.len()),
        });
        value.map(Self)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        hex::serialize(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
