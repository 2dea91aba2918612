//! Copies and fills, of lines, planes and boxes of memory, in every direction.
//!
//! Addresses say which side they are on: all are of one space, as with every GPU of today. The direction that the
//! application states is checked against that, as far as CUDA does.

use capsule::Region;

use super::errors::code_of;
use super::work::{CopyRequest, Fill};
use super::{Runtime, host};
use crate::code::Code;
use crate::report::fails;

/// Where a region lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Host,
    Device,
}

impl Runtime {
    /// Copies.
    ///
    /// # Safety
    /// The application vouches for what lies on the host.
    pub(crate) unsafe fn copy(&mut self, copy: CopyRequest) -> Result<(), Code> {
        self.check()?;
        let CopyRequest { to, from, kind, blocking } = copy;
        if to.is_empty() || from.is_empty() {
            return Ok(());
        }
        if !(0..=4).contains(&kind) {
            return Err(Code::INVALID_MEMCPY_DIRECTION);
        }
        let to_side = self.side(&to, matches!(kind, 1 | 3))?;
        let from_side = self.side(&from, matches!(kind, 2 | 3))?;
        self.share_with_device()?;
        // SAFETY: the regions are on the side that was found, and the caller vouches for the host's.
        unsafe { self.transfer(to_side, from_side, &to, &from)? };
        self.share_with_host(blocking)
    }

    /// # Safety
    /// The caller vouches for regions on the host.
    unsafe fn transfer(&mut self, to_side: Side, from_side: Side, to: &Region, from: &Region) -> Result<(), Code> {
        let gpu = &mut self.gpu;
        let code = |error| code_of(&error);
        match (to_side, from_side) {
            (Side::Device, Side::Device) => gpu.copy_within(*to, *from).map_err(code)?,
            (Side::Device, Side::Host) => {
                // SAFETY: the caller vouches for the host's region.
                let packed = unsafe { host::gather(from) };
                gpu.copy_in(*to, &packed).map_err(code)?;
            }
            (Side::Host, Side::Device) => {
                let packed = gpu.copy_out(*from).map_err(code)?;
                // SAFETY: the caller vouches for the host's region.
                unsafe { host::scatter(to, &packed) };
            }
            (Side::Host, Side::Host) => {
                // SAFETY: the caller vouches for both regions; a copy in between lets them overlap.
                let packed = unsafe { host::gather(from) }.into_owned();
                // SAFETY: as above.
                unsafe { host::scatter(to, &packed) };
            }
        }
        Ok(())
    }

    /// The side of a region. What the application calls the device's must be known to the device: its memory, or
    /// page-locked memory. What it calls the host's may be anything.
    fn side(&self, region: &Region, on_device: bool) -> Result<Side, Code> {
        let span = region.span().filter(|span| region.address.checked_add(*span).is_some());
        let span = span.filter(|_| region.address != 0).ok_or(Code::INVALID_VALUE)?;
        let Some(block) = self.memory.holding(region.address) else {
            let known = on_device || self.is_reserved(region.address);
            return if known { Err(self.no_memory(region.address, span)) } else { Ok(Side::Host) };
        };
        if self.memory.covering(region.address, span).is_none() {
            return Err(self.no_memory(region.address, span));
        }
        Ok(if block.is_host() { Side::Host } else { Side::Device })
    }

    /// Why a range is refused.
    fn no_memory(&self, address: u64, bytes: u64) -> Code {
        let place = self.memory.describe(address);
        fails(
            Code::INVALID_VALUE,
            format_args!("{bytes} bytes from {address:#x} are not one allocation; {address:#x} {place}"),
        )
    }

    /// Fills.
    ///
    /// # Safety
    /// The application vouches for what lies on the host.
    pub(crate) unsafe fn fill(&mut self, fill: Fill) -> Result<(), Code> {
        self.check()?;
        let Fill { to, value, width, blocking } = fill;
        if to.is_empty() {
            return Ok(());
        }
        let side = self.side(&to, true)?;
        self.share_with_device()?;
        match side {
            Side::Device => self.gpu.fill(to, value, width).map_err(|error| code_of(&error))?,
            // SAFETY: pinned memory of this runtime, and the caller vouches for the rest.
            Side::Host => unsafe { host::fill(&to, &value.to_le_bytes()[..usize::from(width.min(4))]) },
        }
        self.share_with_host(blocking)
    }
}

/// A box of memory: rows of `width` bytes, `pitch` apart, in slices of `rows` rows.
pub(crate) fn pitched_box(
    address: u64,
    pitch: u64,
    rows: u64,
    [width, height, depth]: [u64; 3],
) -> Result<Region, Code> {
    let nothing = width == 0 || height == 0 || depth == 0;
    if !nothing && pitch < width {
        return Err(if height > 1 || depth > 1 { Code::INVALID_PITCH_VALUE } else { Code::INVALID_VALUE });
    }
    if !nothing && depth > 1 && rows < height {
        return Err(Code::INVALID_PITCH_VALUE);
    }
    let slice = pitch.checked_mul(rows).ok_or(Code::INVALID_VALUE)?;
    let slice = if depth > 1 { slice } else { pitch.saturating_mul(height) };
    Ok(Region { address, width, height, depth, pitch, slice })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_needs_room_for_its_rows() {
        let plane = pitched_box(0x1000, 512, 1, [100, 4, 1]).unwrap();
        assert_eq!(plane, Region::pitched(0x1000, 100, 4, 512));
        assert_eq!(pitched_box(0x1000, 99, 4, [100, 4, 1]), Err(Code::INVALID_PITCH_VALUE));
        assert_eq!(pitched_box(0x1000, 99, 4, [100, 1, 1]), Err(Code::INVALID_VALUE));
        assert!(pitched_box(0x1000, 0, 0, [0, 1, 1]).is_ok());
        assert_eq!(pitched_box(0x1000, 512, 3, [100, 4, 2]), Err(Code::INVALID_PITCH_VALUE));
        assert_eq!(pitched_box(0x1000, 512, 4, [100, 4, 2]).unwrap().slice, 2048);
    }
}
