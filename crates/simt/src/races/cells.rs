//! The accesses to the words of shared and of global memory, as far as they are kept.

use super::cell::Cell;
use crate::memory::PAGE;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, TryReserveError};

/// Words of a page.
const WORDS: usize = PAGE / 4;
/// Pages of global memory whose accesses are kept, at most.
const MOST_PAGES: usize = 2048;
/// Words of shared memory, at most; what lies beyond traps.
const MOST_SHARED: usize = 1 << 20;
/// Pages that are found without a search.
const RECENT: usize = 16;

/// The accesses to a word of global memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct GlobalWord {
    /// By blocks.
    pub(super) blocks: Cell,
    /// By the warps of `block`.
    warps: Cell,
    /// The block whose warps are in `warps`.
    block: u32,
}

impl GlobalWord {
    const NONE: Self = Self { blocks: Cell::NONE, warps: Cell::NONE, block: 0 };

    /// The accesses by the warps of a block, of which there are none before its first.
    pub(super) fn warps_of(&mut self, block: u32) -> &mut Cell {
        if self.block != block {
            (self.block, self.warps) = (block, Cell::NONE);
        }
        &mut self.warps
    }
}

/// The words of global memory, in pages that are made when they are first accessed.
#[derive(Debug)]
pub(super) struct GlobalCells {
    pages: Vec<Box<[GlobalWord]>>,
    by_number: HashMap<u64, usize>,
    /// Numbers of pages, and where they are.
    recent: [(u64, usize); RECENT],
}

impl Default for GlobalCells {
    fn default() -> Self {
        Self { pages: Vec::new(), by_number: HashMap::new(), recent: [(u64::MAX, 0); RECENT] }
    }
}

impl GlobalCells {
    /// A word; none beyond the pages that are kept.
    pub(super) fn word(&mut self, word: u64) -> Result<Option<&mut GlobalWord>, TryReserveError> {
        let (page, index) = (word / WORDS as u64, (word % WORDS as u64) as usize);
        let recent = page as usize % RECENT;
        if self.recent[recent].0 != page {
            let Some(at) = self.page(page)? else { return Ok(None) };
            self.recent[recent] = (page, at);
        }
        Ok(self.pages[self.recent[recent].1].get_mut(index))
    }

    fn page(&mut self, page: u64) -> Result<Option<usize>, TryReserveError> {
        let at = self.pages.len();
        match self.by_number.entry(page) {
            Entry::Occupied(known) => return Ok(Some(*known.get())),
            Entry::Vacant(_) if at >= MOST_PAGES => return Ok(None),
            Entry::Vacant(place) => {
                let mut words = Vec::new();
                words.try_reserve_exact(WORDS)?;
                words.resize(WORDS, GlobalWord::NONE);
                self.pages.push(words.into());
                place.insert(at);
            }
        }
        Ok(Some(at))
    }
}

/// The words of the shared memory of a block.
#[derive(Debug, Default)]
pub(super) struct SharedCells {
    words: Vec<Cell>,
}

impl SharedCells {
    /// Nothing was accessed yet.
    pub(super) fn clear(&mut self) {
        self.words.clear();
    }

    /// A word.
    pub(super) fn word(&mut self, word: u64) -> Option<&mut Cell> {
        let index = usize::try_from(word).ok().filter(|index| *index < MOST_SHARED)?;
        if self.words.len() <= index {
            self.words.resize(index + 1, Cell::NONE);
        }
        self.words.get_mut(index)
    }
}
