//! One launch of the golden index.

use super::checkpoints::Checkpoints;
use super::ends::ByteRange;
use simt::memory::{ByteRun, ByteSet, PAGE, Page};
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

/// Writes of a page between two of its images: to have it before a block, at most this many are repeated.
const WRITES_BETWEEN_IMAGES: usize = 64;

/// Bytes that a block reads.
#[derive(Clone, Copy, Debug)]
struct Read {
    block: u32,
    run: ByteRun,
}

/// Bytes that a block leaves behind.
#[derive(Clone, Copy, Debug)]
struct Write {
    block: u32,
    run: ByteRun,
    /// Where the values are.
    at: usize,
}

/// What the blocks of a launch do, by page and then by block.
#[derive(Debug, Default)]
pub(crate) struct LaunchAccesses {
    /// Its event.
    pub(crate) event: u32,
    reads: Vec<Read>,
    writes: Vec<Write>,
    values: Vec<u8>,
    /// Pages that are written often, as they are before a block: by page and then by block.
    images: Vec<(u32, u32, Arc<Page>)>,
    /// For each block, the end of its part of `written`.
    ends: Vec<u32>,
    /// The pages that each block writes.
    written: Vec<u32>,
    /// Accesses outside every allocation in the blocks up to and with each.
    strayed: Vec<u64>,
    /// Of the blocks that have some.
    checkpoints: BTreeMap<u32, Checkpoints>,
    /// Bytes of all of them.
    kept: usize,
}

/// The part of a list, ordered by page and block, that is about one page from one block on.
fn of_page<T>(list: &[T], page: u32, from: u32, key: impl Fn(&T) -> (u32, u32)) -> &[T] {
    let start = list.partition_point(|item| key(item) < (page, from));
    let list = &list[start..];
    // Most pages have few entries: look ahead in growing steps.
    let mut step = 1;
    while list.get(step).is_some_and(|item| key(item).0 == page) {
        step *= 2;
    }
    let end = list[..step.min(list.len())].partition_point(|item| key(item).0 == page);
    &list[..end]
}

/// Whether a list, ordered by page, has something about one of these pages.
fn has_some<T>(list: &[T], pages: &RangeInclusive<u32>, page: impl Fn(&T) -> u32) -> bool {
    let start = list.partition_point(|item| page(item) < *pages.start());
    list.get(start).is_some_and(|item| page(item) <= *pages.end())
}

impl Read {
    fn key(&self) -> (u32, u32) {
        (self.run.page, self.block)
    }
}

impl Write {
    fn key(&self) -> (u32, u32) {
        (self.run.page, self.block)
    }
}

impl LaunchAccesses {
    pub(super) fn new(event: u32) -> Self {
        Self { event, ..Self::default() }
    }

    /// Adds what the next block did.
    pub(super) fn push(
        &mut self,
        reads: &[ByteRun],
        writes: &[ByteRun],
        mut value: impl FnMut(ByteRun, &mut Vec<u8>),
        strayed: u64,
    ) {
        let block = self.ends.len() as u32;
        self.reads.extend(reads.iter().map(|&run| Read { block, run }));
        for &run in writes {
            self.writes.push(Write { block, run, at: self.values.len() });
            value(run, &mut self.values);
            if self.written.get(self.start(block)..).is_none_or(|pages| pages.last() != Some(&run.page)) {
                self.written.push(run.page);
            }
        }
        self.ends.push(self.written.len() as u32);
        self.strayed.push(self.strayed.last().unwrap_or(&0) + strayed);
    }

    /// Adds the checkpoints of a block.
    pub(super) fn keep(&mut self, block: u32, checkpoints: Checkpoints) {
        if !checkpoints.is_empty() {
            self.kept += checkpoints.bytes();
            self.checkpoints.insert(block, checkpoints);
        }
    }

