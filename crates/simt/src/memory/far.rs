//! Pages that are mapped although no allocation is near: what a stray access finds there. They are few and seldom touched.

use super::bytes::{each_line, lines_of};
use super::page::{Page, zeros};
use super::slot::Slot;
use super::strewn::{Strewn, Stride};
use super::window::PAGE;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

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
    /// What was stored besides, in pages that are not among them.
    strewn: Strewn,
    /// Zeros.
    spare: Vec<Box<Page>>,
}

impl FarPages {
    pub(super) fn clear(&mut self) {
        self.strewn.clear();
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
        self.pages.contains_key(&number) || self.strewn.covers(number)
    }

    /// The pages around one that was not touched, of these, which were not touched either.
    pub(super) fn untouched(&self, number: u32, among: RangeInclusive<u32>) -> RangeInclusive<u32> {
        if !self.strewn.is_empty() {
            return number..=number;
        }
        let (first, last) = among.into_inner();
        let below = self.pages.range(first..number).next_back().map_or(first, |(below, _)| below + 1);
        let above = self.pages.range(number..=last).next().map_or(last, |(above, _)| above - 1);
        below..=above
    }

    /// Keeps what a loop has stored without making pages of it; `recorded` says what a page is that was not touched.
    pub(super) fn strew(&mut self, strides: Vec<Stride>, recorded: impl Fn(u32) -> Option<Arc<Page>>) {
        let touched: Vec<u32> = self.pages.keys().copied().collect();
        let mut strewn = Strewn::default();
        strewn.push(strides.clone());
        for number in touched.into_iter().filter(|&number| strewn.covers(number)) {
            if let Some(page) = self.page_mut(number, 0..0, || recorded(number)) {
                let lines = strewn.store(number, page);
                self.pages.entry(number).or_default().written |= lines;
            }
        }
        self.strewn.push(strides);
    }

    pub(super) fn strewn(&self) -> &Strewn {
        &self.strewn
    }

    /// What is strewn over pages that were not touched; it is forgotten here.
    pub(super) fn take_strewn(&mut self) -> Strewn {
        let touched = self.pages.keys().copied().collect();
        std::mem::take(&mut self.strewn).apart_from(touched)
    }

    /// A page to be read; `recorded` says what it is if it was not touched.
    pub(super) fn page(&mut self, number: u32, recorded: impl FnOnce() -> Option<Arc<Page>>) -> Option<&Page> {
        if !self.pages.contains_key(&number) && self.strewn.covers(number) {
            return self.page_mut(number, 0..0, recorded).map(|page| &*page);
        }
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
            let (before, is_new) = match std::mem::take(slot) {
                Slot::Shared(page) => (Some(page), false),
                _ => (recorded(), true),
            };
            (*written, *is_blank) = (0, before.is_none());
            if let Some(before) = before {
                page.copy_from_slice(&*before);
            }
            if is_new {
                *written |= self.strewn.store(number, &mut page);
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
