//! Ends of the process that run no destructors: `_exit`, `_Exit` and `quick_exit`. Ours is the first library that the
//! loader looks into, so that applications call these; the recording is written, and the process ends as it would have.

use super::entry::guarded;
use crate::runtime;

/// The system call `exit_group` of x86-64.
const EXIT_GROUP: i64 = 231;

// As glibc and musl declare it.
unsafe extern "C" {
    fn syscall(number: i64, ...) -> i64;
}

/// Ends the process. Only what ends well is recorded, so that nothing else happens in a handler of a signal that ends it
/// for an error.
fn leave(status: i32) -> ! {
    if status == 0 && runtime::is_recording() {
        guarded("the end of the process", runtime::write_recording, ());
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
