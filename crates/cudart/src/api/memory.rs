//! Memory management: allocating, freeing, and asking about memory.

use capsule::AllocKind;

use super::devices::check_device;
use super::entry::entry_points;
use crate::abi::Out;
use crate::abi::types::{Extent, PitchedPtr, PointerAttributes};
use crate::code::Code;
use crate::runtime::memory::{Block, MemoryKind};
use crate::runtime::{self, is_device, spec};

/// `cudaMemoryType`.
const UNREGISTERED: i32 = 0;
const HOST: i32 = 1;
const DEVICE: i32 = 2;
const MANAGED: i32 = 3;
/// `cudaHostAllocMapped` and `cudaHostRegisterMapped`.
const MAPPED: u32 = 2;

fn allocate_pitched(width: u64, rows: u64) -> Result<(u64, u64), Code> {
    let pitch = width.checked_next_multiple_of(spec::PITCH_ALIGNMENT).ok_or(Code::MEMORY_ALLOCATION)?;
    let bytes = pitch.checked_mul(rows).ok_or(Code::MEMORY_ALLOCATION)?;
    let address = runtime::with(|runtime| runtime.allocate(bytes, AllocKind::Device))?;
    Ok((address, pitch))
}

fn allocate_pinned(to: Out<u64>, bytes: u64, flags: u32) -> Result<(), Code> {
    if to.is_null() || flags > 7 {
        return Err(Code::INVALID_VALUE);
    }
    to.put(runtime::with(|runtime| runtime.allocate_pinned(bytes, flags & MAPPED != 0))?)
}

/// What there is to know about a pointer.
fn attributes(address: u64) -> Result<PointerAttributes, Code> {
    let (found, shared) = runtime::with(|runtime| {
        let found = runtime.memory.holding(address);
        Ok((found, found.is_some_and(|block| runtime.is_shared(block.address))))
    })?;
    let with = |kind, device_pointer, host_pointer| {
        let device = if kind == UNREGISTERED { -2 } else { 0 };
        PointerAttributes { kind, device, device_pointer, host_pointer }
    };
    let Some(Block { kind, .. }) = found else {
        return Ok(with(UNREGISTERED, 0, address));
    };
    Ok(match kind {
        MemoryKind::Allocated(AllocKind::Managed) => with(MANAGED, address, address),
        MemoryKind::Variable if shared => with(MANAGED, address, address),
        MemoryKind::Allocated(_) | MemoryKind::Variable => with(DEVICE, address, 0),
        MemoryKind::Pinned => with(HOST, address, address),
        MemoryKind::Heap | MemoryKind::Registered => with(HOST, 0, address),
    })
}

entry_points! {
    [cudaMalloc] (to: Out<u64>, bytes: u64) {
        if to.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        to.put(runtime::with(|runtime| runtime.allocate(bytes, AllocKind::Device))?)
    }

    [cudaMallocManaged] (to: Out<u64>, bytes: u64, flags: u32) {
        if to.is_null() || !matches!(flags, 1 | 2) {
            return Err(Code::INVALID_VALUE);
        }
        to.put(runtime::with(|runtime| runtime.allocate_managed(bytes))?)
    }

    [cudaMallocPitch] (to: Out<u64>, pitch: Out<u64>, width: u64, height: u64) {
        if to.is_null() || pitch.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let (address, row) = allocate_pitched(width, height)?;
        to.put(address)?;
        pitch.put(row)
    }

    [cudaMalloc3D] (to: Out<PitchedPtr>, extent: Extent) {
        if to.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let rows = extent.height.checked_mul(extent.depth).ok_or(Code::MEMORY_ALLOCATION)?;
        let (ptr, pitch) = allocate_pitched(extent.width, rows)?;
        to.put(PitchedPtr { ptr, pitch, xsize: extent.width, ysize: extent.height })
    }

    [cudaFree] (address: u64) {
        runtime::with(|runtime| runtime.free(address, is_device))
    }

    [cudaMallocHost] (to: Out<u64>, bytes: u64) {
        allocate_pinned(to, bytes, 0)
    }

    [cudaHostAlloc] (to: Out<u64>, bytes: u64, flags: u32) {
        allocate_pinned(to, bytes, flags)
    }

    [cudaFreeHost] (address: u64) {
        runtime::with(|runtime| runtime.free(address, |kind| matches!(kind, MemoryKind::Pinned | MemoryKind::Heap)))
    }

    [cudaHostRegister] (address: u64, bytes: u64, flags: u32) {
        if flags > 15 {
            return Err(Code::INVALID_VALUE);
        }
        runtime::with(|runtime| runtime.register(address, bytes))
    }

    [cudaHostUnregister] (address: u64) {
        runtime::with(|runtime| match runtime.memory.starting(address) {
            Some(Block { kind: MemoryKind::Registered, .. }) => runtime.free(address, |kind| kind == MemoryKind::Registered),
            _ => Err(if address == 0 { Code::INVALID_VALUE } else { Code::HOST_MEMORY_NOT_REGISTERED }),
        })
    }

    [cudaHostGetDevicePointer] (to: Out<u64>, address: u64, flags: u32) {
        if to.is_null() || flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        let device = runtime::with(|runtime| {
            runtime.check()?;
            let block = runtime.memory.holding(address).filter(Block::is_host).ok_or(Code::INVALID_VALUE)?;
            Ok(runtime.device_address(block.address)? + (address - block.address))
        });
        to.put(device?)
    }

    [cudaHostGetFlags] (flags: Out<u32>, address: u64) {
        let block = runtime::with(|runtime| Ok(runtime.memory.holding(address)))?;
        if block.is_some_and(|block| block.is_host()) { flags.put(MAPPED) } else { Err(Code::INVALID_VALUE) }
    }

    [cudaMemGetInfo] (free: Out<u64>, total: Out<u64>) {
        let taken = runtime::with(|runtime| {
            runtime.check()?;
            Ok(runtime.memory.allocated_bytes())
        })?;
        free.put_if_wanted(spec::MEMORY_BYTES.saturating_sub(taken));
        total.put_if_wanted(spec::MEMORY_BYTES);
        Ok(())
    }

    [cudaPointerGetAttributes] (to: Out<PointerAttributes>, address: u64) {
        to.put(attributes(address)?)
    }

    [cudaStreamAttachMemAsync cudaStreamAttachMemAsync_ptsz] (stream: u64, address: u64, _bytes: u64, _flags: u32) {
        runtime::with(|runtime| {
            runtime.streams.get(stream)?;
            runtime.memory.holding(address).map(drop).ok_or(Code::INVALID_VALUE)
        })
    }

    [cudaMemcpyPeer] (to: u64, to_device: i32, from: u64, from_device: i32, bytes: u64) {
        check_device(to_device)?;
        check_device(from_device)?;
        super::copies::copy_line(to, from, bytes, 3, true)
    }

    [cudaMemcpyPeerAsync] (to: u64, to_device: i32, from: u64, from_device: i32, bytes: u64, stream: u64) {
        check_device(to_device)?;
        check_device(from_device)?;
        super::copies::copy_line_in(to, from, bytes, 3, stream)
    }
}
