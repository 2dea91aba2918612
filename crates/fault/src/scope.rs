//! How many threads a fault hits at once, as campaigns say it.

use crate::error::{SelectionError, digits};
use std::fmt;

/// Threads of a warp.
pub const WARP: u32 = 32;

/// How many threads are hit at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScopeKind {
    /// One.
    #[default]
    Thread,
    /// Two of a warp, which execute the instruction together.
    Pair,
    /// So many of a warp, which execute the instruction together.
    Lanes(u32),
    /// All of a warp that execute the instruction together.
    Warp,
}

impl ScopeKind {
    /// Reads the word of a campaign.
    ///
    /// # Errors
    /// If the word means nothing.
    pub fn parse(word: &str) -> Result<Self, SelectionError> {
        match word {
            "thread" => Ok(Self::Thread),
            "pair" => Ok(Self::Pair),
            "warp" => Ok(Self::Warp),
            _ => {
                let lanes = word.strip_prefix("lanes:").and_then(digits);
                lanes.filter(|lanes| (1..=WARP).contains(lanes)).map(Self::Lanes).ok_or_else(|| SelectionError::Word {
                    key: "scope",
                    found: word.to_owned(),
                    expected:
                        "thread, pair (two threads of a warp), lanes:N (N of them), warp (all its active threads)"
                            .to_owned(),
                })
            }
        }
    }

    /// How many threads must execute an instruction together.
    #[must_use]
    pub fn least(self) -> u32 {
        match self {
            Self::Thread | Self::Warp => 1,
            Self::Pair => 2,
            Self::Lanes(threads) => threads,
        }
    }
}

impl fmt::Display for ScopeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Thread => f.write_str("thread"),
            Self::Pair => f.write_str("pair"),
            Self::Lanes(threads) => write!(f, "lanes:{threads}"),
            Self::Warp => f.write_str("warp"),
        }
    }
}
