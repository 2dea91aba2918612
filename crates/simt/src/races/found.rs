//! What is found of races, and how much is looked at.

use crate::launch::Interleaving;
use std::collections::BTreeMap;

/// Two instructions that race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Race {
    /// How finely warps have to take turns for it to show as on a GPU: those of a block, or of all.
    pub between: Interleaving,
    /// Where: shared or global memory.
    pub shared: bool,
    /// The instruction that came first here, an index into the program's.
    pub first: u32,
    /// The one that came after it.
    pub second: u32,
}

/// How much of launches is looked at for races.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaceBudget {
    /// Words of four bytes that warps access: these take the time.
    pub words: u64,
    /// Instructions of all threads, those of lanes that do not execute them among them.
    pub instructions: u64,
}

impl RaceBudget {
    /// What is left of it.
    #[must_use]
    pub fn less(self, spent: Self) -> Self {
        let words = self.words.saturating_sub(spent.words);
        Self { words, instructions: self.instructions.saturating_sub(spent.instructions) }
    }

    /// As much of each as there is in one of both.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let words = self.words.max(other.words);
        Self { words, instructions: self.instructions.max(other.instructions) }
    }

    /// Whether nothing can be looked at.
    #[must_use]
    pub fn is_spent(self) -> bool {
        self.words == 0 || self.instructions == 0
    }
}

/// The races of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Races {
    /// With how often a warp accessed a word of four bytes so.
    pub found: BTreeMap<Race, u64>,
    /// Blocks that were looked at, from the first on.
    pub blocks: u64,
    /// Instructions that were looked at, by all threads.
    pub instructions: u64,
    /// Words that warps accessed there.
    pub words: u64,
    /// Whether all accesses were looked at.
    pub is_whole: bool,
}

impl Races {
    /// How finely the warps of the kernel have to take turns.
    #[must_use]
    pub fn interleaving(&self) -> Interleaving {
        self.found.keys().map(|race| race.between).max().unwrap_or_default()
    }

    pub(super) fn count(&mut self, race: Race) {
        *self.found.entry(race).or_default() += 1;
    }
}
