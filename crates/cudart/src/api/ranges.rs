//! Ranges of managed memory: where they are to be, and what was said of it. Here they are everywhere at once, so what
//! the application says is only remembered, for each allocation as a whole.

use super::entry::entry_points;
use crate::abi::types::MemLocation;
use crate::abi::{In, Out, is_cuda_12};
use crate::code::Code;
use crate::report::fails;
use crate::runtime;
use crate::runtime::advice::Advice;

/// `cudaMemLocationType`.
const DEVICE: i32 = 1;
const HOST: i32 = 2;
/// `cudaCpuDeviceId` and `cudaInvalidDeviceId`.
const CPU: i32 = -1;
const NOWHERE: i32 = -2;

/// The managed allocation that holds a range.
pub(super) fn managed(address: u64, bytes: u64) -> Result<u64, Code> {
    runtime::with(|runtime| {
        runtime.check_told()?;
        let block = runtime.memory.covering(address, bytes);
        let managed = block.filter(|block| bytes > 0 && !block.is_host() && runtime.is_shared(block.address));
        let place = || format!("{bytes} bytes from {address:#x} are not managed memory");
        managed.map(|block| block.address).ok_or_else(|| fails(Code::INVALID_VALUE, place()))
    })
}

/// A location as the number of a device.
fn number(location: MemLocation) -> Result<i32, Code> {
    match location.kind {
        DEVICE if location.id == 0 => Ok(0),
        DEVICE => Err(Code::INVALID_DEVICE),
        // The host, one of its parts, or the part that the thread is in.
        HOST..=4 => Ok(CPU),
        _ => Err(Code::INVALID_VALUE),
    }
}

/// What an application passes for a location: CUDA 12 the number of a device, CUDA 13 a structure in one register.
fn passed(word: u64, as_number: bool) -> Result<i32, Code> {
    if !as_number {
        return number(MemLocation { kind: word as u32 as i32, id: (word >> 32) as u32 as i32 });
    }
    match word as u32 as i32 {
        id @ (0 | CPU) => Ok(id),
        _ => Err(Code::INVALID_DEVICE),
    }
}

fn remember(address: u64, bytes: u64, what: impl FnOnce(&mut Advice)) -> Result<(), Code> {
    let allocation = managed(address, bytes)?;
    runtime::with(|runtime| {
        what(runtime.advice.entry(allocation).or_default());
        Ok(())
    })
}

pub(super) fn prefetch(address: u64, bytes: u64, to: MemLocation) -> Result<(), Code> {
    let to = number(to)?;
    remember(address, bytes, |advice| advice.prefetched = Some(to))
}

fn advise(address: u64, bytes: u64, advice: i32, location: Result<i32, Code>) -> Result<(), Code> {
    // Whether memory is mostly read, and that it prefers no place, needs none.
    let place = if matches!(advice, 1 | 2 | 4) { 0 } else { location? };
    if !(1..=6).contains(&advice) {
        return Err(Code::INVALID_VALUE);
    }
    remember(address, bytes, |known| match advice {
        1 => known.read_mostly = true,
        2 => known.read_mostly = false,
        3 => known.preferred = Some(place),
        4 => known.preferred = None,
        5 => drop(known.accessed_by.insert(place)),
        _ => drop(known.accessed_by.remove(&place)),
    })
}

/// A `cudaMemRangeAttribute` of an allocation, in numbers of 32 bits; as many as there is room for of the devices that
/// access it.
fn attribute(advice: &Advice, attribute: i32, room: u64) -> Result<Vec<i32>, Code> {
    let place = |place: Option<i32>| place.unwrap_or(NOWHERE);
    let kind = |place: Option<i32>| place.map_or(0, |place| if place == CPU { HOST } else { DEVICE });
    let id = |place: Option<i32>| place.map_or(0, |place| place.max(0));
    let one = match attribute {
        1 => i32::from(advice.read_mostly),
        2 => place(advice.preferred),
        3 if room >= 4 && room.is_multiple_of(4) => {
            let by = advice.accessed_by.iter().copied().chain(std::iter::repeat(NOWHERE));
            // One device and the host: more room is only filled.
            return Ok(by.take(room.min(1 << 16) as usize / 4).collect());
        }
        4 => place(advice.prefetched),
        5 => kind(advice.preferred),
        6 => id(advice.preferred),
        7 => kind(advice.prefetched),
        8 => id(advice.prefetched),
        _ => return Err(Code::INVALID_VALUE),
    };
    if room == 4 { Ok(vec![one]) } else { Err(Code::INVALID_VALUE) }
}

/// Stores an attribute of a range.
fn put(data: Out<i32>, room: u64, number: i32, address: u64, bytes: u64) -> Result<(), Code> {
    let allocation = managed(address, bytes)?;
    let advice = runtime::with(|runtime| Ok(runtime.advice.get(&allocation).cloned().unwrap_or_default()))?;
    let values = attribute(&advice, number, room)?;
    values.into_iter().enumerate().try_for_each(|(index, value)| data.at(index).put(value))
}

entry_points! {
    // A device and a stream, or a location, flags and a stream.
    [cudaMemPrefetchAsync cudaMemPrefetchAsync_ptsz] (address: u64, bytes: u64, to: u64, flags_or_stream: u64, stream: u64) {
        let old = is_cuda_12();
        let to = passed(to, old)?;
        let stream = if old { flags_or_stream } else { stream };
        runtime::with(|runtime| runtime.streams.get(stream))?;
        remember(address, bytes, |advice| advice.prefetched = Some(to))
    }

    [cudaMemPrefetchAsync_v2 cudaMemPrefetchAsync_v2_ptsz] (
        address: u64, bytes: u64, to: u64, _flags: u32, stream: u64,
    ) {
        let to = passed(to, false)?;
        runtime::with(|runtime| runtime.streams.get(stream))?;
        remember(address, bytes, |advice| advice.prefetched = Some(to))
    }

    [cudaMemAdvise] (address: u64, bytes: u64, advice: i32, location: u64) {
        advise(address, bytes, advice, passed(location, is_cuda_12()))
    }

    [cudaMemAdvise_v2] (address: u64, bytes: u64, advice: i32, location: u64) {
        advise(address, bytes, advice, passed(location, false))
    }

    [cudaMemRangeGetAttribute] (data: Out<i32>, room: u64, attribute: i32, address: u64, bytes: u64) {
        put(data, room, attribute, address, bytes)
    }

    [cudaMemRangeGetAttributes] (
        data: In<u64>, rooms: In<u64>, attributes: In<i32>, count: u64, address: u64, bytes: u64,
    ) {
        if count == 0 {
            return Err(Code::INVALID_VALUE);
        }
        (0..count as usize).try_for_each(|index| {
            put(Out::of_application(data.at(index)?), rooms.at(index)?, attributes.at(index)?, address, bytes)
        })
    }
}
