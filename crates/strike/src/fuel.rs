//! When a thread counts as hanging.

/// A thread may execute this many times what it executed in the golden run,
pub const FUEL_FACTOR: u32 = 10;
/// plus this many instructions, before it is stopped; a campaign may say another number.
pub const FUEL_CONSTANT: u32 = 500_000;
