//! Pages that are mapped although no allocation is near: what a stray access finds there. They are few and seldom touched.

use super::bytes::{LINE, each_line};
use super::page::{Page, zeros};
use super::slot::Slot;
use super::window::{DEVICE_BASE, PAGE};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The number of the page that holds an address. Pages before [`DEVICE_BASE`] are numbered down from the highest number.
#[must_use]
pub fn page_of(address: u64) -> u32 {
    (address.wrapping_sub(DEVICE_BASE) / PAGE as u64) as u32
}

/// The first address of a page.
#[must_use]
pub fn address_of(page: u32) -> u64 {
    DEVICE_BASE.wrapping_add_signed(i64::from(page as i32) * PAGE as i64)
}

/// Pages that are kept to be used again, at most.
const MOST_SPARE: usize = 1 << 14;

/// A far page that was touched.
#[derive(Debug, Default)]
struct FarPage {
    slot: Slot,
    /// Its lines that were written, a bit each, if it is owned.
    written: u64,
    /// Whether it holds zeros where it was not written.
    is_blank: bool,
}

/// Far pages that were touched, by number.
#[derive(Debug, Default)]
pub(super) struct FarPages {
    pages: BTreeMap<u32, FarPage>,
    /// Zeros.
    spare: Vec<Box<Page>>,
}

/// The lines that hold some of these bytes of a page.
fn lines_of(bytes: Range<usize>) -> u64 {
    let Range { start, end } = bytes;
    if start >= end {
        return 0;
    }
    (u64::MAX >> (63 - (end - 1) / LINE)) & (u64::MAX << (start / LINE))
}

impl FarPages {
    pub(super) fn clear(&mut self) {
        for FarPage { slot, written, is_blank } in std::mem::take(&mut self.pages).into_values() {
            if let Slot::Owned(mut page) = slot
                && self.spare.len() < MOST_SPARE
            {
                if is_blank {
                    each_line(written).for_each(|line| page[line].fill(0));
                } else {
                    page.fill(0);
                }
                self.spare.push(page);
            }
        }
    }

    pub(super) fn is_touched(&self, number: u32) -> bool {
        self.pages.contains_key(&number)
    }

    /// A page to be read; `recorded` says what it is if it was not touched.
    pub(super) fn page(&mut self, number: u32, recorded: impl FnOnce() -> Option<Arc<Page>>) -> Option<&Page> {
        let made = || FarPage { slot: Slot::Shared(recorded().unwrap_or_else(zeros)), ..FarPage::default() };
        self.pages.entry(number).or_insert_with(made).slot.bytes()
    }

    /// A page to be written in these of its bytes.
    pub(super) fn page_mut(
        &mut self,
        number: u32,
        within: Range<usize>,
        recorded: impl FnOnce() -> Option<Arc<Page>>,
    ) -> Option<&mut Page> {
        let FarPage { slot, written, is_blank } = self.pages.entry(number).or_default();
        if !slot.is_owned() {
            let mut page = self.spare.pop().unwrap_or_else(|| Box::new([0; PAGE]));
            let before = match std::mem::take(slot) {
                Slot::Shared(page) => Some(page),
                _ => recorded(),
            };
            (*written, *is_blank) = (0, before.is_none());
            if let Some(before) = before {
                page.copy_from_slice(&*before);
            }
            *slot = Slot::Owned(page);
        }
        *written |= lines_of(within);
        slot.bytes_mut()
    }

    /// What was written, by ascending number.
    pub(super) fn written(&self) -> impl Iterator<Item = (u32, &Page)> {
        let owned = self.pages.iter().filter(|(_, page)| page.slot.is_owned());
        owned.filter_map(|(&number, page)| Some((number, page.slot.bytes()?)))
    }

    /// Where a page was written: its lines, a bit each.
    pub(super) fn written_lines(&self, number: u32) -> u64 {
        self.pages.get(&number).filter(|page| page.slot.is_owned()).map_or(0, |page| page.written)
    }

