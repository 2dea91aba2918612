//! The types that the elements of an output can have.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The type of an output's elements, spelled as in PTX without the dot: `f32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is its PTX type; the table below is the documentation")]
pub enum ElementType {
    U8,
    S8,
    U16,
    S16,
    U32,
    S32,
    U64,
    S64,
    F16,
    Bf16,
    F32,
    F64,
}

/// A word that is no [`ElementType`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "failed to read an element type: expected one of u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, found `{found}`"
)]
pub struct UnknownElementType {
    /// The word.
    pub found: String,
}

impl ElementType {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::U8,
        Self::S8,
        Self::U16,
        Self::S16,
        Self::U32,
        Self::S32,
        Self::U64,
        Self::S64,
        Self::F16,
        Self::Bf16,
        Self::F32,
        Self::F64,
    ];

    /// Its name and its size in bytes.
    const fn row(self) -> (&'static str, u64) {
        match self {
            Self::U8 => ("u8", 1),
            Self::S8 => ("s8", 1),
            Self::U16 => ("u16", 2),
            Self::S16 => ("s16", 2),
            Self::U32 => ("u32", 4),
            Self::S32 => ("s32", 4),
            Self::U64 => ("u64", 8),
            Self::S64 => ("s64", 8),
            Self::F16 => ("f16", 2),
            Self::Bf16 => ("bf16", 2),
            Self::F32 => ("f32", 4),
            Self::F64 => ("f64", 8),
        }
    }

    /// Its name: `f32`.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// The size of one element in bytes.
    pub const fn bytes(self) -> u64 {
        self.row().1
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ElementType {
    type Err = UnknownElementType;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|element| element.name() == text);
        known.ok_or_else(|| UnknownElementType { found: text.to_owned() })
    }
}
