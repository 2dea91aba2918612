//! Device management. There is one device, number 0.

use super::entry::entry_points;
use crate::abi::is_cuda_12;
use crate::abi::properties::{Layout, properties};
use crate::abi::{In, Out, Text};
use crate::code::Code;
use crate::report::fails;
use crate::runtime::gpu::Gpu;
use crate::runtime::{self, spec, streams};

/// The device must be the one that there is.
pub(super) fn check_device(device: i32) -> Result<(), Code> {
    if device == 0 { Ok(()) } else { Err(Code::INVALID_DEVICE) }
}

fn put_properties(to: Out<u8>, device: i32, layout: Layout) -> Result<(), Code> {
    if to.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    check_device(device)?;
    to.put_bytes(&properties(layout))
}

/// `cudaLimitMallocHeapSize`.
const HEAP: usize = 2;

/// A limit by its number. The depth to which kernels may wait for kernels, number 3, is no longer one.
fn limit(number: i32) -> Result<usize, Code> {
    match usize::try_from(number) {
        Ok(3) => Err(Code::UNSUPPORTED_LIMIT),
        Ok(number @ 0..=6) => Ok(number),
        _ => Err(Code::INVALID_VALUE),
    }
}

/// Asks for a heap of device code; how large it is going to be.
fn set_heap(gpu: &mut Gpu, asked: u64) -> Result<u64, Code> {
    if gpu.has_heap() {
        return Err(fails(Code::INVALID_VALUE, "device code that has a heap is loaded already"));
    }
    let bytes = spec::heap_limit(asked);
    gpu.set_heap_bytes(bytes);
    Ok(bytes)
}

entry_points! {
    [cudaGetDeviceCount] (count: Out<i32>) {
        count.put(1)
    }

    [cudaGetDevice] (device: Out<i32>) {
        device.put(0)
    }

    [cudaSetDevice] (device: i32) {
        check_device(device)
    }

    [cudaInitDevice] (device: i32, _device_flags: u32, _flags: u32) {
        check_device(device)
    }

    [cudaSetValidDevices] (devices: In<i32>, count: i32) {
        (0..count.max(0) as usize).try_for_each(|index| check_device(devices.at(index)?))
    }

    [cudaChooseDevice] (device: Out<i32>, _properties: In<i32>) {
        device.put(0)
    }

    [cudaGetDeviceProperties] (to: Out<u8>, device: i32) {
        put_properties(to, device, if is_cuda_12() { Layout::Cuda11 } else { Layout::Cuda13 })
    }

    [cudaGetDeviceProperties_v2] (to: Out<u8>, device: i32) {
        put_properties(to, device, Layout::Cuda12)
    }

    [cudaDeviceGetAttribute] (value: Out<i32>, attribute: i32, device: i32) {
        let found = spec::attribute(attribute).ok_or(Code::INVALID_VALUE)?;
        check_device(device)?;
        value.put(found)
    }

    [cudaSetDeviceFlags] (flags: u32) {
        if flags & !0xff != 0 {
            return Err(Code::INVALID_VALUE);
        }
        runtime::with(|runtime| {
            runtime.flags = flags;
            Ok(())
        })
    }

    [cudaGetDeviceFlags] (flags: Out<u32>) {
        const MAP_HOST: u32 = 8;
        flags.put(runtime::with(|runtime| Ok(runtime.flags | MAP_HOST))?)
    }

    [cudaDeviceReset cudaThreadExit] () {
        runtime::with(|runtime| {
            runtime.reset();
            Ok(())
        })
    }

    [cudaDeviceSynchronize cudaThreadSynchronize] () {
        runtime::with(|runtime| {
            runtime.graphs.refuse_to_wait_for_all()?;
            runtime.synchronize()
        })
    }

    [cudaDeviceGetLimit cudaThreadGetLimit] (value: Out<u64>, number: i32) {
        let number = limit(number)?;
        value.put(runtime::with(|runtime| Ok(runtime.limits[number]))?)
    }

    [cudaDeviceSetLimit cudaThreadSetLimit] (number: i32, value: u64) {
        let number = limit(number)?;
        runtime::with(|runtime| {
            runtime.limits[number] = if number == HEAP { set_heap(&mut runtime.gpu, value)? } else { value };
            Ok(())
        })
    }

    [cudaDeviceGetCacheConfig cudaThreadGetCacheConfig cudaDeviceGetSharedMemConfig] (config: Out<i32>) {
        config.put(0)
    }

    [cudaDeviceSetCacheConfig cudaThreadSetCacheConfig cudaDeviceSetSharedMemConfig] (_config: i32) {
        Ok(())
    }

    [cudaCtxResetPersistingL2Cache] () {
        Ok(())
    }

    [cudaDeviceGetStreamPriorityRange] (least: Out<i32>, greatest: Out<i32>) {
        least.put_if_wanted(streams::PRIORITIES.0);
        greatest.put_if_wanted(streams::PRIORITIES.1);
        Ok(())
    }

    [cudaDeviceGetPCIBusId] (to: Out<u8>, room: i32, device: i32) {
        check_device(device)?;
        let text = format!("{}\0", spec::PCI_ID);
        if usize::try_from(room).is_ok_and(|room| room >= text.len()) {
            to.put_bytes(text.as_bytes())
        } else {
            Err(Code::INVALID_VALUE)
        }
    }

    [cudaDeviceGetByPCIBusId] (device: Out<i32>, id: Text) {
        if id.get()?.eq_ignore_ascii_case(spec::PCI_ID) { device.put(0) } else { Err(Code::INVALID_VALUE) }
    }

    [cudaDeviceCanAccessPeer] (can: Out<i32>, device: i32, peer: i32) {
        check_device(device)?;
        check_device(peer)?;
        can.put(0)
    }

    [cudaDeviceEnablePeerAccess cudaDeviceDisablePeerAccess] (device: i32) {
        check_device(device)?;
        Err(Code::PEER_ACCESS_UNSUPPORTED)
    }

    [cudaDeviceGetP2PAttribute] () {
        Err(Code::INVALID_DEVICE)
    }

    [cudaDeviceGetTexture1DLinearMaxWidth] (width: Out<u64>, _format: In<i32>, device: i32) {
        check_device(device)?;
        width.put(268_435_456)
    }
}
