//! How long a campaign is: if nobody says, and at most.

/// Runs of a campaign that says neither how many nor how tight: ±3.1 % at 95 %.
pub const DEFAULT_RUNS: u64 = 1000;

/// The longest sampled campaign, in runs. Its plan would fill a disk; more is a slip of the keyboard.
pub const MAX_RUNS: u64 = 1_000_000_000;

/// The longest limit on the time of a campaign, in seconds: thirty years. More is a slip of the keyboard.
pub const MAX_SECONDS: f64 = 1e9;
