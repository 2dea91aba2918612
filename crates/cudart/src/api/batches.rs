//! Many copies, prefetches or discards by one call.

use super::copies::{copy, copy_line_in, ends};
use super::entry::entry_points;
use super::ranges::prefetch;
use crate::abi::types::{MemLocation, Memcpy3DBatchOp, Memcpy3DOperand, PitchedPtr, Pos};
use crate::abi::{In, Out, is_cuda_12};
use crate::code::Code;
use crate::report::fails;
use crate::runtime;

/// No batch has so many parts.
const MOST: u64 = 1 << 24;
/// `cudaMemcpyKind`: as the addresses say.
const DEFAULT: i32 = 4;
/// `cudaMemcpyOperandTypePointer` and its neighbour.
const POINTER: i32 = 1;
const ARRAY: i32 = 2;

/// A batch must have parts, and a stream that is not the default one.
fn check(count: u64, stream: u64) -> Result<(), Code> {
    if stream == 0 {
        return Err(fails(Code::INVALID_VALUE, "a batch needs a stream, and was given the default stream"));
    }
    runtime::with(|runtime| runtime.streams.get(stream))?;
    if (1..=MOST).contains(&count) { Ok(()) } else { Err(Code::INVALID_VALUE) }
}

/// Does each part, and says which failed.
fn each(count: u64, failed: Out<u64>, mut part: impl FnMut(usize) -> Result<(), Code>) -> Result<(), Code> {
    failed.put_if_wanted(u64::MAX);
    (0..count as usize).try_for_each(|index| part(index).inspect_err(|_| failed.put_if_wanted(index as u64)))
}

/// The arrays that a batch of lines is given by: targets, sources, sizes.
type Lines = (In<u64>, In<u64>, In<u64>);

fn copy_lines((to, from, bytes): Lines, count: u64, failed: Out<u64>, stream: u64) -> Result<(), Code> {
    check(count, stream)?;
    each(count, failed, |index| copy_line_in(to.at(index)?, from.at(index)?, bytes.at(index)?, DEFAULT, stream))
}

/// The array of an operand, and the bytes of its elements.
fn element(operand: &Memcpy3DOperand) -> Result<Option<u64>, Code> {
    match operand.kind {
        POINTER => Ok(None),
        ARRAY => Ok(Some(runtime::with(|runtime| runtime.array(operand.op[0]))?.element_bytes())),
        _ => Err(Code::INVALID_VALUE),
    }
}

fn copy_box(part: &Memcpy3DBatchOp, stream: u64) -> Result<(), Code> {
    let Memcpy3DBatchOp { src, dst, extent, .. } = part;
    let element = element(src)?.or(element(dst)?).unwrap_or(1);
    let end = |operand: &Memcpy3DOperand| {
        let [first, second, third, fourth] = operand.op;
        let nowhere = PitchedPtr { ptr: 0, pitch: 0, xsize: 0, ysize: 0 };
        if operand.kind == ARRAY {
            return Ok((first, nowhere, Pos { x: second, y: third, z: fourth }));
        }
        // Rows and layers of no length are as long as the copy's.
        let row = if second == 0 { extent.width } else { second };
        let rows = if third == 0 { extent.height } else { third };
        let pitch = row.checked_mul(element).ok_or(Code::INVALID_VALUE)?;
        Ok((0, PitchedPtr { ptr: first, pitch, xsize: row, ysize: rows }, Pos { x: 0, y: 0, z: 0 }))
    };
    let (from, to) = ends(end(src)?, end(dst)?, *extent)?;
    copy(to, from, DEFAULT, Some(stream))
}

fn copy_boxes(parts: In<Memcpy3DBatchOp>, count: u64, failed: Out<u64>, stream: u64) -> Result<(), Code> {
    check(count, stream)?;
    each(count, failed, |index| copy_box(&parts.at(index)?, stream))
}

/// Where memory goes: places, from which part on each counts, and how many there are.
type Places = (In<MemLocation>, In<u64>, u64);

fn prefetch_all(at: In<u64>, bytes: In<u64>, count: u64, places: Places, stream: u64) -> Result<(), Code> {
    let (locations, starts, given) = places;
    check(count, stream)?;
    if given == 0 || given > count || starts.at(0)? != 0 {
        return Err(Code::INVALID_VALUE);
    }
    let mut current = 0;
    (0..count as usize).try_for_each(|index| {
        while current + 1 < given as usize && starts.at(current + 1)? <= index as u64 {
            current += 1;
        }
        prefetch(at.at(index)?, bytes.at(index)?, locations.at(current)?)
    })
}

entry_points! {
    // CUDA 12 says which part failed.
    [cudaMemcpyBatchAsync cudaMemcpyBatchAsync_ptsz] (
        to: In<u64>, from: In<u64>, bytes: In<u64>, count: u64, _attributes: u64, starts: In<u64>, given: u64,
        failed_or_stream: u64, stream: u64,
    ) {
        let (failed, stream) =
            if is_cuda_12() { (failed_or_stream, stream) } else { (0, failed_or_stream) };
        if given == 0 || given > count || starts.at(0)? != 0 {
            return Err(fails(Code::INVALID_VALUE, "a batch of copies needs attributes, the first from copy 0 on"));
        }
        copy_lines((to, from, bytes), count, Out::of_application(failed), stream)
    }

    [cudaMemcpy3DBatchAsync cudaMemcpy3DBatchAsync_ptsz] (
        count: u64, parts: In<Memcpy3DBatchOp>, failed_or_flags: u64, flags_or_stream: u64, stream: u64,
    ) {
        let (failed, stream) =
            if is_cuda_12() { (failed_or_flags, stream) } else { (0, flags_or_stream) };
        copy_boxes(parts, count, Out::of_application(failed), stream)
    }

    [cudaMemPrefetchBatchAsync cudaMemPrefetchBatchAsync_ptsz
     cudaMemDiscardAndPrefetchBatchAsync cudaMemDiscardAndPrefetchBatchAsync_ptsz] (
        at: In<u64>, bytes: In<u64>, count: u64, locations: In<MemLocation>, starts: In<u64>, given: u64,
        flags: u64, stream: u64,
    ) {
        if flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        prefetch_all(at, bytes, count, (locations, starts, given), stream)
    }

    // What is discarded is undefined until it is written: it may as well stay.
    [cudaMemDiscardBatchAsync cudaMemDiscardBatchAsync_ptsz] (
        at: In<u64>, bytes: In<u64>, count: u64, flags: u64, stream: u64,
    ) {
        check(count, stream)?;
        if flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        (0..count as usize).try_for_each(|index| super::ranges::managed(at.at(index)?, bytes.at(index)?).map(drop))
    }
}