    /// Hands every page that was touched to `keep`, to be shared from now on.
    pub(super) fn share(&mut self, mut keep: impl FnMut(u32, Arc<Page>)) {
        for (&number, page) in &mut self.pages {
            if let Some(page) = page.slot.share() {
                keep(number, page);
            }
        }
    }

    /// Turns written pages into shared ones, handing each to `keep`.
    pub(super) fn freeze(&mut self, mut keep: impl FnMut(u32, Arc<Page>)) {
        for (&number, page) in &mut self.pages {
            if let Some(page) = page.slot.freeze() {
                keep(number, page);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{GlobalMemory, History, Pages, Version};

    #[test]
    fn pages_are_numbered_both_ways() {
        for address in [DEVICE_BASE, DEVICE_BASE + (5 << 30), DEVICE_BASE - 4096, DEVICE_BASE - (400 << 20)] {
            assert_eq!(address_of(page_of(address)), address);
            assert_eq!(page_of(address + 4095), page_of(address));
        }
        assert_eq!(page_of(DEVICE_BASE - 1), u32::MAX);
    }

    #[test]
    fn what_is_written_is_told_and_stays_until_it_is_forgotten() {
        let mut far = FarPages::default();
        assert_eq!(far.page(7, || None), Some(&[0; PAGE]));
        far.page_mut(9, 1..2, || Some(Arc::new([3; PAGE]))).unwrap()[1] = 4;
        assert!(far.written().map(|(number, page)| (number, page[0], page[1])).eq([(9, 3, 4)]));
        let mut kept = Vec::new();
        far.freeze(|number, page| kept.push((number, page[1])));
        assert_eq!((kept, far.written().count()), (vec![(9, 4)], 0));
        assert_eq!(far.page(9, || None).map(|page| page[1]), Some(4));
        far.clear();
        assert_eq!(far.page(9, || None).map(|page| page[1]), Some(0));
        far.page_mut(8, 60..70, || None).unwrap()[60..70].fill(1);
        assert_eq!((far.written_lines(8), far.written_lines(9)), (0b11, 0));
        far.clear();
        // Whatever page it is that is used again.
        for number in 0..2 {
            assert_eq!(far.page_mut(number, 4000..PAGE, || None), Some(&mut [0; PAGE]));
            assert_eq!(far.written_lines(number), 0b11 << 62);
        }
    }

    #[test]
    fn what_is_mapped_far_away_holds_zeros_until_it_is_written_and_is_told() {
        let mut memory = GlobalMemory::new();
        let at = memory.allocate(16).unwrap();
        for far in [at - 4096, at - (256 << 20), at + (2 << 20), at + (64 << 20) + 8] {
            assert_eq!(memory.read::<4>(far), Ok([0; 4]));
            assert_eq!(memory.write::<4>(far, [1, 2, 3, 4]), Ok(()));
            assert_eq!(memory.read::<2>(far + 2), Ok([3, 4]));
            let number = memory.page_number(far).unwrap();
            assert!(memory.written().any(|(page, bytes)| page == number && bytes[far as usize % PAGE] == 1));
            assert_eq!(memory.numbered(number).map(|page| page[far as usize % PAGE + 1]), Some(2));
        }
        let mut history = History::default();
        history.commit(&mut memory, 0);
        assert_eq!((memory.written().count(), history.written().count()), (0, 4));
        let history: Arc<dyn Pages> = Arc::new(history);
        let mut fresh = GlobalMemory::new();
        fresh.reset(&history, Version::before(0));
        assert_eq!(fresh.read::<4>(at - 4096), Ok([1, 2, 3, 4]));
        assert_eq!(fresh.write::<4>(at - 4096, [9; 4]), Ok(()));
        fresh.reset(&history, Version::before(0));
        assert_eq!(fresh.read::<4>(at - 4096), Ok([1, 2, 3, 4]));
    }
}
