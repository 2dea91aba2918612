//! What memory holds at the end of a faulty run, as what it does not share with the golden run.

use crate::golden::Golden;
use simt::memory::{ByteSet, GlobalMemory, PAGE, Page, Version, address_of};
use std::collections::BTreeSet;

/// The bytes that differ from the golden run's at its end, by address. Equal for two runs if and only if their memory
/// is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FinalMemory(Vec<(u64, Vec<u8>)>);

impl FinalMemory {
    /// How a memory differs from that of the golden run at its end.
    pub(crate) fn of(golden: &Golden, memory: &mut GlobalMemory) -> Self {
        let end = Version::before(golden.capsule.events.len() as u32);
        let mut pages: BTreeSet<u32> = memory.written().map(|(page, _)| page).collect();
        pages.extend(&golden.written);
        let mut found = Self::default();
        for page in pages {
            let values = memory.numbered(page).unwrap_or(&[0; PAGE]);
            let expected = golden.history.page(page, end);
            found.add(page, &ByteSet::differing(expected.as_deref().unwrap_or(&[0; PAGE]), values), values);
        }
        found
    }

    /// Adds what differs in a page, which comes after those that were added before.
    pub(crate) fn add(&mut self, page: u32, differs: &ByteSet, values: &Page) {
        let start = address_of(page);
        self.0.extend(differs.runs().map(|run| (start + run.start as u64, values[run].to_vec())));
    }

    /// How many bytes differ.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|(_, bytes)| bytes.len()).sum()
    }
}
