//! Calls for which the answer of a machine without the thing is the whole answer: entry points of a driver that is not
//! there, logs in which nothing stands, memory of other processes.

use super::devices::check_device;
use super::entry::entry_points;
use crate::abi::{Out, Text};
use crate::code::Code;

/// `cudaDriverEntryPointSymbolNotFound`.
const SYMBOL_NOT_FOUND: i32 = 1;

/// There is no driver, so it has no functions.
fn no_function(name: Text, function: Out<u64>, status: Out<i32>) -> Result<(), Code> {
    name.get()?;
    function.put(0)?;
    if status.is_null() {
        return Err(Code::SYMBOL_NOT_FOUND);
    }
    status.put(SYMBOL_NOT_FOUND)
}

entry_points! {
    [cudaGetDriverEntryPoint cudaGetDriverEntryPoint_ptsz] (
        name: Text, function: Out<u64>, _flags: u64, status: Out<i32>,
    ) {
        no_function(name, function, status)
    }

    [cudaGetDriverEntryPointByVersion cudaGetDriverEntryPointByVersion_ptsz] (
        name: Text, function: Out<u64>, _version: u32, _flags: u64, status: Out<i32>,
    ) {
        no_function(name, function, status)
    }

    // Memory and events of other processes.
    [cudaIpcGetEventHandle cudaIpcGetMemHandle cudaIpcOpenEventHandle cudaIpcOpenMemHandle cudaIpcCloseMemHandle] () {
        Err(Code::NOT_SUPPORTED)
    }

    [cudaLogsRegisterCallback] (_function: u64, _data: u64, handle: Out<u64>) {
        handle.put_if_wanted(0x1095_0040);
        Ok(())
    }

    [cudaLogsUnregisterCallback] (_handle: u64) {
        Ok(())
    }

    [cudaLogsCurrent] (iterator: Out<u32>, _flags: u32) {
        iterator.put(0)
    }

    [cudaLogsDumpToFile] (_iterator: Out<u32>, path: Text, _flags: u32) {
        std::fs::write(path.get()?, "").map_err(|_| Code::OPERATING_SYSTEM)
    }

    [cudaLogsDumpToMemory] (_iterator: Out<u32>, buffer: Out<u8>, bytes: Out<u64>, _flags: u32) {
        if bytes.get()? > 0 {
            buffer.put_bytes(&[0])?;
        }
        bytes.put(0)
    }

    // Only arrays of several planes have planes, only sparse ones have tiles, and there are none of either.
    [cudaArrayGetPlane cudaArrayGetSparseProperties] () {
        Err(Code::INVALID_VALUE)
    }

    [cudaDeviceFlushGPUDirectRDMAWrites] () {
        Err(Code::NOT_SUPPORTED)
    }

    [cudaDeviceGetHostAtomicCapabilities] (to: Out<u32>, _operations: u64, count: u32, device: i32) {
        check_device(device)?;
        // No operation is atomic across the bus.
        (0..count as usize).try_for_each(|index| to.at(index).put(0))
    }
}
