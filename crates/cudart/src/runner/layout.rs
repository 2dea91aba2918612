//! Starting an application in an address space that is the same every time.
//!
//! Linux places stack, heap and libraries at random. What an application does may depend on it, if only by the order
//! of pointers in a set; and rarely something lands where the simulated GPU has its addresses. So randomisation is
//! switched off for the application, as debuggers do. Where the system does not allow that (some containers), it
//! stays on.
//!
//! An application also ends with the process that runs it, which a user may end alone.

use std::ffi::{c_int, c_ulong};
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Asks for the current flags without setting any.
const QUERY: c_ulong = 0xffff_ffff;
const ADDR_NO_RANDOMIZE: c_ulong = 0x0004_0000;
const PR_SET_PDEATHSIG: c_int = 1;
const SIGTERM: c_int = 15;

// As glibc and musl declare it.
unsafe extern "C" {
    fn personality(flags: c_ulong) -> c_int;
    fn prctl(option: c_int, value: c_ulong, ...) -> c_int;
    fn getppid() -> c_int;
    fn raise(signal: c_int) -> c_int;
    fn write(file: c_int, bytes: *const u8, count: usize) -> isize;
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

/// Has the program that the command becomes be terminated (SIGTERM) when this process ends, however it ends.
///
/// Before it becomes that program, it writes its process number and a newline to `line`, if there is one. A reader of the
/// other end hence knows the process before anything can happen to this one.
pub(super) fn end_with_parent(command: &mut Command, line: Option<RawFd>) {
    let parent = std::process::id();
    let follow = move || {
        // SAFETY: system calls without pointers.
        unsafe { prctl(PR_SET_PDEATHSIG, SIGTERM as c_ulong) };
        if let Some(line) = line {
            let (digits, first) = decimal(std::process::id());
            let number = &digits[first..];
            // SAFETY: the bytes live longer than the call. Whoever reads them may be gone, which harms nothing.
            unsafe { write(line, number.as_ptr(), number.len()) };
        }
        // SAFETY: as above. The parent may have ended before.
        unsafe {
            if getppid() as u32 != parent {
                raise(SIGTERM);
            }
        }
        Ok(())
    };
    // SAFETY: between fork and exec only system calls are made; nothing is allocated or locked.
    unsafe { command.pre_exec(follow) };
}

/// A number in decimal digits with a newline behind, and where it begins.
fn decimal(mut number: u32) -> ([u8; 11], usize) {
    let mut digits = [b'\n'; 11];
    let mut first = digits.len() - 1;
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return (digits, first);
        }
    }
}
