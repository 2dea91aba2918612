//! When a thread counts as hanging.

/// A thread may execute this many times what it executed in the golden run,
pub const FUEL_FACTOR: u32 = 10;
/// plus this many instructions, before it counts as hanging; a campaign may say another number.
pub const FUEL_CONSTANT: u32 = 10_000_000;
