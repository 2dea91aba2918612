//! Which store stays where lanes of one instruction store to one address.
//!
//! The ISA leaves it open; a GPU does not. It stores 128 bytes in a pass: all lanes where each stores 4 bytes or less, half a
//! warp where each stores 8, a quarter where each stores 16, the elements of a vector together. Passes come one after the
//! other from the lowest lanes on, so that a later one stays; in a pass the lowest lane stays. It is the same for global and
//! shared memory (`records/hardware.md`).

use super::address::HALVES;
use ::lanes::registers::LANES;

/// What is stored in a pass.
const PASS_BYTES: usize = 128;

/// The order in which the stores of an instruction have to be done one by one, so that the right one stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoreOrder {
    /// Lanes of a pass, a power of two.
    pass: u32,
}

impl StoreOrder {
    /// For instructions that store so many bytes for each lane.
    #[inline(always)]
    pub(crate) fn of(bytes: usize) -> Self {
        let lanes = (PASS_BYTES / bytes.max(1)).clamp(1, LANES);
        Self { pass: lanes as u32 }
    }

    /// Whether the whole warp is one pass.
    #[inline(always)]
    pub(crate) fn is_one_pass(self) -> bool {
        self.pass == LANES as u32
    }

    /// Which of the lanes that are left stores next: the highest of the lowest pass. The mask must not be empty.
    #[inline(always)]
    pub(crate) fn next(self, left: u32) -> usize {
        let window = if self.is_one_pass() {
            left
        } else {
            let first = left.trailing_zeros() & !(self.pass - 1);
            left & (((1 << self.pass) - 1) << first)
        };
        (u32::BITS - 1 - window.leading_zeros()) as usize % LANES
    }

    /// The first lane of each half warp and its mask, in this order.
    #[inline(always)]
    pub(crate) fn halves(self) -> [(usize, u32); 2] {
        let [low, high] = HALVES;
        if self.is_one_pass() { [high, low] } else { [low, high] }
    }

    /// The lanes of a mask in this order.
    #[inline(always)]
    pub(crate) fn lanes(self, mask: u32) -> impl Iterator<Item = usize> {
        // Descending in each pass: in a mask that is mirrored in each of them, ascending.
        let mirror = self.pass - 1;
        let mirrored = |mask: u32, (by, low): (u32, u32)| {
            if mirror & by == 0 { mask } else { (mask & low) << by | (mask >> by) & low }
        };
        let mut left = STEPS.into_iter().fold(mask, mirrored);
        std::iter::from_fn(move || {
            (left != 0).then(|| {
                let lane = left.trailing_zeros() ^ mirror;
                left &= left - 1;
                lane as usize % LANES
            })
        })
    }
}

/// Exchanges of neighbouring groups of bits that mirror a mask: how many bits, and the lower group of each two.
const STEPS: [(u32, u32); 5] =
    [(1, 0x5555_5555), (2, 0x3333_3333), (4, 0x0f0f_0f0f), (8, 0x00ff_00ff), (16, 0x0000_ffff)];

#[cfg(test)]
mod tests {
    use super::*;

    /// The lane whose store stays if these store to one address.
    fn stays(bytes: usize, mask: u32) -> Option<usize> {
        StoreOrder::of(bytes).lanes(mask).last()
    }

    #[test]
    fn the_lowest_lane_of_the_last_pass_stays() {
        assert_eq!([1, 2, 4].map(|bytes| stays(bytes, u32::MAX)), [Some(0); 3]);
        assert_eq!(stays(8, u32::MAX), Some(16));
        assert_eq!(stays(16, u32::MAX), Some(24));
        assert_eq!(stays(4, 0x8011_0100), Some(8));
        assert_eq!(stays(8, 0x8011_0100), Some(16));
        assert_eq!(stays(16, 0x0011_0106), Some(16));
        assert_eq!(stays(8, 0x0000_0106), Some(1));
    }

    #[test]
    fn every_lane_of_a_mask_stores_once() {
        for bytes in [1, 4, 8, 16, 32, 1000] {
            for mask in [0, 1, 0x8000_0000, 0x00ff_f0f0, 0x1234_8765, u32::MAX] {
                let order = StoreOrder::of(bytes);
                let left = order.lanes(mask).fold(mask, |left, lane| {
                    assert_eq!(order.next(left), lane);
                    left & !(1 << lane)
                });
                assert_eq!(left, 0);
            }
        }
    }
}
