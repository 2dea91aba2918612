//! The end of a program that the machine stopped.

use capsule::{Capsule, InstructionOrigin, ModuleId};
use outcome::{End, ProgramPoint, TrapKind};
use simt::{Trap, TrapKind as Kind};

/// The end of a run that a trap ended at a place. A trap of the protection that is written into the kernel, which names
/// itself, is no mistake of the program: it has noticed the fault.
#[must_use]
pub fn end(trap: &Trap, at: ProgramPoint, protection: Option<&str>) -> End {
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
        Kind::Trap => match protection {
            Some(scheme) => return End::Detected { by: scheme.to_owned() },
            None => TrapKind::Trap,
        },
        Kind::Assert => TrapKind::Assert,
    };
    End::Trapped { trap, at, address }
}

/// The scheme of the protection that an instruction speaks for, if it is one that says that a comparison failed.
#[must_use]
pub fn protection(capsule: &Capsule, module: ModuleId, function: u32, pc: u32) -> Option<&str> {
    let origin = capsule.modules.get(module.0 as usize)?.origin(function, pc)?;
    let hardening = capsule.provenance.hardening.as_ref()?;
    (origin == InstructionOrigin::Notify).then_some(hardening.scheme.as_str())
}
