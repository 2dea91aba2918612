//! The application's standard output, on which kernels print.
//!
//! It is written through the C library, whose buffer holds what the application itself has printed before.

use std::ffi::c_void;

// As glibc and musl declare them on x86-64.
unsafe extern "C" {
    static stdout: *mut c_void;
    fn fwrite(from: *const u8, size: usize, count: usize, stream: *mut c_void) -> usize;
}

/// Writes bytes. If the output is closed there is nobody to tell.
pub(super) fn write(bytes: &[u8]) {
    // SAFETY: the C library sets `stdout` before anything of the process runs, and reads no more than the length.
    let _ = unsafe { fwrite(bytes.as_ptr(), 1, bytes.len(), stdout) };
}
