//! Memory that is allocated and freed in the order of a stream. There is one pool, and it is as good as any.

use capsule::AllocKind;

use super::devices::check_device;
use super::entry::entry_points;
use crate::abi::types::MemLocation;
use crate::abi::{In, Out};
use crate::code::Code;
use crate::runtime::work::Work;
use crate::runtime::{self, is_device};

/// What looks like a pointer to the pool, and is never followed.
const POOL: u64 = 0x9001_0040;

/// `cudaMemPoolAttrReleaseThreshold`.
const THRESHOLD: i32 = 4;

fn check_pool(pool: u64) -> Result<(), Code> {
    if pool == POOL { Ok(()) } else { Err(Code::INVALID_VALUE) }
}

fn allocate(to: Out<u64>, bytes: u64, stream: u64) -> Result<(), Code> {
    if to.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    to.put(runtime::with(|runtime| {
        runtime.streams.get(stream)?;
        let address = runtime.allocate(bytes, AllocKind::Pool)?;
        runtime.graphs.note(stream, || Work::Allocate { address, bytes })?;
        Ok(address)
    })?)
}

/// `cudaMemPoolAttr`: three switches of 32 bits, then numbers of 64.
fn is_switch(attribute: i32) -> Result<bool, Code> {
    match attribute {
        1..=3 => Ok(true),
        4..=8 => Ok(false),
        _ => Err(Code::INVALID_VALUE),
    }
}

entry_points! {
    [cudaMallocAsync cudaMallocAsync_ptsz] (to: Out<u64>, bytes: u64, stream: u64) {
        allocate(to, bytes, stream)
    }

    [cudaMallocFromPoolAsync cudaMallocFromPoolAsync_ptsz] (to: Out<u64>, bytes: u64, pool: u64, stream: u64) {
        check_pool(pool)?;
        allocate(to, bytes, stream)
    }

    [cudaFreeAsync cudaFreeAsync_ptsz] (address: u64, stream: u64) {
        runtime::with(|runtime| {
            runtime.streams.get(stream)?;
            if runtime.graphs.note(stream, || Work::Free(address))? { Ok(()) } else { runtime.free(address, is_device) }
        })
    }

    [cudaDeviceGetDefaultMemPool cudaDeviceGetMemPool] (pool: Out<u64>, device: i32) {
        check_device(device)?;
        pool.put(POOL)
    }

    [cudaDeviceSetMemPool] (device: i32, pool: u64) {
        check_device(device)?;
        check_pool(pool)
    }

    [cudaMemGetDefaultMemPool cudaMemGetMemPool] (pool: Out<u64>, location: In<MemLocation>) {
        check_device(location.get()?.id)?;
        pool.put(POOL)
    }

    [cudaMemSetMemPool] (location: In<MemLocation>, _kind: i32, pool: u64) {
        check_device(location.get()?.id)?;
        check_pool(pool)
    }

    [cudaMemPoolCreate] (pool: Out<u64>, _properties: In<i32>) {
        pool.put(POOL)
    }

    [cudaMemPoolDestroy cudaMemPoolTrimTo cudaMemPoolSetAccess] (pool: u64) {
        check_pool(pool)
    }

    [cudaMemPoolSetAttribute] (pool: u64, attribute: i32, value: In<u64>) {
        check_pool(pool)?;
        if is_switch(attribute)? || attribute != THRESHOLD {
            return Ok(());
        }
        let value = value.get()?;
        runtime::with(|runtime| {
            runtime.pool_threshold = value;
            Ok(())
        })
    }

    [cudaMemPoolGetAttribute] (pool: u64, attribute: i32, value: Out<u32>) {
        check_pool(pool)?;
        if is_switch(attribute)? {
            return value.put(1);
        }
        let number = runtime::with(|runtime| {
            Ok(if attribute == THRESHOLD { runtime.pool_threshold } else { runtime.memory.allocated_bytes() })
        })?;
        value.cast::<u64>().put(number)
    }

    [cudaMemPoolGetAccess] (flags: Out<i32>, pool: u64, location: In<MemLocation>) {
        const READ_AND_WRITE: i32 = 3;
        check_pool(pool)?;
        check_device(location.get()?.id)?;
        flags.put(READ_AND_WRITE)
    }
}
