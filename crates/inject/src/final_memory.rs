//! What memory holds at the end of a faulty run, as what it does not share with the golden run.

use crate::golden::Golden;
use simt::memory::window::DEVICE_BASE;
use simt::memory::{ByteSet, GlobalMemory, PAGE, Page, Version};

/// The bytes that differ from the golden run's at its end, by address. Equal for two runs if and only if their memory
/// is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FinalMemory(Vec<(u64, Vec<u8>)>);

impl FinalMemory {
    /// How a memory differs from that of the golden run at its end.
    pub(crate) fn of(golden: &Golden, memory: &mut GlobalMemory) -> Self {
        let end = Version::before(golden.capsule.events.len() as u32);
        let beyond = memory.written().map(|(page, _)| page).filter(|page| *page >= golden.pages);
        let mut beyond: Vec<u32> = beyond.collect();
        beyond.sort_unstable();
        let mut found = Self::default();
        for page in (0..golden.pages).chain(beyond) {
            let values = memory.numbered(page).unwrap_or(&[0; PAGE]);
            let expected = golden.history.page(page, end);
            found.add(page, &ByteSet::differing(expected.as_deref().unwrap_or(&[0; PAGE]), values), values);
        }
        found
    }

    /// Adds what differs in a page, which comes after those that were added before.
    pub(crate) fn add(&mut self, page: u32, differs: &ByteSet, values: &Page) {
        let start = DEVICE_BASE + u64::from(page) * PAGE as u64;
        self.0.extend(differs.runs().map(|run| (start + run.start as u64, values[run].to_vec())));
    }

    /// How many bytes differ.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|(_, bytes)| bytes.len()).sum()
    }
}
