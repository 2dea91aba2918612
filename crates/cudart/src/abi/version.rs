//! Which CUDA the application was built for, where that makes a difference.

use std::ffi::{CStr, c_char, c_int, c_void};

const RTLD_NOLOAD_LAZY: c_int = 4 | 1;

// As every libc on Linux declares it.
unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
}

/// Whether the application was built for CUDA 12: a library of that name is loaded, and none of CUDA 13.
pub(crate) fn is_cuda_12() -> bool {
    let loaded = |name: &CStr| {
        // SAFETY: with RTLD_NOLOAD nothing is loaded; the name is a text that ends in a zero.
        !unsafe { dlopen(name.as_ptr(), RTLD_NOLOAD_LAZY) }.is_null()
    };
    loaded(c"libcudart.so.12") && !loaded(c"libcudart.so.13")
}
