//! Stores at regular distances far from every allocation. They are kept as what they are, and become pages where somebody
//! looks: a loop that runs away leaves thousands of pages with a few bytes each, which hardly ever matter.

use super::bytes::lines_of;
use super::page::{Page, address_of, page_of};
use super::window::PAGE;
use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

/// What an instruction stores in iterations of a loop, each time an element at a multiple of its size.
#[derive(Clone, Debug)]
pub(crate) struct Stride {
    /// The address in iteration 0.
    pub(crate) address: u64,
    /// By how many bytes it grows; never 0.
    pub(crate) step: i64,
    /// Bytes of an element.
    pub(crate) bytes: usize,
    /// The value in iteration 0, and by what it grows.
    pub(crate) value: u128,
    pub(crate) growth: u64,
    pub(crate) iterations: Range<u64>,
}

impl Stride {
    /// Whether every element lies at a multiple of its size, and so in one page.
    pub(crate) fn is_aligned(&self) -> bool {
        let bytes = self.bytes as u64;
        self.address.is_multiple_of(bytes) && self.step.unsigned_abs().is_multiple_of(bytes)
    }

    pub(crate) fn address_in(&self, iteration: u64) -> u64 {
        self.address.wrapping_add((self.step as u64).wrapping_mul(iteration))
    }

    pub(crate) fn value_in(&self, iteration: u64) -> u128 {
        self.value.wrapping_add(u128::from(self.growth) * u128::from(iteration))
    }

    /// The iterations whose address lies in a range.
    pub(crate) fn within(&self, addresses: &Range<u64>) -> Range<u64> {
        let distance = |to: u64| i128::from(to) - i128::from(self.address);
        let (from, to, step) = (distance(addresses.start), distance(addresses.end), i128::from(self.step));
        let (from, to) = if step > 0 { (from, to) } else { (1 - to, 1 - from) };
        let (start, end) = (i128::from(self.iterations.start), i128::from(self.iterations.end));
        // The first iteration that has come so far.
        let first = |far: i128| (far + step.abs() - 1).div_euclid(step.abs()).clamp(start, end) as u64;
        first(from)..first(to)
    }

    /// The part of it whose addresses lie in a range.
    pub(crate) fn part(&self, addresses: &Range<u64>) -> Self {
        Self { iterations: self.within(addresses), ..self.clone() }
    }

    /// The lowest and the highest address; none without iterations.
    fn ends(&self) -> Option<(u64, u64)> {
        let last = self.iterations.end.checked_sub(1).filter(|last| self.iterations.contains(last))?;
        let (first, last) = (self.address_in(self.iterations.start), self.address_in(last));
        Some((first.min(last), first.max(last)))
    }
}

/// The addresses of a page.
fn addresses(page: u32) -> Range<u64> {
    let start = address_of(page);
    start..start + PAGE as u64
}

/// What loops have stored far away, one after the other.
#[derive(Debug, Default)]
pub struct Strewn {
    /// Of each loop, its instructions in their order.
    loops: Vec<Vec<Stride>>,
    /// Pages that are known without it.
    settled: BTreeSet<u32>,
}

impl Strewn {
    /// Whether nothing was stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.loops.clear();
        self.settled.clear();
    }

    /// Adds what a loop has stored.
    pub(super) fn push(&mut self, strides: Vec<Stride>) {
        self.loops.push(strides);
    }

    /// The same, but for pages that are known without it.
    pub(super) fn apart_from(self, settled: BTreeSet<u32>) -> Self {
        Self { settled, ..self }
    }

    fn strides(&self) -> impl Iterator<Item = &Stride> {
        self.loops.iter().flatten()
    }

    /// Ranges of pages beyond which nothing was stored.
    pub fn ranges(&self) -> impl Iterator<Item = RangeInclusive<u32>> {
        self.strides().filter_map(Stride::ends).flat_map(|(low, high)| {
            let (low, high) = (page_of(low), page_of(high));
            // Pages below the start of device memory have the largest numbers.
            let (end, rest) = if low <= high { (high, None) } else { (u32::MAX, Some(0..=high)) };
            std::iter::once(low..=end).chain(rest)
        })
    }

    /// Whether something may have been stored in a range.
    #[must_use]
    pub fn meets(&self, address: u64, bytes: u64) -> bool {
        let end = address.saturating_add(bytes);
        let page = PAGE as u64;
        self.strides().filter_map(Stride::ends).any(|(low, high)| low < end && address < high.saturating_add(page))
    }

    /// Whether something was stored in a page.
    pub(super) fn covers(&self, page: u32) -> bool {
        self.strides().any(|stride| !stride.within(&addresses(page)).is_empty())
    }

    /// The pages in which something was stored.
    #[must_use]
    pub fn pages(&self) -> BTreeSet<u32> {
        let each = |stride: &Stride| {
            let stride = stride.clone();
            stride.iterations.clone().map(move |iteration| page_of(stride.address_in(iteration)))
        };
        self.strides().flat_map(each).filter(|page| !self.settled.contains(page)).collect()
    }

    /// Stores what was stored in a page; its lines that were written, a bit each.
    pub fn store(&self, page: u32, bytes: &mut Page) -> u64 {
        self.loops.iter().fold(0, |lines, strides| lines | store(strides, page, bytes))
    }
}

