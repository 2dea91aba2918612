//! The end of a program that the machine stopped.

use outcome::{End, ProgramPoint, TrapKind};
use simt::TrapKind as Kind;

/// The end of a run that a trap ended at a place.
#[must_use]
pub fn end(kind: Kind, at: ProgramPoint) -> End {
    match trap(kind) {
        Some(trap) => End::Trapped { trap, at },
        None => End::Hang { at },
    }
}

/// The word that results use. The machine has words of its own, since it knows no results, and one more: running out
/// of fuel is a hang, not a trap.
fn trap(kind: Kind) -> Option<TrapKind> {
    Some(match kind {
        Kind::IllegalAddress => TrapKind::IllegalAddress,
        Kind::OutOfRangeAddress => TrapKind::OutOfRangeAddress,
        Kind::InvalidAddressSpace => TrapKind::InvalidAddressSpace,
        Kind::MisalignedAddress => TrapKind::MisalignedAddress,
        Kind::StackOverflow => TrapKind::StackOverflow,
        Kind::IllegalInstruction => TrapKind::IllegalInstruction,
        Kind::BarrierDeadlock => TrapKind::BarrierDeadlock,
        Kind::Trap => TrapKind::Trap,
        Kind::Assert => TrapKind::Assert,
        Kind::OutOfFuel => return None,
    })
}
