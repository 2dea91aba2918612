//! How the memory of a faulty run differs from the golden run's at the same moment.

use capsule::Region;
use simt::memory::{ByteRun, ByteSet, PAGE, Page, Strewn, address_of, each_line, page_of};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::{Range, RangeInclusive};

/// Pages that are kept to be used again, at most.
const MOST_SPARE: usize = 1 << 14;

/// The bytes that differ, and the values they have in the faulty run.
#[derive(Debug, Default)]
pub(crate) struct Difference {
    patches: BTreeMap<u32, Box<Patch>>,
    /// Stores of the faulty run to pages that the golden run never writes. Before anybody but copies and fills, which see to it
    /// themselves, asks for bytes of such a page it is to be [settled](Self::settle).
    strewn: Strewn,
    spare: Vec<Box<Patch>>,
}

/// The part of a difference that lies in one page.
#[derive(Debug)]
struct Patch {
    differs: ByteSet,
    /// What the faulty run holds; right where `differs` says.
    values: Page,
}

impl Difference {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.spare.extend(std::mem::take(&mut self.patches).into_values());
        self.spare.truncate(MOST_SPARE);
        self.strewn.clear();
    }

    /// The faulty run has stored this, too, in pages that the golden run never writes.
    pub(crate) fn strew(&mut self, strewn: Strewn) {
        self.strewn = strewn;
    }

    /// What is strewn.
    pub(crate) fn strewn(&self) -> &Strewn {
        &self.strewn
    }

    /// Takes what is strewn byte by byte, as all else.
    pub(crate) fn settle(&mut self) {
        let strewn = std::mem::take(&mut self.strewn);
        let mut found = [0; PAGE];
        for page in strewn.pages() {
            let lines = strewn.store(page, &mut found);
            self.compare(page, lines, None, &found);
            each_line(lines).for_each(|line| found[line].fill(0));
        }
    }

    /// Somebody asks for bytes of a region.
    fn meet(&mut self, region: &Region) {
        if !self.strewn.is_empty() && region.rows().any(|(address, bytes)| self.strewn.meets(address, bytes)) {
            self.settle();
        }
    }

    /// Whether nothing differs in these pages.
    pub(crate) fn is_blank(&self, pages: RangeInclusive<u32>) -> bool {
        self.strewn.is_empty() && self.patches.range(pages).next().is_none()
    }

    /// Exactly these bytes differ, and hold these values in the faulty run.
    pub(crate) fn set(&mut self, bytes: &[(u64, u8)]) {
        self.clear();
        for &(address, value) in bytes {
            for run in ByteRun::of(address, 1) {
                self.differ(run.page, usize::from(run.from), value);
            }
        }
    }

    /// Whether nothing differs but perhaps what is strewn.
    pub(crate) fn is_empty(&self) -> bool {
        self.patches.is_empty()
    }

    /// The pages that differ, ascending.
    pub(crate) fn pages(&self) -> impl Iterator<Item = u32> + '_ {
        self.patches.keys().copied()
    }

    /// The pages that differ, ascending, which of their bytes do, and bytes that are right there.
    pub(crate) fn pages_with_values(&self) -> impl Iterator<Item = (u32, &ByteSet, &Page)> {
        self.patches.iter().map(|(&page, patch)| (page, &patch.differs, &patch.values))
    }

    /// The bytes of a page that differ, if any do.
    pub(crate) fn of_page(&self, page: u32) -> Option<&ByteSet> {
        self.patches.get(&page).map(|patch| &patch.differs)
    }

    /// Compares these lines of a page anew; a page that does not exist yet is zero.
    pub(crate) fn compare(&mut self, page: u32, lines: u64, golden: Option<&Page>, found: &Page) {
        let golden = golden.unwrap_or(&[0; PAGE]);
        if !self.patches.contains_key(&page) && each_line(lines).all(|line| golden[line.clone()] == found[line]) {
            return;
        }
        let patch = self.patch(page);
        patch.differs.differ_in(lines, golden, found);
        each_line(lines).for_each(|line| patch.values[line.clone()].copy_from_slice(&found[line]));
        if patch.differs.is_empty() {
            self.patches.remove(&page);
        }
    }

    /// Both runs now hold the same in these bytes of a page.
    pub(crate) fn agree(&mut self, page: u32, bytes: Range<usize>) {
        if let Entry::Occupied(mut entry) = self.patches.entry(page) {
            entry.get_mut().differs.remove(bytes);
            if entry.get().differs.is_empty() {
                entry.remove();
            }
        }
    }

    /// Both runs now hold the same in a region.
    pub(crate) fn agree_in(&mut self, region: &Region) {
        self.meet(region);
        if self.is_empty() {
            return;
        }
        for run in region.rows().flat_map(|(address, bytes)| ByteRun::of(address, bytes)) {
            self.agree(run.page, run.range());
        }
    }

    /// Both runs now hold the same in a range.
    pub(crate) fn agree_at(&mut self, address: u64, bytes: u64) {
        if self.strewn.meets(address, bytes) {
            self.settle();
        }
        for run in ByteRun::of(address, bytes) {
            self.agree(run.page, run.range());
        }
    }

    /// Makes a golden page the faulty run's.
    pub(crate) fn apply(&self, page: u32, bytes: &mut Page) {
        if let Some(patch) = self.patches.get(&page) {
            for run in patch.differs.runs() {
                bytes[run.clone()].copy_from_slice(&patch.values[run]);
            }
        }
    }

    /// What differs in a region: offsets in its packed bytes, ascending, and the faulty run's bytes there.
    pub(crate) fn packed(&mut self, region: &Region) -> Vec<(usize, &[u8])> {
        self.meet(region);
        let mut found = Vec::new();
        let mut offset = 0;
        if self.is_empty() {
            return found;
        }
        for (address, bytes) in region.rows() {
            found.extend(self.within(address, bytes).map(|(at, bytes)| (offset + at, bytes)));
            offset += bytes as usize;
        }
        found
    }

    /// What differs in a range: offsets in it, ascending, and the faulty run's bytes there. The cost is that of what
    /// differs, however long the range is.
    pub(crate) fn within(&self, address: u64, bytes: u64) -> impl Iterator<Item = (usize, &[u8])> {
        let end = address.saturating_add(bytes);
        let (first, last) = (page_of(address), page_of(end.saturating_sub(1).max(address)));
        // Pages below the first allocation have the largest numbers.
        let (most, rest) = if first <= last { (last, None) } else { (u32::MAX, Some(last)) };
        let rest = rest.into_iter().flat_map(|last| self.patches.range(..=last));
        self.patches.range(first..=most).chain(rest).flat_map(move |(&page, patch)| {
            let start = address_of(page);
            let within = |at: u64| at.saturating_sub(start).min(PAGE as u64) as usize;
            let range = within(address)..within(end);
            patch.differs.runs().filter_map(move |part| {
                let (from, to) = (part.start.max(range.start), part.end.min(range.end));
                (from < to).then(|| ((start + from as u64 - address) as usize, &patch.values[from..to]))
            })
        })
    }

    /// One region was copied to another in both runs.
    pub(crate) fn copied(&mut self, to: &Region, from: &Region) {
        let moved: Vec<(usize, Vec<u8>)> = self.packed(from).iter().map(|(at, bytes)| (*at, bytes.to_vec())).collect();
        self.agree_in(to);
        let mut moved = moved.iter().flat_map(|(at, bytes)| (*at..).zip(bytes)).peekable();
        let mut offset = 0;
        for run in to.rows().flat_map(|(address, bytes)| ByteRun::of(address, bytes)) {
            let range = run.range();
            while let Some((at, &byte)) = moved.next_if(|(at, _)| *at < offset + range.len()) {
                self.differ(run.page, range.start + at - offset, byte);
            }
            offset += range.len();
        }
    }

    /// The faulty run now holds another value in a byte.
    fn differ(&mut self, page: u32, at: usize, value: u8) {
        let patch = self.patch(page);
        patch.differs.insert(at..at + 1);
        patch.values[at] = value;
    }

    /// What differs in a page, to be changed.
    fn patch(&mut self, page: u32) -> &mut Patch {
        let Self { patches, spare, .. } = self;
        patches.entry(page).or_insert_with(|| match spare.pop() {
            Some(mut patch) => {
                patch.differs = ByteSet::default();
                patch
            }
            None => Box::new(Patch { differs: ByteSet::default(), values: [0; PAGE] }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simt::memory::window::DEVICE_BASE;

    fn region(at: u64, width: u64, height: u64, pitch: u64) -> Region {
        Region::pitched(DEVICE_BASE + at, width, height, pitch)
    }

    #[test]
    fn differences_follow_copies_and_end_where_both_write_the_same() {
        let golden = [0; PAGE];
        let mut found = golden;
        found[10..20].fill(7);
        let mut difference = Difference::default();
        difference.compare(0, u64::MAX, None, &found);
        difference.agree_at(DEVICE_BASE + 12, 2);
        let rows = region(8, 4, 2, 8);
        assert_eq!(difference.packed(&rows), [(2, &[7, 7][..]), (4, &[7, 7, 7, 7][..])]);
        difference.copied(&region(4094, 8, 1, 8), &rows);
        let bytes = |page| difference.of_page(page).map(|set| set.runs().collect::<Vec<_>>());
        assert_eq!(bytes(0), Some(vec![10..12, 14..20]));
        assert!(difference.of_page(1).is_some_and(|set| set.runs().eq(std::iter::once(0..6))));
        let mut page = golden;
        difference.apply(1, &mut page);
        assert_eq!(page[..8], [7, 7, 7, 7, 7, 7, 0, 0]);
        assert!(difference.within(DEVICE_BASE + 4098, 20).eq([(0, &[7; 4][..])]));
        difference.agree_in(&region(0, 8192, 1, 8192));
        assert!(difference.is_empty());
        // Below the first allocation.
        difference.set(&[(DEVICE_BASE - 1, 3), (DEVICE_BASE, 4)]);
        assert!(difference.within(DEVICE_BASE - 2, 4).eq([(1, &[3][..]), (2, &[4][..])]));
        assert_eq!(difference.within(DEVICE_BASE, 0).count(), 0);
    }
}
