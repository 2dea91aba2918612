//! The addresses of a warp, and the shapes they have.

use super::executing::LaneTrap;
use crate::trap::TrapKind;
use ::lanes::level::Level;
use ::lanes::registers::{FULL, LANES, lanes};

/// Where the lanes of a warp access memory.
pub(crate) trait Address: Copy {
    /// The address of a lane.
    fn at(self, lane: usize) -> u64;

    /// The address of all lanes, where they have no other by nature.
    #[inline(always)]
    fn fixed(self) -> Option<u64> {
        None
    }

    /// How far the address of one lane lies after another's.
    fn ends(self, first: usize, last: usize) -> u64;

    /// Whether the addresses of half a warp differ as ones that lie `stride` bytes after their neighbours.
    fn half_has_stride(self, first: usize, stride: usize) -> bool;

    /// Whether the address of each of `COUNT` lanes, half a warp or a whole one, lies `stride` bytes after its
    /// neighbour's; 0 for one address in all.
    #[inline(always)]
    fn has_stride<const COUNT: usize>(self, first: usize, stride: usize) -> bool {
        // Most other shapes are told by one lane; then all must be looked at.
        self.ends(first, first + COUNT - 1) == (stride * (COUNT - 1)) as u64
            && self.half_has_stride(first, stride)
            && (COUNT == HALF || self.ends(first, HALF) == (stride * HALF) as u64 && self.half_has_stride(HALF, stride))
    }

    /// Whether the lanes of the mask are a whole warp at neighbouring elements.
    #[inline(always)]
    fn is_row(self, mask: u32, bytes: usize) -> bool {
        mask == FULL && self.has_stride::<LANES>(0, bytes)
    }

    /// Whether all of the half that begins at a lane is in the mask, and at neighbouring elements.
    #[inline(always)]
    fn is_half_row(self, mask: u32, (first, half): (usize, u32), bytes: usize) -> bool {
        mask & half == half && self.has_stride::<HALF>(first, bytes)
    }

    /// The first lane of the mask whose address is not a multiple of `size`, a power of two.
    #[inline(always)]
    fn misaligned(self, mask: u32, size: usize) -> Result<(), LaneTrap> {
        let low = size as u64 - 1;
        let mut bits = 0;
        for lane in 0..LANES {
            bits |= self.at(lane) & low;
        }
        if bits == 0 {
            return Ok(());
        }
        let wrong = lanes(mask).find(|&lane| self.at(lane) & low != 0);
        wrong.map_or(Ok(()), |lane| Err(LaneTrap::at(TrapKind::MisalignedAddress, lane, self.at(lane))))
    }
}

/// Lanes of half a warp: in blocks 16 threads wide, each half is a row.
pub(super) const HALF: usize = LANES / 2;

/// The first lane of each half, and its mask.
pub(super) const HALVES: [(usize, u32); 2] = [(0, 0xffff), (HALF, 0xffff_0000)];

/// A row of 64-bit addresses and a displacement.
#[derive(Clone, Copy)]
pub(super) struct Wide<'a, L>(pub(super) L, pub(super) &'a [u64; LANES], pub(super) u64);

/// A row of 32-bit addresses and a displacement.
#[derive(Clone, Copy)]
pub(super) struct Narrow<'a, L>(pub(super) L, pub(super) &'a [u32; LANES], pub(super) u64);

/// One address for all.
#[derive(Clone, Copy)]
pub(super) struct Fixed(pub(super) u64);

impl<L: Level> Address for Wide<'_, L> {
    #[inline(always)]
    fn at(self, lane: usize) -> u64 {
        self.1[lane].wrapping_add(self.2)
    }

    #[inline(always)]
    fn ends(self, first: usize, last: usize) -> u64 {
        self.1[last].wrapping_sub(self.1[first])
    }

    #[inline(always)]
    fn half_has_stride(self, first: usize, stride: usize) -> bool {
        // A closure in a function of another crate would not have this level's instructions.
        let Some(half) = self.1[first..].first_chunk() else { return false };
        self.0.is_progression64(half, stride as u64)
    }
}

impl<L: Level> Address for Narrow<'_, L> {
    #[inline(always)]
    fn at(self, lane: usize) -> u64 {
        u64::from(self.1[lane]).wrapping_add(self.2)
    }

    #[inline(always)]
    fn ends(self, first: usize, last: usize) -> u64 {
        // Numbers that wrap are not the addresses of neighbours.
        u64::from(self.1[last]).wrapping_sub(u64::from(self.1[first]))
    }

    #[inline(always)]
    fn half_has_stride(self, first: usize, stride: usize) -> bool {
        let Some(half) = self.1[first..].first_chunk() else { return false };
        self.0.is_progression32(half, stride as u32)
    }
}

impl Address for Fixed {
    #[inline(always)]
    fn at(self, _: usize) -> u64 {
        self.0
    }

    #[inline(always)]
    fn ends(self, _: usize, _: usize) -> u64 {
        0
    }

    #[inline(always)]
    fn half_has_stride(self, _: usize, stride: usize) -> bool {
        stride == 0
    }

    #[inline(always)]
    fn fixed(self) -> Option<u64> {
        Some(self.0)
    }
}
