//! What the code that nvcc generates calls before `main` and after it: device code is registered and unregistered.
//!
//! These functions have no error to return. What is wrong shows when the code is used.

use super::entry::{call, guarded};
use crate::abi::types::{ChannelFormatDesc, Dim3, FatbinWrapper};
use crate::abi::{In, Text, pointer};
use crate::code::Code;
use crate::fatbin;
use crate::report::{say, say_unsupported};
use crate::runtime;
use crate::runtime::modules::Handle;

/// The first four bytes of what nvcc makes to hand over a fat binary.
pub(super) const WRAPPER_MAGIC: u32 = 0x4662_43b1;
/// The version of it that comes with a list of parts, which were compiled separately.
const LINKED: u32 = 2;
/// No application has so many parts.
const MOST_PARTS: u64 = 1 << 16;

/// The bytes of a fat binary in the application's data.
pub(super) fn image(address: u64) -> Result<&'static [u8], String> {
    let header = address.checked_add(fatbin::HEADER_BYTES as u64).filter(|_| address != 0);
    header.ok_or("a null pointer where device code should be")?;
    // SAFETY: nvcc's code passes the address of a fat binary, which has a header of this size.
    let header = unsafe { pointer::code_bytes(address, fatbin::HEADER_BYTES) };
    let header = header.first_chunk().ok_or("no header")?;
    let bytes = fatbin::extent(header).map_err(|error| error.to_string())?;
    let bytes = usize::try_from(bytes).map_err(|error| error.to_string())?;
    // SAFETY: the header says how many bytes there are; they are constant data of the application.
    Ok(unsafe { pointer::code_bytes(address, bytes) })
}

/// The fat binaries behind a wrapper.
pub(super) fn parts(wrapper: &FatbinWrapper) -> Result<Vec<&'static [u8]>, String> {
    if wrapper.magic != WRAPPER_MAGIC {
        return Err(format!("expected device code that begins with {WRAPPER_MAGIC:#x}, found {:#x}", wrapper.magic));
    }
    if wrapper.version != LINKED {
        return Ok(vec![image(wrapper.data)?]);
    }
    let mut parts = Vec::new();
    for index in 0..MOST_PARTS {
        let place = wrapper.filename_or_fatbins.wrapping_add(8 * index);
        // SAFETY: the list of parts ends in a null pointer, at which the loop ends.
        let Ok(part @ 1..) = (unsafe { pointer::value_at::<u64>(place) }) else { break };
        parts.push(image(part)?);
    }
    Ok(parts)
}

fn register(wrapper: In<FatbinWrapper>) -> Result<u64, Code> {
    let wrapper = wrapper.get()?;
    let parts = parts(&wrapper).unwrap_or_else(|reason| {
        say(format_args!("failed to read the application's device code: {reason}"));
        Vec::new()
    });
    runtime::with(|runtime| Ok(runtime.modules.register(parts).0))
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinary(wrapper: In<FatbinWrapper>) -> u64 {
    guarded("__cudaRegisterFatBinary", || register(wrapper).unwrap_or(0), 0)
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinaryEnd(_handle: u64) {}

#[unsafe(no_mangle)]
extern "C" fn __cudaUnregisterFatBinary(handle: u64) {
    call("__cudaUnregisterFatBinary", || {
        if runtime::with(|runtime| Ok(runtime.modules.unregister(Handle(handle))))? {
            runtime::write_recording();
        }
        Ok(())
    });
}

#[unsafe(no_mangle)]
extern "C" fn __cudaInitModule(handle: u64) -> u8 {
    call("__cudaInitModule", || runtime::with(|runtime| runtime.initialize(Handle(handle))));
    1
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFunction(
    handle: u64,
    host: u64,
    _device: u64,
    name: Text,
    _thread_limit: i32,
    _tid: In<Dim3>,
    _bid: In<Dim3>,
    _block: In<Dim3>,
    _grid: In<Dim3>,
    _warp: In<i32>,
) {
    call("__cudaRegisterFunction", || {
        let name = name.get()?;
        runtime::with(|runtime| {
            runtime.modules.register_function(Handle(handle), host, name);
            Ok(())
        })
    });
}

/// Registers a variable whose address the application keeps at `managed`, if it is managed.
fn register_variable(handle: u64, host: u64, name: Text, managed: Option<u64>) -> Result<(), Code> {
    let name = name.get()?;
    runtime::with(|runtime| {
        runtime.modules.register_variable(Handle(handle), host, name, managed);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterVar(
    handle: u64,
    host: u64,
    _device: u64,
    name: Text,
    _external: i32,
    _bytes: u64,
    _constant: i32,
    _global: i32,
) {
    call("__cudaRegisterVar", || register_variable(handle, host, name, None));
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterManagedVar(
    handle: u64,
    pointer: u64,
    _device: u64,
    name: Text,
    _external: i32,
    _bytes: u64,
    _constant: i32,
    _global: i32,
) {
    // The application names the variable by where it keeps the address, as it names others by their shadows.
    call("__cudaRegisterManagedVar", || register_variable(handle, pointer, name, Some(pointer)));
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterHostVar() {
    say_unsupported("__cudaRegisterHostVar");
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterTexture() {
    say_unsupported("__cudaRegisterTexture");
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterSurface() {
    say_unsupported("__cudaRegisterSurface");
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterUnifiedTable() -> u64 {
    0
}

/// Makes a description of texture elements; it needs no device.
#[unsafe(no_mangle)]
extern "C" fn cudaCreateChannelDesc(x: i32, y: i32, z: i32, w: i32, f: i32) -> ChannelFormatDesc {
    ChannelFormatDesc { x, y, z, w, f }
}

/// Writes the recording when the process ends or the library is unloaded.
extern "C" fn finish() {
    guarded("the destructor", runtime::write_recording, ());
}

#[used]
// SAFETY: the section holds pointers to functions that the loader calls at the end, of just this type.
#[unsafe(link_section = ".fini_array")]
static FINISH: extern "C" fn() = finish;