/// Stores what a loop has stored in a page, one iteration after the other; its lines that were written, a bit each.
fn store(strides: &[Stride], page: u32, bytes: &mut Page) -> u64 {
    let parts: Vec<Stride> = strides.iter().map(|stride| stride.part(&addresses(page))).collect();
    let parts = || parts.iter().filter(|part| !part.iterations.is_empty());
    let first = parts().map(|part| part.iterations.start).min().unwrap_or(0);
    let end = parts().map(|part| part.iterations.end).max().unwrap_or(0);
    let mut lines = 0;
    for iteration in first..end {
        for part in parts().filter(|part| part.iterations.contains(&iteration)) {
            let at = part.address_in(iteration) as usize % PAGE;
            bytes[at..at + part.bytes].copy_from_slice(&part.value_in(iteration).to_le_bytes()[..part.bytes]);
            lines |= lines_of(at..at + part.bytes);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::GlobalMemory;
    use crate::memory::window::DEVICE_BASE;

    /// Two stores of each iteration, whose addresses meet those of other iterations, on both sides of the start of device memory.
    fn strides(step: i64) -> Vec<Stride> {
        let address = DEVICE_BASE.wrapping_add_signed(-20 * step);
        let one = Stride { address, step, bytes: 4, value: 7, growth: 3, iterations: 1..60 };
        let two = Stride { address: address.wrapping_add_signed(8 * step), bytes: 8, value: 1 << 40, ..one.clone() };
        vec![one, two]
    }

    #[test]
    fn pages_that_are_made_when_somebody_looks_hold_what_stores_one_by_one_leave() {
        for step in [8, -8, 1208, -1208, 8 << 12, -(8 << 12)] {
            let memory = || {
                let mut memory = GlobalMemory::new();
                memory.allocate(16).unwrap();
                // Pages that are there: one that was read, one that was written.
                assert_eq!(memory.read::<4>(DEVICE_BASE), Ok([0; 4]));
                assert_eq!(memory.write::<4>(DEVICE_BASE - 4, [5; 4]), Ok(()));
                memory
            };
            let (mut expected, mut found) = (memory(), memory());
            let strides = strides(step);
            for iteration in 1..60 {
                for stride in &strides {
                    let value = stride.value_in(iteration).to_le_bytes();
                    assert!(expected.copy_in(stride.address_in(iteration), &value[..stride.bytes]));
                }
            }
            found.defer();
            assert!(found.defers());
            found.strew(strides.clone());
            // One more is looked at, and one written.
            let [seen, written] = [10, 50].map(|iteration| strides[0].address_in(iteration));
            assert_eq!(found.read::<4>(seen), expected.read::<4>(seen), "step {step}");
            assert_eq!(found.write::<4>(written, [9; 4]).and(expected.write::<4>(written, [9; 4])), Ok(()));
            let pages: BTreeSet<u32> = expected.written().map(|(page, _)| page).collect();
            assert!(pages.iter().all(|&page| found.strewn().covers(page) || page == page_of(DEVICE_BASE - 4)));
            assert!(found.strewn().pages().iter().all(|&page| found.blank(address_of(page)).is_none()));
            let strewn = found.strewn().ranges().collect::<Vec<_>>();
            assert!(found.strewn().pages().iter().all(|page| strewn.iter().any(|range| range.contains(page))));
            found.settle();
            assert!(found.strewn().is_empty());
            assert!(found.written().eq(expected.written()), "step {step}");
            let lines =
                |memory: &GlobalMemory| pages.iter().map(|&page| memory.written_lines(page)).collect::<Vec<_>>();
            assert_eq!(lines(&found), lines(&expected));
        }
    }

    #[test]
    fn what_is_taken_says_nothing_of_pages_that_were_looked_at() {
        let mut memory = GlobalMemory::new();
        memory.allocate(16).unwrap();
        memory.defer();
        let strides = strides(8 << 12);
        memory.strew(strides.clone());
        let page = page_of(strides[0].address_in(5));
        assert!(memory.numbered(page).is_some());
        let strewn = memory.take_strewn();
        assert!(memory.strewn().is_empty() && !strewn.pages().contains(&page));
        assert_eq!((memory.written().count(), strewn.pages().len()), (1, 66));
        let mut bytes = [0; PAGE];
        assert_eq!((strewn.store(page_of(strides[0].address_in(6)), &mut bytes), bytes[0]), (1, 25));
        assert!(strewn.meets(strides[0].address_in(1), 1) && !strewn.meets(strides[0].address_in(1) - 1, 1));
    }
}
