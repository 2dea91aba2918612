//! How much memory this process held at most, from Linux's `/proc`; nothing is known on other systems.
//!
//! Reference: proc(5), `VmHWM` of `/proc/self/status`, and the 5 that resets it in `/proc/self/clear_refs`.

use std::fs;

/// What reading may add to the resident memory of the process, in bytes.
pub const MEMORY: u64 = 512 << 20;

/// The resident memory at some time, and a peak that counts from there.
pub(super) struct Peak(u64);

impl Peak {
    /// Forgets earlier peaks.
    pub(super) fn start() -> Self {
        // Where it cannot be forgotten, the peak of the process is the baseline.
        let _ = fs::write("/proc/self/clear_refs", "5");
        Self(peak())
    }

    /// What was added since, if it is more than [`MEMORY`].
    pub(super) fn excess(&self) -> Option<u64> {
        Some(peak().saturating_sub(self.0)).filter(|&added| added > MEMORY)
    }
}

/// The most resident memory, in bytes, since it was last forgotten; 0 if that is not known.
pub(super) fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) << 10
}
