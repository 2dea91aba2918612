//! Global memory far from every allocation, where what loops store may wait for who looks there, and what was never written.

use super::global::GlobalMemory;
use super::page::{address_of, page_of};
use super::slot::Slot;
use super::strewn::{Strewn, Stride};
use super::window::PAGE;
use std::ops::Range;

/// How many pages on either side of one are looked at, to see whether they were ever written, too.
const AROUND: u32 = 1 << 9;

impl GlobalMemory {
    /// Until the next reset, lets what loops store far from every allocation be [strewn](Self::strewn): before anybody asks
    /// for what was [written](Self::written), it is [settled](Self::settle) or [taken](Self::take_strewn).
    pub fn defer(&mut self) {
        self.defers = true;
    }

    /// Whether what loops store far away may be strewn.
    pub(crate) fn defers(&self) -> bool {
        self.defers && self.trace.is_none()
    }

    /// Keeps what a loop has stored far from every allocation.
    pub(crate) fn strew(&mut self, strides: Vec<Stride>) {
        let (source, version) = (&self.source, self.version);
        self.far.strew(strides, |number| source.as_ref()?.page(number, version));
    }

    /// What was stored far from every allocation and is in no page yet.
    #[must_use]
    pub fn strewn(&self) -> &Strewn {
        self.far.strewn()
    }

    /// Hands over what is strewn: pages that it says nothing of hold what they hold here.
    pub fn take_strewn(&mut self) -> Strewn {
        self.far.take_strewn()
    }

    /// Makes pages of what is strewn.
    pub fn settle(&mut self) {
        for page in self.strewn().pages() {
            let _ = self.far_page_mut(address_of(page), 0..0);
        }
        let _ = self.take_strewn();
    }

    /// The addresses of the page that holds an address, if nothing was ever written there: zeros. Far from every allocation
    /// those of pages around it may be among them.
    pub(crate) fn blank(&self, address: u64) -> Option<Range<u64>> {
        let number = page_of(address);
        let is_blank = |pages| self.source.as_ref().is_none_or(|source| source.is_blank(pages));
        let recorded = || self.source.as_ref().is_some_and(|source| source.page(number, self.version).is_some());
        let own = address_of(number)..address_of(number) + PAGE as u64;
        if let Some(index) = self.index(address) {
            return (matches!(self.slots[index], Slot::Absent) && !recorded()).then_some(own);
        }
        let stretch = self.allocations.far_around(address)?;
        if self.far.is_touched(number) {
            return None;
        }
        let around = number.saturating_sub(AROUND)..=number.saturating_add(AROUND);
        let pages = self.far.untouched(number, around);
        if is_blank(pages.clone()) {
            let (first, last) = (address_of(*pages.start()), address_of(*pages.end()) + PAGE as u64);
            return Some(first.max(stretch.start)..last.min(stretch.end));
        }
        (!recorded()).then_some(own)
    }
}
