//! What the hardware, the driver and the host call what goes wrong, and what campaigns call it.
//!
//! References: the manual of CUDA-GDB 13.0, section "Checking memory errors: GPU error reporting" (the numbers of
//! exceptions); `cuda.h` of CUDA 13.0 (the errors of the driver); `signal(7)` for x86-64.

use outcome::TrapKind;

/// The trap that `CUDA_EXCEPTION_n` is; none for a number that is not known.
pub(crate) fn exception(name: &str) -> Option<TrapKind> {
    Some(match name.strip_prefix("CUDA_EXCEPTION_")?.parse::<u32>().ok()? {
        // Lane, device and warp illegal address; an invalid access of managed memory.
        1 | 10 | 14 | 15 => TrapKind::IllegalAddress,
        // Overflows of the stack: of a lane, of the device, of a warp.
        2 | 3 | 9 => TrapKind::StackOverflow,
        // An illegal instruction, an invalid program counter.
        4 | 8 => TrapKind::IllegalInstruction,
        // Out of the range of local or shared memory, also of a cluster.
        5 | 17 | 18 => TrapKind::OutOfRangeAddress,
        7 => TrapKind::InvalidAddressSpace,
        // Misaligned addresses of a warp and of a lane.
        6 | 11 => TrapKind::MisalignedAddress,
        12 => TrapKind::Assert,
        _ => return None,
    })
}

/// The trap that an error of the driver comes from; none if it does not say.
pub(crate) fn driver(code: u32) -> Option<TrapKind> {
    Some(match code {
        700 => TrapKind::IllegalAddress,
        710 => TrapKind::Assert,
        714 => TrapKind::StackOverflow,
        715 | 718 => TrapKind::IllegalInstruction,
        716 => TrapKind::MisalignedAddress,
        717 => TrapKind::InvalidAddressSpace,
        719 => TrapKind::Trap,
        _ => return None,
    })
}

/// The number of a signal of the host.
pub(crate) fn signal(name: &str) -> Option<i32> {
    Some(match name {
        "SIGHUP" => 1,
        "SIGINT" => 2,
        "SIGQUIT" => 3,
        "SIGILL" => 4,
        "SIGTRAP" => 5,
        "SIGABRT" => 6,
        "SIGBUS" => 7,
        "SIGFPE" => 8,
        "SIGKILL" => 9,
        "SIGSEGV" => 11,
        "SIGPIPE" => 13,
        "SIGALRM" => 14,
        "SIGTERM" => 15,
        "SIGXCPU" => 24,
        "SIGXFSZ" => 25,
        "SIGSYS" => 31,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exceptions_of_table_vi_of_gpu_qin_have_their_traps() {
        let of = |number: u32| exception(&format!("CUDA_EXCEPTION_{number}"));
        assert_eq!(of(2), Some(TrapKind::StackOverflow));
        assert_eq!(of(5), Some(TrapKind::OutOfRangeAddress));
        assert_eq!(of(6), Some(TrapKind::MisalignedAddress));
        assert_eq!(of(10), Some(TrapKind::IllegalAddress));
        assert_eq!(of(99), None);
        assert_eq!(exception("SIGSEGV"), None);
        assert_eq!((driver(700), driver(1)), (Some(TrapKind::IllegalAddress), None));
        assert_eq!((signal("SIGSEGV"), signal("CUDA")), (Some(11), None));
    }
}
