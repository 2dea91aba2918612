//! Instruction-set levels of the host: the lane loops are compiled once for each and chosen at run time.
//!
//! Every level gives the same bits. The baseline has no fused multiply-add instruction and calls a library for it;
//! AVX2 and AVX-512 turn a loop over 32 lanes into a few vector instructions.

use crate::Handlers;
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

/// Proof that the host has a level, and the way to run code compiled for it.
pub trait Level: Copy + 'static {
    /// Runs `f`, compiled for this level where it is inlined.
    fn run<R>(self, f: impl FnOnce() -> R) -> R;

    /// Whether each of 16 numbers is `step` more than the one before.
    ///
    /// A compiler takes a loop that compares and the first number apart, each in its way, and puts them together again
    /// at a cost of more than both; so the levels say what they do.
    #[inline(always)]
    fn is_progression32(self, numbers: &[u32; 16], step: u32) -> bool {
        (0..16).all(|at| numbers[at] == numbers[0].wrapping_add(at as u32 * step))
    }

    /// As [`is_progression32`](Self::is_progression32), of numbers with 64 bits.
    #[inline(always)]
    fn is_progression64(self, numbers: &[u64; 16], step: u64) -> bool {
        (0..16).all(|at| numbers[at] == numbers[0].wrapping_add(at as u64 * step))
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

/// The lane loops as every machine has them.
#[derive(Clone, Copy)]
pub struct Baseline;

impl Level for Baseline {
    #[inline(always)]
    fn run<R>(self, f: impl FnOnce() -> R) -> R {
        f()
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Level;
    use std::arch::x86_64::__m256i;
    use std::array::from_fn;

    macro_rules! is_progression {
        ($level:expr, $numbers:expr, $step:expr, $t:ty, $vectors:literal, $set1:ident, $add:ident) => {{
            let (level, numbers, step) = ($level, $numbers, $step);
            let steps: [__m256i; $vectors] = pulp::cast::<[$t; 16], _>(from_fn(|at| step * at as $t));
            let found: [__m256i; $vectors] = pulp::cast(*numbers);
            let first = level.avx.$set1(numbers[0] as _);
            let mut different = level.avx._mm256_setzero_si256();
            for at in 0..$vectors {
                let expected = level.avx2.$add(first, steps[at]);
                different = level.avx2._mm256_or_si256(different, level.avx2._mm256_xor_si256(found[at], expected));
            }
            level.avx._mm256_testz_si256(different, different) != 0
        }};
    }

    macro_rules! levels {
        ($($level:ty),*) => { $(impl Level for $level {
            #[inline(always)]
            fn run<R>(self, f: impl FnOnce() -> R) -> R {
                self.vectorize(f)
            }

            #[inline(always)]
            fn is_progression32(self, numbers: &[u32; 16], step: u32) -> bool {
                is_progression!(self, numbers, step, u32, 2, _mm256_set1_epi32, _mm256_add_epi32)
            }

            #[inline(always)]
            fn is_progression64(self, numbers: &[u64; 16], step: u64) -> bool {
                is_progression!(self, numbers, step, u64, 4, _mm256_set1_epi64x, _mm256_add_epi64)
            }
        })* };
    }
    levels!(pulp::x86::V3, pulp::x86::V4);
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
