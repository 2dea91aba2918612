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

    /// The first lane of each half warp and its mask, in this order.
    #[inline(always)]
    pub(crate) fn halves(self) -> [(usize, u32); 2] {
        let [low, high] = HALVES;
        if self.is_one_pass() { [high, low] } else { [low, high] }
    }

    /// The lanes of a mask in this order.
    #[inline(always)]
    pub(crate) fn lanes(self, mask: u32) -> Queue {
        // Descending in each pass: in a mask that is mirrored in each of them, ascending.
        let mirror = self.pass - 1;
        Queue { left: mirrored(mask, mirror), mirror }
    }
}

/// Lanes that store one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    /// Those that are left, mirrored.
    left: u32,
    mirror: u32,
}

impl Queue {
    /// Which lane is next.
    #[inline(always)]
    pub(crate) fn first(self) -> Option<usize> {
        (self.left != 0).then(|| (self.left.trailing_zeros() ^ self.mirror) as usize % LANES)
    }

    /// The lanes that are left.
    pub(crate) fn mask(self) -> u32 {
        mirrored(self.left, self.mirror)
    }
}

impl Iterator for Queue {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let lane = self.first();
        self.left &= self.left.wrapping_sub(1);
        lane
    }
}

/// A mask of which bit `lane ^ mirror` is bit `lane` of this.
#[inline(always)]
fn mirrored(mask: u32, mirror: u32) -> u32 {
    if mirror == LANES as u32 - 1 { mask.reverse_bits() } else { mirrored_in_parts(mask, mirror) }
}

/// Exchanges of neighbouring groups of bits: how many bits, and the lower group of each two.
const STEPS: [(u32, u32); 4] = [(1, 0x5555_5555), (2, 0x3333_3333), (4, 0x0f0f_0f0f), (8, 0x00ff_00ff)];

fn mirrored_in_parts(mask: u32, mirror: u32) -> u32 {
    let exchange = |mask: u32, (by, low)| if mirror & by == 0 { mask } else { (mask & low) << by | (mask >> by) & low };
    STEPS.into_iter().fold(mask, exchange)
}

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
                let mut queue = order.lanes(mask);
                assert_eq!(queue.mask(), mask);
                let mut left = mask;
                while let Some(lane) = queue.next() {
                    assert_eq!(left & 1 << lane, 1 << lane);
                    left &= !(1 << lane);
                    assert_eq!(queue.mask(), left);
                }
                assert_eq!(left, 0);
            }
        }
    }
}
