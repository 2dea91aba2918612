//! What a block writes to global memory from one checkpoint to the next, and golden memory as those writes make it.

use simt::memory::{ByteRun, GlobalMemory, PAGE, Page};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What was written since the checkpoint before, by ascending page, as it is at the checkpoint.
#[derive(Debug, Default)]
pub(super) struct Writes {
    /// Each with the place of its bytes.
    runs: Vec<(ByteRun, usize)>,
    values: Vec<u8>,
}

impl Writes {
    /// The bytes that memory now has where something was written.
    pub(super) fn of(written: &[ByteRun], memory: &mut GlobalMemory) -> Self {
        let (mut runs, mut values) = (Vec::with_capacity(written.len()), Vec::new());
        for &run in written {
            if let Some(page) = memory.numbered(run.page) {
                runs.push((run, values.len()));
                values.extend_from_slice(&page[run.range()]);
            }
        }
        Self { runs, values }
    }

    /// The runs of bytes, with what they hold.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ByteRun, &[u8])> {
        self.runs.iter().map(|&(run, at)| (run, &self.values[at..at + run.range().len()]))
    }

    fn of_page(&self, page: u32) -> impl Iterator<Item = (ByteRun, &[u8])> {
        let from = self.runs.partition_point(|(run, _)| run.page < page);
        let of_page = self.runs[from..].iter().take_while(move |(run, _)| run.page == page);
        of_page.map(|&(run, at)| (run, &self.values[at..at + run.range().len()]))
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.runs[..]) + self.values.len()
    }
}

/// Golden memory at the checkpoints of a block, for a run that is compared with it at some of them, in their order.
/// However many those are, each write is applied once.
#[derive(Debug, Default)]
pub(crate) struct Track {
    /// The pages that were written up to the checkpoint that was asked for last, and how many checkpoints that are.
    written: BTreeSet<u32>,
    seen: usize,
    /// Pages as they were when they were compared last, and how many checkpoints are in them.
    pages: BTreeMap<u32, (Arc<Page>, usize)>,
}

impl Track {
    /// Whether memory is what the golden run's is after the writes up to a checkpoint, not before the one asked for last;
    /// `before` gives the pages before the block.
    pub(super) fn agrees(
        &mut self,
        writes: &[Writes],
        memory: &mut GlobalMemory,
        before: impl Fn(u32) -> Option<Arc<Page>>,
    ) -> bool {
        let new = &writes[self.seen.min(writes.len())..];
        self.written.extend(new.iter().flat_map(Writes::iter).map(|(run, _)| run.page));
        self.seen = writes.len();
        memory.settle();
        let mut pages: BTreeSet<u32> = memory.written().map(|(page, _)| page).collect();
        pages.extend(&self.written);
        pages.into_iter().all(|number| {
            let golden = self.page(number, writes, &before);
            memory.numbered(number).is_none_or(|found| found == golden)
        })
    }

    /// A page after these writes.
    fn page(&mut self, number: u32, writes: &[Writes], before: impl Fn(u32) -> Option<Arc<Page>>) -> &Page {
        let start = || (before(number).unwrap_or_else(|| Arc::new([0; PAGE])), 0);
        let (page, applied) = self.pages.entry(number).or_insert_with(start);
        for (run, values) in writes[*applied..].iter().flat_map(|writes| writes.of_page(number)) {
            Arc::make_mut(page)[run.range()].copy_from_slice(values);
        }
        *applied = writes.len();
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simt::memory::window::DEVICE_BASE;

    const PAGES: u64 = 3;

    fn memory() -> GlobalMemory {
        let mut memory = GlobalMemory::new();
        memory.place(DEVICE_BASE, PAGES * PAGE as u64).unwrap();
        memory
    }

    /// Writes a byte at each of these offsets, and keeps what was written.
    fn write(memory: &mut GlobalMemory, bytes: &[(u64, u8)]) -> Writes {
        let runs: Vec<ByteRun> = bytes.iter().flat_map(|&(at, _)| ByteRun::of(DEVICE_BASE + at, 1)).collect();
        bytes.iter().for_each(|&(at, byte)| assert!(memory.copy_in(DEVICE_BASE + at, &[byte])));
        Writes::of(&runs, memory)
    }

    #[test]
    fn golden_memory_is_followed_from_checkpoint_to_checkpoint_and_each_write_applied_once() {
        let mut golden = memory();
        let steps: [&[(u64, u8)]; 4] = [&[(0, 1)], &[(0, 2), (PAGE as u64, 3)], &[(5, 4)], &[(1, 9)]];
        let writes = steps.map(|step| write(&mut golden, step));
        let (mut found, mut track) = (memory(), Track::default());
        let before = |_: u32| None;
        assert!(!track.agrees(&writes[..1], &mut found, before));
        write(&mut found, &[(0, 1)]);
        assert!(track.agrees(&writes[..1], &mut found, before));
        write(&mut found, &[(0, 2), (5, 4)]);
        assert!(!track.agrees(&writes[..3], &mut found, before), "the second page was not written");
        write(&mut found, &[(PAGE as u64, 3)]);
        assert!(track.agrees(&writes[..3], &mut found, before));
        assert!(track.pages.values().all(|(_, applied)| *applied == 3));
        write(&mut found, &[(1, 9), (2 * PAGE as u64, 7)]);
        assert!(!track.agrees(&writes, &mut found, before), "the run wrote where the golden run did not");
    }
}
