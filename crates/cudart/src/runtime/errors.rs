//! What CUDA calls our errors and the ends of kernels.

use device::{DeviceError, ModuleError};
use simt::guest::PlacementError;
use simt::memory::PlaceError;
use simt::{GuestError, TrapKind};

use crate::code::Code;
use crate::report::because;

/// What CUDA calls an error of ours.
pub(super) fn code_of(error: &DeviceError) -> Code {
    because(error);
    match error {
        DeviceError::Module(ModuleError::Guest(
            GuestError::Mistakes { .. } | GuestError::Refused { .. } | GuestError::NotText { .. },
        )) => Code::INVALID_PTX,
        DeviceError::Module(ModuleError::Place(PlacementError::Extern(_))) => Code::INVALID_PTX,
        // The heap is allocated when a module is loaded, which then fails so (CUDA C++ Programming Guide, "Heap Memory
        // Allocation").
        DeviceError::Module(ModuleError::Place(PlacementError::Heap(_))) => Code::SHARED_OBJECT_INIT_FAILED,
        DeviceError::Module(ModuleError::Place(PlacementError::Place(_))) => Code::MEMORY_ALLOCATION,
        DeviceError::Module(_) => Code::NOT_SUPPORTED,
        DeviceError::Place(PlaceError::Full(_) | PlaceError::Host(_)) | DeviceError::HostMemory(_) => {
            Code::MEMORY_ALLOCATION
        }
        DeviceError::Launch { .. } => Code::LAUNCH_OUT_OF_RESOURCES,
        DeviceError::Place(_) | DeviceError::Unmapped { .. } | DeviceError::Size { .. } => Code::INVALID_VALUE,
    }
}

/// What CUDA calls the ends of a kernel. An H200 says "illegal address" for shared memory too, and when the stack
/// overflows, which it does into unmapped memory.
pub(super) fn code_of_trap(kind: TrapKind) -> Code {
    match kind {
        TrapKind::IllegalAddress | TrapKind::OutOfRangeAddress | TrapKind::StackOverflow => Code::ILLEGAL_ADDRESS,
        TrapKind::InvalidAddressSpace => Code::INVALID_ADDRESS_SPACE,
        TrapKind::MisalignedAddress => Code::MISALIGNED_ADDRESS,
        TrapKind::IllegalInstruction => Code::ILLEGAL_INSTRUCTION,
        TrapKind::BarrierDeadlock | TrapKind::EndlessLoop | TrapKind::LongLoop | TrapKind::OutOfFuel => {
            Code::LAUNCH_TIMEOUT
        }
        TrapKind::Trap => Code::LAUNCH_FAILURE,
        TrapKind::Assert => Code::ASSERT,
    }
}
