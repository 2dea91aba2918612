//! Starting an application in an address space that is the same every time.
//!
//! Linux places stack, heap and libraries at random. What an application does may depend on it, if only by the order
//! of pointers in a set; and rarely something lands where the simulated GPU has its addresses. So randomisation is
//! switched off for the application, as debuggers do. Where the system does not allow that (some containers), it
//! stays on.

use std::ffi::{c_int, c_ulong};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Asks for the current flags without setting any.
const QUERY: c_ulong = 0xffff_ffff;
const ADDR_NO_RANDOMIZE: c_ulong = 0x0004_0000;

// As glibc and musl declare it.
unsafe extern "C" {
    fn personality(flags: c_ulong) -> c_int;
}

/// Has the command switch randomisation off for the program that it becomes.
pub(super) fn fix(command: &mut Command) {
    let switch_off = || {
        // SAFETY: a system call without pointers.
        let flags = unsafe { personality(QUERY) };
        if flags >= 0 {
            // SAFETY: as above. If it fails, addresses stay random.
            unsafe { personality(flags as c_ulong | ADDR_NO_RANDOMIZE) };
        }
        Ok(())
    };
    // SAFETY: between fork and exec only system calls are made; nothing is allocated or locked.
    unsafe { command.pre_exec(switch_off) };
}
