//! Which bytes of global memory a block reads and writes, exactly.

use super::page::PAGE;
use std::collections::BTreeMap;

/// Words of a bit set with a bit for every byte of a page.
const WORDS: usize = PAGE / 64;

/// A set of the bytes of one page.
pub type ByteSet = [u64; WORDS];

/// Neighbouring bytes, by the page they are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// The page.
    pub page: u32,
    /// The first byte in the page.
    pub from: u16,
    /// One past the last, at most the size of a page.
    pub to: u16,
}

impl Run {
    /// How many bytes.
    #[must_use]
    pub fn len(self) -> usize {
        usize::from(self.to - self.from)
    }

    /// Never: a run has at least one byte.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.from == self.to
    }

    /// The bytes within the page.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        usize::from(self.from)..usize::from(self.to)
    }
}

/// Bytes touched since the trace was last taken.
#[derive(Debug, Default)]
pub struct Trace {
    read: BTreeMap<u32, Box<ByteSet>>,
    written: BTreeMap<u32, Box<ByteSet>>,
}

/// Adds the bytes `from..to` to a set.
pub fn insert(set: &mut ByteSet, from: usize, to: usize) {
    for word in from / 64..to.div_ceil(64) {
        let low = from.saturating_sub(word * 64).min(64) as u32;
        let high = (to - word * 64).min(64) as u32;
        let below = |bits: u32| if bits == 64 { u64::MAX } else { (1u64 << bits) - 1 };
        set[word] |= below(high) & !below(low);
    }
}

/// The runs of a set, ascending.
pub fn runs(page: u32, set: &ByteSet) -> impl Iterator<Item = Run> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let from = next(set, at, true)?;
        let to = next(set, from, false).unwrap_or(PAGE);
        at = to;
        Some(Run { page, from: from as u16, to: to as u16 })
    })
}

/// The first byte from `at` on that is, or is not, in a set.
fn next(set: &ByteSet, at: usize, wanted: bool) -> Option<usize> {
    let mut at = at;
    while at < PAGE {
        let word = if wanted { set[at / 64] } else { !set[at / 64] } >> (at % 64);
        if word != 0 {
            return Some(at + word.trailing_zeros() as usize);
        }
        at = (at / 64 + 1) * 64;
    }
    None
}

impl Trace {
    /// Notes a read.
    pub(crate) fn read(&mut self, page: u32, from: usize, to: usize) {
        insert(self.read.entry(page).or_insert_with(|| Box::new([0; WORDS])), from, to);
    }

    /// Notes a write.
    pub(crate) fn wrote(&mut self, page: u32, from: usize, to: usize) {
        insert(self.written.entry(page).or_insert_with(|| Box::new([0; WORDS])), from, to);
    }

    /// What was read and what was written, ascending; forgets both.
    pub fn take(&mut self) -> (Vec<Run>, Vec<Run>) {
        let list = |sets: BTreeMap<u32, Box<ByteSet>>| {
            sets.iter().flat_map(|(&page, set)| runs(page, set).collect::<Vec<_>>()).collect()
        };
        (list(std::mem::take(&mut self.read)), list(std::mem::take(&mut self.written)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_accesses_are_one_run() {
        let mut trace = Trace::default();
        for lane in (0..32).rev() {
            trace.read(7, 60 + lane * 4, 64 + lane * 4);
        }
        trace.read(7, 4092, 4096);
        trace.wrote(2, 0, 4096);
        let (read, written) = trace.take();
        assert_eq!(read, [Run { page: 7, from: 60, to: 188 }, Run { page: 7, from: 4092, to: 4096 }]);
        assert_eq!(written, [Run { page: 2, from: 0, to: 4096 }]);
        assert_eq!(trace.take(), (vec![], vec![]));
    }

    #[test]
    fn sets_hold_exactly_what_was_inserted() {
        for (from, to) in [(0, 1), (63, 65), (64, 128), (1, 4096), (4095, 4096), (100, 300)] {
            let mut set = [0; WORDS];
            insert(&mut set, from, to);
            let count: u32 = set.iter().map(|word| word.count_ones()).sum();
            assert_eq!(count as usize, to - from);
            assert_eq!(runs(0, &set).collect::<Vec<_>>(), [Run { page: 0, from: from as u16, to: to as u16 }]);
        }
    }
}
