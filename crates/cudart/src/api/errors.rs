//! Error handling and versions.

use std::ffi::c_char;

use super::entry::{entry_points, forget_error, last_error};
use crate::abi::{Out, is_cuda_12};
use crate::code::Code;
use crate::runtime::spec;

#[unsafe(no_mangle)]
extern "C" fn cudaGetLastError() -> Code {
    let code = last_error();
    forget_error();
    code
}

#[unsafe(no_mangle)]
extern "C" fn cudaPeekAtLastError() -> Code {
    last_error()
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorName(error: Code) -> *const c_char {
    error.name().as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorString(error: Code) -> *const c_char {
    error.text().as_ptr()
}

entry_points! {
    [cudaDriverGetVersion] (version: Out<i32>) {
        version.put(spec::DRIVER_VERSION)
    }

    [cudaRuntimeGetVersion] (version: Out<i32>) {
        version.put(if is_cuda_12() { 12_090 } else { 13_000 })
    }

    [cudaProfilerStart cudaProfilerStop] () {
        Ok(())
    }
}
