//! Copies and fills.

use capsule::Region;

use super::entry::entry_points;
use crate::abi::In;
use crate::abi::types::{Extent, Memcpy3DParms, Memcpy3DPeerParms, PitchedPtr, Pos};
use crate::code::Code;
use crate::runtime::arrays::Array;
use crate::runtime::copy::pitched_box;
use crate::runtime::work::{CopyRequest, Fill, Work};
use crate::runtime::{self, Runtime};

/// Does work in a stream, or in the default stream if none is named; or notes it if the stream is captured.
fn submit(runtime: &mut Runtime, work: &Work, stream: Option<u64>) -> Result<(), Code> {
    let stream = stream.unwrap_or(0);
    runtime.streams.get(stream)?;
    if runtime.graphs.note(stream, || work.clone())? {
        return Ok(());
    }
    // SAFETY: the application passed these ranges to be copied or filled.
    unsafe { runtime.perform(work) }
}

/// Copies; blocking, if in no stream.
pub(super) fn copy(to: Region, from: Region, kind: i32, stream: Option<u64>) -> Result<(), Code> {
    let work = Work::Copy(CopyRequest { to, from, kind, blocking: stream.is_none() });
    runtime::with(|runtime| submit(runtime, &work, stream))
}

/// Copies a line of bytes.
pub(super) fn copy_line(to: u64, from: u64, bytes: u64, kind: i32, blocking: bool) -> Result<(), Code> {
    let stream = if blocking { None } else { Some(0) };
    copy(Region::linear(to, bytes), Region::linear(from, bytes), kind, stream)
}

/// Copies a line of bytes in a stream.
pub(super) fn copy_line_in(to: u64, from: u64, bytes: u64, kind: i32, stream: u64) -> Result<(), Code> {
    copy(Region::linear(to, bytes), Region::linear(from, bytes), kind, Some(stream))
}

/// A plane: its address and pitch.
type Plane = (u64, u64);

fn copy_plane(to: Plane, from: Plane, width: u64, height: u64, kind: i32, stream: Option<u64>) -> Result<(), Code> {
    let plane = |(address, pitch)| pitched_box(address, pitch, height, [width, height, 1]);
    copy(plane(to)?, plane(from)?, kind, stream)
}

/// A box within pitched memory.
fn box_at(ptr: PitchedPtr, pos: Pos, extent: Extent) -> Result<Region, Code> {
    let slice = ptr.pitch.checked_mul(ptr.ysize);
    let offset = || {
        let rows = pos.y.checked_mul(ptr.pitch)?;
        pos.x.checked_add(rows)?.checked_add(pos.z.checked_mul(slice?)?)
    };
    let address = offset().and_then(|offset| ptr.ptr.checked_add(offset)).ok_or(Code::INVALID_VALUE)?;
    let address = if ptr.ptr == 0 { 0 } else { address };
    pitched_box(address, ptr.pitch, ptr.ysize, [extent.width, extent.height, extent.depth])
}

/// An end of a copy: an array, or pitched memory if there is none; and where in it.
pub(super) type End = (u64, PitchedPtr, Pos);

/// Both ends of a copy of boxes. If an array is among them, widths and the places in arrays count its elements.
pub(super) fn ends(from: End, to: End, extent: Extent) -> Result<(Region, Region), Code> {
    let arrays = [from, to]
        .map(|(handle, ..)| (handle != 0).then(|| runtime::with(|runtime| runtime.array(handle))).transpose());
    let [source, target] = arrays;
    let (source, target) = (source?, target?);
    let element = source.or(target).map_or(1, |array| array.element_bytes());
    if [source, target].iter().flatten().any(|array| array.element_bytes() != element) {
        return Err(Code::INVALID_VALUE);
    }
    let width = extent.width.checked_mul(element).ok_or(Code::INVALID_VALUE)?;
    let end = |array: Option<Array>, (_, ptr, pos): End| match array {
        Some(array) => {
            let x = pos.x.checked_mul(element).ok_or(Code::INVALID_VALUE)?;
            array.part([x, pos.y, pos.z], [width, extent.height, extent.depth])
        }
        None => box_at(ptr, pos, Extent { width, ..extent }),
    };
    Ok((end(source, from)?, end(target, to)?))
}

/// A copy of boxes, as work of a stream.
pub(super) fn boxes(params: In<Memcpy3DParms>) -> Result<CopyRequest, Code> {
    let Memcpy3DParms { src_array, src_pos, src_ptr, dst_array, dst_pos, dst_ptr, extent, kind } = params.get()?;
    let (from, to) = ends((src_array, src_ptr, src_pos), (dst_array, dst_ptr, dst_pos), extent)?;
    Ok(CopyRequest { to, from, kind, blocking: false })
}

