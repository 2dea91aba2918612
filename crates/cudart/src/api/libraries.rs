//! Libraries: device code that the application loads itself, as a fat binary or as PTX.

use std::fs;

use super::entry::entry_points;
use super::registration::{WRAPPER_MAGIC, image, parts};
use crate::abi::types::FatbinWrapper;
use crate::abi::{Out, Text, pointer};
use crate::code::Code;
use crate::fatbin;
use crate::report::fails;
use crate::runtime;
use crate::runtime::modules::Handle;

/// The first four bytes of an ELF file.
const ELF: u32 = u32::from_le_bytes(*b"\x7fELF");

/// A library of parts that stay where they are.
fn load(to: Out<u64>, parts: Vec<&'static [u8]>) -> Result<(), Code> {
    to.put(runtime::with(|runtime| runtime.load_library(parts))?)
}

/// Bytes that are kept for good: whoever loads code seldom unloads it.
fn keep(bytes: Vec<u8>) -> &'static [u8] {
    Box::leak(bytes.into_boxed_slice())
}

fn only_cubin() -> Code {
    fails(Code::NO_KERNEL_IMAGE_FOR_DEVICE, "the code is a cubin, and only PTX runs here")
}

/// The parts of device code in memory.
fn in_memory(code: u64) -> Result<Vec<&'static [u8]>, Code> {
    let invalid = |reason| fails(Code::INVALID_KERNEL_IMAGE, reason);
    // SAFETY: the application passes the address of device code, which is longer than this.
    match unsafe { pointer::value_at::<u32>(code)? } {
        WRAPPER_MAGIC => {
            // SAFETY: what begins so is a wrapper.
            let wrapper: FatbinWrapper = unsafe { pointer::value_at(code)? };
            parts(&wrapper).map_err(invalid)
        }
        fatbin::MAGIC => Ok(vec![image(code).map_err(invalid)?]),
        ELF => Err(only_cubin()),
        // SAFETY: all else is PTX, which ends in a zero.
        _ => Ok(vec![keep(unsafe { pointer::text_at(code)? }.into_bytes())]),
    }
}

entry_points! {
    [cudaLibraryLoadData] (to: Out<u64>, code: u64) {
        if to.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        load(to, in_memory(code)?)
    }

    [cudaLibraryLoadFromFile] (to: Out<u64>, path: Text) {
        if to.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let path = path.get()?;
        let read = fs::read(&path);
        let bytes = read.map_err(|error| fails(Code::FILE_NOT_FOUND, format_args!("read {path}: {error}")))?;
        if bytes.starts_with(&ELF.to_le_bytes()) {
            return Err(only_cubin());
        }
        load(to, vec![keep(bytes)])
    }

    [cudaLibraryUnload] (library: u64) {
        runtime::with(|runtime| runtime.modules.unload(Handle(library)))
    }

    [cudaLibraryGetKernel] (to: Out<u64>, library: u64, name: Text) {
        let name = name.get()?;
        to.put(runtime::with(|runtime| runtime.library_kernel(Handle(library), &name))?)
    }

    [cudaLibraryGetKernelCount] (count: Out<u32>, library: u64) {
        count.put(runtime::with(|runtime| Ok(runtime.library_kernels(Handle(library))?.len() as u32))?)
    }

    [cudaLibraryEnumerateKernels] (to: Out<u64>, room: u32, library: u64) {
        if to.is_null() || room == 0 {
            return Err(Code::INVALID_VALUE);
        }
        let kernels = runtime::with(|runtime| {
            let names = runtime.library_kernels(Handle(library))?;
            names.iter().map(|name| runtime.library_kernel(Handle(library), name)).collect::<Result<Vec<u64>, _>>()
        })?;
        kernels.iter().take(room as usize).enumerate().try_for_each(|(index, kernel)| to.at(index).put(*kernel))
    }

    [cudaLibraryGetGlobal] (to: Out<u64>, bytes: Out<u64>, library: u64, name: Text) {
        let name = name.get()?;
        let (address, size) = runtime::with(|runtime| runtime.library_variable(Handle(library), &name))?;
        to.put_if_wanted(address);
        bytes.put_if_wanted(size);
        Ok(())
    }

    [cudaLibraryGetManaged] (to: Out<u64>, bytes: Out<u64>, library: u64, name: Text) {
        let name = name.get()?;
        let (address, size) = runtime::with(|runtime| {
            let (address, size) = runtime.library_variable(Handle(library), &name)?;
            runtime.share_place(address, size)?;
            Ok((address, size))
        })?;
        to.put_if_wanted(address);
        bytes.put_if_wanted(size);
        Ok(())
    }

    [cudaLibraryGetUnifiedFunction] (_to: Out<u64>, _library: u64, name: Text) {
        name.get()?;
        // Only devices with unified function pointers have any, and ours is none.
        Err(Code::SYMBOL_NOT_FOUND)
    }
}
