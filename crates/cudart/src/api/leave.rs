//! Ends of the process that run no destructors: `_exit`, `_Exit` and `quick_exit`. Ours is the first library that the
//! loader looks into, so that applications call these; the recording is written, and the process ends as it would have.

use super::entry::guarded;
use crate::runtime;

/// The system call `exit_group` of x86-64.
const EXIT_GROUP: i64 = 231;

// As glibc declares them.
unsafe extern "C" {
    fn syscall(number: i64, ...) -> i64;
    fn at_quick_exit(handler: extern "C" fn()) -> i32;
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

/// Ends the process. Only what ends well is recorded, so that nothing else happens in a handler of a signal that ends it
/// for an error.
fn leave(status: i32) -> ! {
    if status == 0 {
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
