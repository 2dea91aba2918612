//! The end of a program that the machine stopped.

use outcome::{End, ProgramPoint, TrapKind};
use simt::{Trap, TrapKind as Kind};

/// The end of a run that a trap ended at a place.
#[must_use]
pub fn end(trap: &Trap, at: ProgramPoint) -> End {
    // The machine has words of its own, since it knows no results.
    let address = trap.address;
    let trap = match trap.kind {
        Kind::EndlessLoop | Kind::LongLoop => return End::Hang { at, endless: trap.kind == Kind::EndlessLoop },
        Kind::OutOfFuel => return End::OutOfFuel { at },
        Kind::IllegalAddress => TrapKind::IllegalAddress,
        Kind::OutOfRangeAddress => TrapKind::OutOfRangeAddress,
        Kind::InvalidAddressSpace => TrapKind::InvalidAddressSpace,
        Kind::MisalignedAddress => TrapKind::MisalignedAddress,
        Kind::StackOverflow => TrapKind::StackOverflow,
        Kind::IllegalInstruction => TrapKind::IllegalInstruction,
        Kind::BarrierDeadlock => TrapKind::BarrierDeadlock,
        Kind::Trap => TrapKind::Trap,
        Kind::Assert => TrapKind::Assert,
    };
    End::Trapped { trap, at, address }
}
