//! The addresses of a warp, and the shapes they have.

use super::Fault;
use crate::registers::{LANES, lanes};
use crate::trap::TrapKind;

/// Where the lanes of a warp access memory.
pub(crate) trait Address: Copy {
    /// The address of a lane.
    fn at(self, lane: usize) -> u64;

    /// The address of all lanes, where they have no other by nature.
    #[inline(always)]
    fn fixed(self) -> Option<u64> {
        None
    }

    /// Whether the address of each of some lanes lies `stride` bytes after its neighbour's; 0 for one address in all.
    fn has_stride<const COUNT: usize>(self, first: usize, stride: usize) -> bool;

    /// The first lane of the mask whose address is not a multiple of `size`, a power of two.
    #[inline(always)]
    fn misaligned(self, mask: u32, size: usize) -> Result<(), Fault> {
        let low = size as u64 - 1;
        let mut bits = 0;
        for lane in 0..LANES {
            bits |= self.at(lane) & low;
        }
        if bits == 0 {
            return Ok(());
        }
        let wrong = lanes(mask).find(|&lane| self.at(lane) & low != 0);
        wrong.map_or(Ok(()), |lane| Err(Fault::at(TrapKind::MisalignedAddress, lane, self.at(lane))))
    }
}

/// Lanes of half a warp: in blocks 16 threads wide, each half is a row.
pub(super) const HALF: usize = LANES / 2;

/// The first lane of each half, and its mask.
pub(super) const HALVES: [(usize, u32); 2] = [(0, 0xffff), (HALF, 0xffff_0000)];

/// A row of 64-bit addresses and a displacement.
#[derive(Clone, Copy)]
pub(super) struct Wide<'a>(pub(super) &'a [u64; LANES], pub(super) u64);

/// A row of 32-bit addresses and a displacement.
#[derive(Clone, Copy)]
pub(super) struct Narrow<'a>(pub(super) &'a [u32; LANES], pub(super) u64);

/// One address for all.
#[derive(Clone, Copy)]
pub(super) struct Fixed(pub(super) u64);

/// Whether each of `COUNT` numbers from `first` on is `stride` more than its neighbour. A plain loop over numbers of
/// one size: an iterator's `fold` may become a function of its own, which is not compiled for the level.
macro_rules! has_stride {
    ($row:expr, $t:ty, $first:expr, $stride:expr) => {{
        let Some(row) = $row[$first..].first_chunk::<COUNT>() else { return false };
        let expected = |lane: usize| row[0].wrapping_add((lane * $stride) as $t);
        // Most other shapes are told by one lane; then all must be looked at.
        row[COUNT - 1] == expected(COUNT - 1) && {
            let mut different = 0;
            for lane in 0..COUNT {
                different |= row[lane] ^ expected(lane);
            }
            different == 0
        }
    }};
}

impl Address for Wide<'_> {
    #[inline(always)]
    fn at(self, lane: usize) -> u64 {
        self.0[lane].wrapping_add(self.1)
    }

    #[inline(always)]
    fn has_stride<const COUNT: usize>(self, first: usize, stride: usize) -> bool {
        has_stride!(self.0, u64, first, stride)
    }
}

impl Address for Narrow<'_> {
    #[inline(always)]
    fn at(self, lane: usize) -> u64 {
        u64::from(self.0[lane]).wrapping_add(self.1)
    }

    #[inline(always)]
    fn has_stride<const COUNT: usize>(self, first: usize, stride: usize) -> bool {
        // Numbers that wrap are not the addresses of neighbours.
        self.0[first] <= self.0[first + COUNT - 1] && has_stride!(self.0, u32, first, stride)
    }
}

impl Address for Fixed {
    #[inline(always)]
    fn at(self, _: usize) -> u64 {
        self.0
    }

    #[inline(always)]
    fn has_stride<const COUNT: usize>(self, _: usize, stride: usize) -> bool {
        stride == 0
    }

    #[inline(always)]
    fn fixed(self) -> Option<u64> {
        Some(self.0)
    }
}
