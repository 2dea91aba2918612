//! Ends of the process that run no destructors: `_exit`, `_Exit` and `quick_exit`. Ours is the first library that the
//! loader looks into, so that applications call these; the recording is written, and the process ends as it would have.
//!
//! Any code may be that of a good end. What leaves from a handler of a signal has not come to its end: it is not recorded, and
//! nothing else happens in the handler, which may have interrupted whoever holds a lock. That a handler runs is told by its signal,
//! which is blocked while it does, and by the stack of its own that it may have.

use super::entry::guarded;
use crate::runtime;
use std::ffi::c_void;

/// The system call `exit_group` of x86-64.
const EXIT_GROUP: i64 = 231;

/// The signals by which something ends: HUP, INT, QUIT, ILL, TRAP, ABRT, BUS, FPE, SEGV, PIPE, ALRM, TERM, XCPU, XFSZ, SYS.
const ENDING: [u32; 15] = [1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 14, 15, 24, 25, 31];
/// The bit of a stack for handlers that says that it is in use.
const SS_ONSTACK: i32 = 1;

/// Signals as the kernel and glibc count them on x86-64, the first in the lowest bit.
type SignalSet = [u64; 16];

/// A stack for handlers, as glibc has it.
#[repr(C)]
struct HandlerStack {
    start: *mut c_void,
    flags: i32,
    bytes: usize,
}

// As glibc declares them.
unsafe extern "C" {
    fn syscall(number: i64, ...) -> i64;
    fn at_quick_exit(handler: extern "C" fn()) -> i32;
    fn pthread_sigmask(how: i32, new: *const SignalSet, old: *mut SignalSet) -> i32;
    fn sigaltstack(new: *const HandlerStack, old: *mut HandlerStack) -> i32;
}

/// Writes the recording, if this process records.
extern "C" fn finish() {
    if runtime::is_recording() {
        guarded("the end of the process", runtime::write_recording, ());
    }
}

/// Has `quick_exit` call us after all handlers of the application, which are registered later. Where there is no room for
/// it, what `quick_exit` ends is not recorded, which the runner says.
extern "C" fn begin() {
    // SAFETY: the handler takes nothing, returns nothing and does not unwind.
    let _ = unsafe { at_quick_exit(finish) };
}

#[used]
// SAFETY: the section holds pointers to functions that the loader calls at the start, with arguments that this one leaves.
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

/// Whether this thread is in a handler of a signal by which something ends, or cannot be told not to be.
fn is_in_handler() -> bool {
    let mut blocked: SignalSet = [0; 16];
    let mut stack = HandlerStack { start: std::ptr::null_mut(), flags: 0, bytes: 0 };
    // SAFETY: both calls may be made in handlers; they change nothing, and what they write lives longer than they take.
    unsafe {
        pthread_sigmask(0, std::ptr::null(), &raw mut blocked);
        sigaltstack(std::ptr::null(), &raw mut stack);
    }
    stack.flags & SS_ONSTACK != 0 || ENDING.iter().any(|signal| blocked[0] >> (signal - 1) & 1 != 0)
}

/// Ends the process. With code 0 it ends well wherever it is; with another one it may, but not in a handler of a signal.
fn leave(status: i32) -> ! {
    if status == 0 || !is_in_handler() {
        finish();
    }
    loop {
        // SAFETY: the system call takes a number and does not return.
        unsafe { syscall(EXIT_GROUP, i64::from(status)) };
    }
}

#[unsafe(no_mangle)]
extern "C" fn _exit(status: i32) -> ! {
    leave(status)
}

#[unsafe(no_mangle)]
extern "C" fn _Exit(status: i32) -> ! {
    leave(status)
}
