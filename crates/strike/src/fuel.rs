//! When a thread counts as hanging.

/// A thread may execute this many times what it executed in the golden run,
pub const FUEL_FACTOR: u32 = 10;
/// plus this many instructions, before it is stopped; a campaign may say another number.
pub const FUEL_CONSTANT: u32 = 500_000;
/// Where nobody says another number, it may execute this many more in loops of which it is known when they end: they are
/// executed to find out with what. Swept in records/hangs.md.
pub const FUEL_LOOPS: u64 = simt::REACH;