    /// To be called when every block is in; `page` gives the pages as they are before the launch.
    pub(super) fn finish(&mut self, page: impl Fn(u32) -> Option<Arc<Page>>) {
        self.reads.sort_by_key(Read::key);
        self.writes.sort_by_key(Write::key);
        let mut images = Vec::new();
        for writes in self.writes.chunk_by(|one, other| one.run.page == other.run.page) {
            let number = writes[0].run.page;
            let mut image: Option<Page> = None;
            for (count, write) in writes.iter().enumerate() {
                let new_block = count > 0 && writes[count - 1].block != write.block;
                let since = images.last().map_or(0, |&(last, _, _, count)| if last == number { count } else { 0 });
                if new_block && count - since >= WRITES_BETWEEN_IMAGES {
                    let image = image.get_or_insert_with(|| page(number).map_or([0; PAGE], |page| *page));
                    writes[since..count].iter().for_each(|write| self.repeat(write, image));
                    images.push((number, write.block, Arc::new(*image), count));
                }
            }
        }
        self.images = images.into_iter().map(|(page, block, image, _)| (page, block, image)).collect();
        self.reads.shrink_to_fit();
        self.writes.shrink_to_fit();
    }

    fn repeat(&self, write: &Write, page: &mut Page) {
        let range = write.run.range();
        let from = write.at;
        page[range.clone()].copy_from_slice(&self.values[from..from + range.len()]);
    }

    fn start(&self, block: u32) -> usize {
        block.checked_sub(1).map_or(0, |before| self.ends[before as usize] as usize)
    }

    /// How many blocks there are.
    pub(crate) fn blocks(&self) -> u32 {
        self.ends.len() as u32
    }

    /// The pages that a block writes, ascending.
    pub(crate) fn written(&self, block: u32) -> &[u32] {
        &self.written[self.start(block)..self.ends[block as usize] as usize]
    }

    /// Bytes that it takes, with its checkpoints.
    pub(crate) fn bytes(&self) -> usize {
        let lists = size_of_val(&self.reads[..]) + size_of_val(&self.writes[..]) + self.values.len();
        let blocks = size_of_val(&self.ends[..]) + size_of_val(&self.written[..]) + size_of_val(&self.strayed[..]);
        lists + blocks + self.images.len() * PAGE + self.kept
    }

    /// Bytes that its checkpoints take.
    pub(crate) fn checkpoint_bytes(&self) -> usize {
        self.kept
    }

    /// The checkpoints of a block, if it has some.
    pub(crate) fn checkpoints(&self, block: u32) -> Option<&Checkpoints> {
        self.checkpoints.get(&block)
    }

    /// Accesses outside every allocation in a block.
    pub(crate) fn strayed_in(&self, block: u32) -> u64 {
        self.strayed_before(block + 1) - self.strayed_before(block)
    }

    /// Accesses outside every allocation in the blocks before one.
    pub(crate) fn strayed_before(&self, block: u32) -> u64 {
        block.checked_sub(1).map_or(0, |before| self.strayed[before as usize])
    }

    /// A page before a block, from the page before the launch.
    pub(super) fn page(&self, page: u32, block: u32, base: Option<Arc<Page>>) -> Option<Arc<Page>> {
        let images = &self.images;
        let after = images.partition_point(|&(p, b, _)| (p, b) <= (page, block));
        let image = images[..after].last().filter(|(number, _, _)| *number == page);
        let from = image.map_or(0, |&(_, block, _)| block);
        let writes = of_page(&self.writes, page, from, Write::key);
        let writes = &writes[..writes.partition_point(|write| write.block < block)];
        let start = image.map(|(_, _, image)| Arc::clone(image)).or(base);
        if writes.is_empty() {
            return start;
        }
        let mut bytes = start.unwrap_or_else(|| Arc::new([0; PAGE]));
        let own = Arc::make_mut(&mut bytes);
        writes.iter().for_each(|write| self.repeat(write, own));
        Some(bytes)
    }

