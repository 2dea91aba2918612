//! Which bytes of a page are allocated, so that accesses need no look at the table of allocations.

use super::window::ALLOCATION;
use super::window::PAGE;

/// Allocations begin at multiples of this.
const GRANULE: usize = ALLOCATION as usize;

/// For each granule of a page, how many of its bytes, from the first on, one allocation holds.
///
/// Elements are aligned and smaller than a granule, so that none lies in two allocations. What is placed elsewhere than
/// at the start of a granule is not noted: accesses there are looked up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held([u16; PAGE / GRANULE]);

impl Held {
    /// Whether every aligned element in the bytes `from..to` of the page, which are not empty, is known to lie within
    /// an allocation.
    #[inline(always)]
    #[must_use]
    pub fn covers(&self, from: usize, to: usize) -> bool {
        let (first, last) = (from / GRANULE, (to - 1) / GRANULE);
        let whole = |granule: &u16| usize::from(*granule) == GRANULE;
        to <= PAGE && to - last * GRANULE <= usize::from(self.0[last]) && self.0[first..last].iter().all(whole)
    }

    /// An allocation holds the bytes `from..to`.
    pub(super) fn add(&mut self, from: usize, to: usize) {
        self.fill(from, to, |held, bytes| *held = (*held).max(bytes as u16));
    }

    /// The allocation that held the bytes `from..to` is gone.
    pub(super) fn remove(&mut self, from: usize, to: usize) {
        self.fill(from, to, |held, _| *held = 0);
    }

    fn fill(&mut self, from: usize, to: usize, each: impl Fn(&mut u16, usize)) {
        for granule in from.div_ceil(GRANULE)..to.div_ceil(GRANULE) {
            each(&mut self.0[granule], (to - granule * GRANULE).min(GRANULE));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_lie_in_allocations_that_begin_at_granules() {
        let mut held = Held::default();
        held.add(0, 520);
        held.add(1024, PAGE);
        assert!(held.covers(0, 520) && held.covers(512, 520) && held.covers(1024, PAGE));
        assert!(!held.covers(512, 524) && !held.covers(0, 1024) && !held.covers(1020, 1028));
        held.remove(0, 520);
        assert!(!held.covers(0, 4) && held.covers(2048, 2052));
    }

    #[test]
    fn what_begins_within_a_granule_is_not_noted_there() {
        let mut held = Held::default();
        held.add(256, 1024);
        assert!(!held.covers(256, 260) && held.covers(512, 1024));
    }
}
