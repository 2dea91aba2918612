//! Which levels this host has, and work at one of them.

use super::vector::Baseline;
use crate::loops::Handlers;
use std::fmt;

/// A level that this host may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LevelName {
    /// What every x86-64 (or other) machine has.
    Baseline,
    /// AVX2 and FMA.
    Avx2,
    /// AVX-512.
    Avx512,
}

impl LevelName {
    /// All levels, from the least.
    pub const ALL: [Self; 3] = [Self::Baseline, Self::Avx2, Self::Avx512];

    /// Whether this host has it.
    #[must_use]
    pub fn is_available(self) -> bool {
        with_level(self, Probe).is_some()
    }

    /// The best level of this host.
    #[must_use]
    pub fn best() -> Self {
        Self::ALL.into_iter().rev().find(|level| level.is_available()).unwrap_or(Self::Baseline)
    }
}

impl fmt::Display for LevelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Baseline => "baseline",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        })
    }
}

/// Work that is generic over the level.
pub trait WithLevel {
    /// What it gives.
    type Output;
    /// Does it.
    fn with<L: Handlers>(self, level: L) -> Self::Output;
}

struct Probe;

impl WithLevel for Probe {
    type Output = ();
    fn with<L: Handlers>(self, _: L) {}
}

/// Does `work` at a level, if the host has it.
pub fn with_level<W: WithLevel>(name: LevelName, work: W) -> Option<W::Output> {
    match name {
        LevelName::Baseline => Some(work.with(Baseline)),
        #[cfg(target_arch = "x86_64")]
        LevelName::Avx2 => pulp::x86::V3::try_new().map(|level| work.with(level)),
        #[cfg(target_arch = "x86_64")]
        LevelName::Avx512 => pulp::x86::V4::try_new().map(|level| work.with(level)),
        #[cfg(not(target_arch = "x86_64"))]
        _ => None,
    }
}
