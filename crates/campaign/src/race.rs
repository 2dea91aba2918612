//! The data races of a golden run, as results keep them.

use serde::{Deserialize, Serialize};

use outcome::words;

/// A data race that the golden run has: two accesses to the same bytes, one of them at least a write, whose order nothing
/// decides. What its kernel computes is one of several answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataRace {
    /// The kernel.
    pub kernel: String,
    /// Who races.
    pub between: Racers,
    /// Where.
    pub memory: RacedMemory,
    /// Both accesses: the one that came first in the golden run, and the other.
    pub accesses: [RacingAccess; 2],
    /// How often words of four bytes were accessed so, in the blocks that were looked at.
    pub words: u64,
}

/// One of two accesses that race.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RacingAccess {
    /// The static instruction, counted in its function.
    pub pc: u32,
    /// The source file, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The source line, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

words! {
    /// Between whom a data race is.
    pub enum Racers ("party to a race") {
        /// The warps of a block.
        Warps = "warps",
        /// The blocks of a grid.
        Blocks = "blocks",
    }
}

words! {
    /// The memory that a data race is in.
    pub enum RacedMemory ("memory of a race") {
        /// Shared memory.
        Shared = "shared",
        /// Global memory.
        Global = "global",
    }
}
