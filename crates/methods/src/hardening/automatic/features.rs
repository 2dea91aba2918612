//! The facts of a kernel and of its two hardened forms that need no run.

use capsule::Launch;
use isa::{Function, Space};
use rewrite::live_words;
use serde::{Deserialize, Serialize};

/// The limits of a multiprocessor of an H100 (compute capability 9.0), after which occupancy is estimated.
const WORDS: u32 = 65_536;
const THREADS: u32 = 2048;
const BLOCKS: u32 = 32;
const SHARED_BYTES: u32 = 233_472;
/// The most registers of a thread; what needs more is spilled.
const MOST_WORDS: u32 = 255;
/// Registers that an assembler needs beside the values that are live.
const RESERVED: u32 = 8;

/// The names of the features, in the order of [`KernelFeatures::values`].
pub(super) const FEATURES: [&str; 7] = [
    "occupancy before",
    "occupancy with DRDV, of that before",
    "occupancy with SRIV, of that before",
    "static instructions with DRDV, times as many",
    "static instructions with SRIV, times as many",
    "live words with DRDV, times as many",
    "words above the most registers with DRDV",
];

/// The features of a kernel. The first scheme is FastSig-DRDV, the second FastSig-SRIV.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelFeatures {
    /// The estimated share of a multiprocessor's threads that are resident, as the kernel was.
    pub occupancy: f64,
    /// That with the first scheme, as a share of it.
    pub occupancy_first: f64,
    /// That with the second scheme, as a share of it.
    pub occupancy_second: f64,
    /// Static instructions with the first scheme over those before.
    pub growth_first: f64,
    /// Static instructions with the second scheme over those before.
    pub growth_second: f64,
    /// The most live words with the first scheme over those before.
    pub pressure_first: f64,
    /// Live words above the most registers of a thread, with the first scheme.
    pub spilled_first: f64,
}

impl KernelFeatures {
    /// Those of a kernel as it was and by both schemes, in its largest launch.
    pub(super) fn of(before: &Function, hardened: [&Function; 2], launch: &Launch) -> Self {
        let words = |function: &Function| live_words(function) + RESERVED;
        let fixed = before
            .variables
            .iter()
            .filter(|it| it.space == Space::Shared)
            .map(|it| u32::try_from(it.bytes).unwrap_or(u32::MAX))
            .fold(0, u32::saturating_add);
        let shared = fixed.saturating_add(launch.shared_bytes);
        let threads = u32::try_from(launch.threads_per_block()).unwrap_or(u32::MAX);
        let occupancy = |function: &Function| occupancy(words(function), threads, shared);
        let growth = |function: &Function| function.body.len() as f64 / before.body.len().max(1) as f64;
        let [first, second] = hardened;
        let share = |after: f64| if occupancy(before) > 0.0 { after / occupancy(before) } else { 1.0 };
        Self {
            occupancy: occupancy(before),
            occupancy_first: share(occupancy(first)),
            occupancy_second: share(occupancy(second)),
            growth_first: growth(first),
            growth_second: growth(second),
            pressure_first: f64::from(words(first)) / f64::from(words(before)),
            spilled_first: f64::from(words(first).saturating_sub(MOST_WORDS)),
        }
    }

    /// In the order of [`FEATURES`].
    pub(super) fn values(&self) -> [f64; FEATURES.len()] {
        let Self { occupancy, occupancy_first, occupancy_second, growth_first, growth_second, .. } = *self;
        let Self { pressure_first, spilled_first, .. } = *self;
        [occupancy, occupancy_first, occupancy_second, growth_first, growth_second, pressure_first, spilled_first]
    }
}

/// The share of a multiprocessor's threads that are resident.
fn occupancy(words: u32, threads: u32, shared: u32) -> f64 {
    // Registers are given to warps, by eight for each thread.
    let of_warp = words.min(MOST_WORDS).next_multiple_of(8) * 32;
    let warps = threads.div_ceil(32).max(1);
    let by_words = WORDS / of_warp / warps;
    let by_threads = THREADS / (warps * 32).min(THREADS);
    let by_shared = SHARED_BYTES.checked_div(shared).unwrap_or(BLOCKS);
    let blocks = by_words.min(by_threads).min(by_shared).min(BLOCKS);
    f64::from(blocks * warps * 32) / f64::from(THREADS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occupancy_is_bounded_by_registers_threads_and_shared_memory() {
        assert_eq!(occupancy(32, 256, 0), 1.0);
        assert_eq!(occupancy(64, 256, 0), 0.5);
        assert_eq!(occupancy(32, 32, 0), 0.5);
        assert_eq!(occupancy(16, 1024, 100_000), 1.0);
        assert_eq!(occupancy(16, 256, 100_000), 0.25);
    }
}
