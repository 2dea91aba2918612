//! What a campaign may use of the machine it runs on. None of it changes a result.

use std::num::NonZero;

/// What may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Bytes that the golden run, its index and its checkpoints may take together.
    pub memory: u64,
    /// Threads that make the index.
    pub jobs: usize,
    /// Instructions of a block, at least, from one of its checkpoints to the next and to its end; 0 for a checkpoint
    /// after every round.
    pub spacing: u64,
}

/// Where the size of the machine's memory is not known.
const UNKNOWN: u64 = 4 << 30;

/// Fewer, and short blocks take longer to record, restore and compare than to execute (`docs/design/delta.md`).
const SPACING: u64 = 32 << 10;

impl Default for Resources {
    /// Half of the machine's memory, and every core.
    fn default() -> Self {
        let jobs = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self { memory: half_of_the_machine(), jobs, spacing: SPACING }
    }
}

fn half_of_the_machine() -> u64 {
    kibibytes("/proc/meminfo", "MemTotal:").map_or(UNKNOWN, |total| total / 2)
}

/// The most memory that this process has had, in bytes; 0 where the system does not say.
pub(crate) fn peak() -> u64 {
    kibibytes("/proc/self/status", "VmHWM:").unwrap_or(0)
}

/// A line of a file of the system that gives a number of KiB, in bytes.
fn kibibytes(file: &str, key: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}