fn copy_box(params: In<Memcpy3DParms>, stream: Option<u64>) -> Result<(), Code> {
    let CopyRequest { to, from, kind, .. } = boxes(params)?;
    copy(to, from, kind, stream)
}

fn copy_box_between(params: In<Memcpy3DPeerParms>, stream: Option<u64>) -> Result<(), Code> {
    let params = params.get()?;
    super::devices::check_device(params.src_device)?;
    super::devices::check_device(params.dst_device)?;
    let Memcpy3DPeerParms { src_array, src_pos, src_ptr, dst_array, dst_pos, dst_ptr, extent, .. } = params;
    let (from, to) = ends((src_array, src_ptr, src_pos), (dst_array, dst_ptr, dst_pos), extent)?;
    copy(to, from, 4, stream)
}

/// Fills; blocking, if in no stream.
fn fill(to: Region, value: i32, stream: Option<u64>) -> Result<(), Code> {
    let fill = Fill { to, value: value as u32 & 0xff, width: 1, blocking: stream.is_none() };
    runtime::with(|runtime| submit(runtime, &Work::Fill(fill), stream))
}

fn fill_plane((to, pitch): Plane, value: i32, width: u64, height: u64, stream: Option<u64>) -> Result<(), Code> {
    let plane = pitched_box(to, pitch, height, [width, height, 1]).map_err(|_| Code::INVALID_VALUE)?;
    fill(plane, value, stream)
}

fn fill_box(ptr: PitchedPtr, value: i32, extent: Extent, stream: Option<u64>) -> Result<(), Code> {
    let origin = Pos { x: 0, y: 0, z: 0 };
    fill(box_at(ptr, origin, extent)?, value, stream)
}

entry_points! {
    [cudaMemcpy cudaMemcpy_ptds] (to: u64, from: u64, bytes: u64, kind: i32) {
        copy_line(to, from, bytes, kind, true)
    }

    [cudaMemcpyAsync cudaMemcpyAsync_ptsz] (to: u64, from: u64, bytes: u64, kind: i32, stream: u64) {
        copy_line_in(to, from, bytes, kind, stream)
    }

    [cudaMemcpy2D cudaMemcpy2D_ptds] (to: u64, to_pitch: u64, from: u64, from_pitch: u64, width: u64, height: u64, kind: i32) {
        copy_plane((to, to_pitch), (from, from_pitch), width, height, kind, None)
    }

    [cudaMemcpy2DAsync cudaMemcpy2DAsync_ptsz] (
        to: u64, to_pitch: u64, from: u64, from_pitch: u64, width: u64, height: u64, kind: i32, stream: u64,
    ) {
        copy_plane((to, to_pitch), (from, from_pitch), width, height, kind, Some(stream))
    }

    [cudaMemcpy3D cudaMemcpy3D_ptds] (params: In<Memcpy3DParms>) {
        copy_box(params, None)
    }

    [cudaMemcpy3DAsync cudaMemcpy3DAsync_ptsz] (params: In<Memcpy3DParms>, stream: u64) {
        copy_box(params, Some(stream))
    }

    [cudaMemcpy3DPeer cudaMemcpy3DPeer_ptds] (params: In<Memcpy3DPeerParms>) {
        copy_box_between(params, None)
    }

    [cudaMemcpy3DPeerAsync cudaMemcpy3DPeerAsync_ptsz] (params: In<Memcpy3DPeerParms>, stream: u64) {
        copy_box_between(params, Some(stream))
    }

    [cudaMemset cudaMemset_ptds] (to: u64, value: i32, bytes: u64) {
        fill(Region::linear(to, bytes), value, None)
    }

    [cudaMemsetAsync cudaMemsetAsync_ptsz] (to: u64, value: i32, bytes: u64, stream: u64) {
        fill(Region::linear(to, bytes), value, Some(stream))
    }

    [cudaMemset2D cudaMemset2D_ptds] (to: u64, pitch: u64, value: i32, width: u64, height: u64) {
        fill_plane((to, pitch), value, width, height, None)
    }

    [cudaMemset2DAsync cudaMemset2DAsync_ptsz] (to: u64, pitch: u64, value: i32, width: u64, height: u64, stream: u64) {
        fill_plane((to, pitch), value, width, height, Some(stream))
    }

    [cudaMemset3D cudaMemset3D_ptds] (to: PitchedPtr, value: i32, extent: Extent) {
        fill_box(to, value, extent, None)
    }

    [cudaMemset3DAsync cudaMemset3DAsync_ptsz] (to: PitchedPtr, value: i32, extent: Extent, stream: u64) {
        fill_box(to, value, extent, Some(stream))
    }
}
