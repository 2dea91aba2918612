//! CUDA arrays: making them, asking about them, copying to, from and between them.

use capsule::Region;

use super::copies::copy;
use super::entry::entry_points;
use crate::abi::types::{ChannelFormatDesc, Extent};
use crate::abi::{In, Out};
use crate::code::Code;
use crate::runtime;
use crate::runtime::arrays::Array;
use crate::runtime::copy::pitched_box;

fn array(handle: u64) -> Result<Array, Code> {
    runtime::with(|runtime| runtime.array(handle))
}

/// A place in an array: its handle, bytes, rows.
type Place = (u64, u64, u64);

/// A plane of an array.
fn plane((handle, x, y): Place, width: u64, height: u64) -> Result<Region, Code> {
    array(handle)?.part([x, y, 0], [width, height, 1])
}

/// A line of an array.
fn line((handle, x, y): Place, bytes: u64) -> Result<Region, Code> {
    array(handle)?.line(x, y, bytes)
}

/// As much of a plane in memory.
fn rows(address: u64, pitch: u64, width: u64, height: u64) -> Result<Region, Code> {
    pitched_box(address, pitch, height, [width, height, 1])
}

/// Memory without gaps, in rows of the same length as another region's.
fn like(address: u64, other: &Region) -> Region {
    Region::pitched(address, other.width, other.height, other.width)
}

fn allocate(to: Out<u64>, channel: In<ChannelFormatDesc>, extent: Extent, flags: u32) -> Result<(), Code> {
    if to.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let channel = channel.get()?;
    to.put(runtime::with(|runtime| runtime.allocate_array(channel, extent, flags))?)
}

entry_points! {
    [cudaMallocArray] (to: Out<u64>, channel: In<ChannelFormatDesc>, width: u64, height: u64, flags: u32) {
        allocate(to, channel, Extent { width, height, depth: 0 }, flags)
    }

    [cudaMalloc3DArray] (to: Out<u64>, channel: In<ChannelFormatDesc>, extent: Extent, flags: u32) {
        allocate(to, channel, extent, flags)
    }

    [cudaFreeArray] (handle: u64) {
        runtime::with(|runtime| runtime.free_array(handle))
    }

    [cudaGetChannelDesc] (to: Out<ChannelFormatDesc>, handle: u64) {
        to.put(array(handle)?.channel)
    }

    [cudaArrayGetInfo] (channel: Out<ChannelFormatDesc>, extent: Out<Extent>, flags: Out<u32>, handle: u64) {
        let array = array(handle)?;
        channel.put_if_wanted(array.channel);
        extent.put_if_wanted(array.extent);
        flags.put_if_wanted(array.flags);
        Ok(())
    }

    [cudaMemcpy2DToArray cudaMemcpy2DToArray_ptds] (
        to: u64, x: u64, y: u64, from: u64, pitch: u64, width: u64, height: u64, kind: i32,
    ) {
        copy(plane((to, x, y), width, height)?, rows(from, pitch, width, height)?, kind, None)
    }

    [cudaMemcpy2DToArrayAsync cudaMemcpy2DToArrayAsync_ptsz] (
        to: u64, x: u64, y: u64, from: u64, pitch: u64, width: u64, height: u64, kind: i32, stream: u64,
    ) {
        copy(plane((to, x, y), width, height)?, rows(from, pitch, width, height)?, kind, Some(stream))
    }

    [cudaMemcpy2DFromArray cudaMemcpy2DFromArray_ptds] (
        to: u64, pitch: u64, from: u64, x: u64, y: u64, width: u64, height: u64, kind: i32,
    ) {
        copy(rows(to, pitch, width, height)?, plane((from, x, y), width, height)?, kind, None)
    }

    [cudaMemcpy2DFromArrayAsync cudaMemcpy2DFromArrayAsync_ptsz] (
        to: u64, pitch: u64, from: u64, x: u64, y: u64, width: u64, height: u64, kind: i32, stream: u64,
    ) {
        copy(rows(to, pitch, width, height)?, plane((from, x, y), width, height)?, kind, Some(stream))
    }

    [cudaMemcpy2DArrayToArray cudaMemcpy2DArrayToArray_ptds] (
        to: u64, to_x: u64, to_y: u64, from: u64, x: u64, y: u64, width: u64, height: u64, kind: i32,
    ) {
        copy(plane((to, to_x, to_y), width, height)?, plane((from, x, y), width, height)?, kind, None)
    }

    [cudaMemcpyArrayToArray cudaMemcpyArrayToArray_ptds] (
        to: u64, to_x: u64, to_y: u64, from: u64, x: u64, y: u64, bytes: u64, kind: i32,
    ) {
        copy(line((to, to_x, to_y), bytes)?, line((from, x, y), bytes)?, kind, None)
    }

    [cudaMemcpyToArray cudaMemcpyToArray_ptds] (to: u64, x: u64, y: u64, from: u64, bytes: u64, kind: i32) {
        let to = line((to, x, y), bytes)?;
        copy(to, like(from, &to), kind, None)
    }

    [cudaMemcpyToArrayAsync cudaMemcpyToArrayAsync_ptsz] (
        to: u64, x: u64, y: u64, from: u64, bytes: u64, kind: i32, stream: u64,
    ) {
        let to = line((to, x, y), bytes)?;
        copy(to, like(from, &to), kind, Some(stream))
    }

    [cudaMemcpyFromArray cudaMemcpyFromArray_ptds] (to: u64, from: u64, x: u64, y: u64, bytes: u64, kind: i32) {
        let from = line((from, x, y), bytes)?;
        copy(like(to, &from), from, kind, None)
    }

    [cudaMemcpyFromArrayAsync cudaMemcpyFromArrayAsync_ptsz] (
        to: u64, from: u64, x: u64, y: u64, bytes: u64, kind: i32, stream: u64,
    ) {
        let from = line((from, x, y), bytes)?;
        copy(like(to, &from), from, kind, Some(stream))
    }
}
