//! When a thread counts as hanging.

/// The factor of fuel: a thread may execute its instructions of the golden run times this, plus [`FUEL_CONSTANT`].
pub const FUEL_FACTOR: u32 = 10;
/// The constant part of fuel, in instructions, where the campaign does not set another.
pub const FUEL_CONSTANT: u32 = 500_000;

/// The same for loops of which it is known when they end, by the [bound of work](loop_fuel).
const LOOP_FACTOR: u64 = 1_000;
/// The least of it: a second of a core.
const LOOP_LEAST: u64 = 1 << 26;

/// How many more instructions a thread may execute in loops of which it is known when they end, where no fuel is given: a
/// thousand times as many as the whole program executes without a fault, at least 2²⁶ and at most 2³³. Swept in
/// records/hangs.md.
#[must_use]
pub fn loop_fuel(golden_instructions: u64) -> u64 {
    golden_instructions.saturating_mul(LOOP_FACTOR).clamp(LOOP_LEAST, simt::REACH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_may_take_a_thousand_times_the_program_and_a_second() {
        assert_eq!(loop_fuel(1_278), 1 << 26);
        assert_eq!(loop_fuel(1_000_000), 1_000_000_000);
        assert_eq!(loop_fuel(u64::MAX), simt::REACH);
    }
}