    /// The first block from `from` on that reads or writes some of these bytes of a page.
    pub(crate) fn next(&self, page: u32, bytes: &ByteSet, from: u32) -> Option<u32> {
        let reads = of_page(&self.reads, page, from, Read::key);
        let read = reads.iter().find(|read| bytes.intersects(read.run.range())).map(|read| read.block);
        let writes = of_page(&self.writes, page, from, Write::key).iter();
        let mut writes = writes.take_while(|write| read.is_none_or(|read| write.block < read));
        writes.find(|write| bytes.intersects(write.run.range())).map(|write| write.block).or(read)
    }

    /// Whether a block reads some of these bytes of a page.
    pub(crate) fn reads(&self, page: u32, bytes: &ByteSet, block: u32) -> bool {
        let reads = of_page(&self.reads, page, block, Read::key).iter();
        reads.take_while(|read| read.block == block).any(|read| bytes.intersects(read.run.range()))
    }

    /// Whether some block reads or writes one of these pages.
    pub(crate) fn touches(&self, pages: &RangeInclusive<u32>) -> bool {
        has_some(&self.reads, pages, |read| read.run.page) || has_some(&self.writes, pages, |write| write.run.page)
    }

    /// Whether some block reads bytes of a range.
    pub(crate) fn reads_some(&self, range: ByteRange) -> bool {
        range.meet(&self.reads, |read| read.run)
    }

    /// Whether some block writes bytes of a range.
    pub(crate) fn writes_some(&self, range: ByteRange) -> bool {
        range.meet(&self.writes, |write| write.run)
    }

    /// The bytes of a page that a block writes.
    pub(crate) fn writes(&self, page: u32, block: u32) -> impl Iterator<Item = Range<usize>> {
        let writes = of_page(&self.writes, page, block, Write::key).iter();
        writes.take_while(move |write| write.block == block).map(|write| write.run.range())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(page: u32, from: u16, to: u16) -> ByteRun {
        ByteRun { page, from, to }
    }

    /// Block `b` of 300 reads byte `b` of page 2 and writes `b` to byte `b % 7` of page 1.
    fn index() -> LaunchAccesses {
        let mut index = LaunchAccesses::new(0);
        for block in 0..300u16 {
            let at = block % 7;
            index.push(&[run(2, block, block + 1)], &[run(1, at, at + 1)], |_, values| values.push(block as u8), 1);
        }
        index.finish(|_| None);
        index
    }

    #[test]
    fn pages_are_as_before_every_block() {
        let index = index();
        assert!(!index.images.is_empty());
        let mut expected = [0; PAGE];
        for block in 0..300u32 {
            let page = index.page(1, block, None);
            assert_eq!(*page.unwrap_or_else(|| Arc::new([0; PAGE])), expected, "before block {block}");
            expected[block as usize % 7] = block as u8;
        }
        assert_eq!(*index.page(1, 300, None).unwrap(), expected);
        assert_eq!(index.page(2, 300, None), None);
    }

    #[test]
    fn the_next_block_that_touches_bytes_is_found() {
        let index = index();
        let mut bytes = ByteSet::default();
        bytes.insert(3..4);
        assert_eq!(index.next(2, &bytes, 0), Some(3));
        assert_eq!(index.next(2, &bytes, 4), None);
        assert_eq!(index.next(1, &bytes, 4), Some(10));
        assert!(index.reads(2, &bytes, 3) && !index.reads(2, &bytes, 4) && !index.reads(1, &bytes, 3));
        assert!(index.writes(1, 3).eq(std::iter::once(3..4)));
        assert_eq!((index.written(8), index.strayed_before(8)), (&[1][..], 8));
        assert!(
            index.touches(&(0..=1)) && index.touches(&(2..=9)) && !index.touches(&(0..=0)) && !index.touches(&(3..=9))
        );
    }
}
