//! Sets of bytes of a page.

use super::window::PAGE;
use std::ops::Range;

/// Bytes of a line: a page has as many lines as a line has bytes.
pub const LINE: usize = 64;
const WORD: usize = LINE;

/// The bytes of each line of a page whose bit is set.
pub fn each_line(lines: u64) -> impl Iterator<Item = Range<usize>> {
    let mut left = lines;
    std::iter::from_fn(move || {
        let line = (left != 0).then(|| left.trailing_zeros() as usize)?;
        left &= left - 1;
        Some(line * LINE..(line + 1) * LINE)
    })
}

/// The lines that hold some of these bytes of a page.
pub(super) fn lines_of(bytes: Range<usize>) -> u64 {
    let Range { start, end } = bytes;
    if start >= end {
        return 0;
    }
    (u64::MAX >> (63 - (end - 1) / LINE)) & (u64::MAX << (start / LINE))
}

/// A set of the bytes of one page, a bit each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteSet([u64; PAGE / WORD]);

impl Default for ByteSet {
    fn default() -> Self {
        Self([0; PAGE / WORD])
    }
}

/// The bits of the bytes `range` that lie in each word, with the word's index.
fn words(range: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    let Range { start, end } = range;
    (start / WORD..end.div_ceil(WORD)).map(move |word| {
        let below = |byte: usize| match byte.saturating_sub(word * WORD) {
            bits @ 0..WORD => (1u64 << bits) - 1,
            _ => u64::MAX,
        };
        (word, below(end) & !below(start))
    })
}

impl ByteSet {
    /// The bytes in which two pages differ.
    #[must_use]
    pub fn differing(one: &[u8; PAGE], other: &[u8; PAGE]) -> Self {
        let mut set = Self::default();
        set.differ_in(u64::MAX, one, other);
        set
    }

    /// Looks again in which bytes two pages differ, in these of their lines.
    pub fn differ_in(&mut self, lines: u64, one: &[u8; PAGE], other: &[u8; PAGE]) {
        for line in each_line(lines) {
            let word = &mut self.0[line.start / WORD];
            *word = 0;
            let (one, other) = (&one[line.clone()], &other[line]);
            if one != other {
                let bits = one.iter().zip(other).enumerate();
                *word = bits.fold(0, |bits, (at, (one, other))| bits | (u64::from(one != other) << at));
            }
        }
    }

    /// Adds bytes.
    pub fn insert(&mut self, range: Range<usize>) {
        for (word, bits) in words(range) {
            self.0[word] |= bits;
        }
    }

    /// Takes bytes out.
    pub fn remove(&mut self, range: Range<usize>) {
        for (word, bits) in words(range) {
            self.0[word] &= !bits;
        }
    }

    /// Whether any of the bytes is in the set.
    #[must_use]
    pub fn intersects(&self, range: Range<usize>) -> bool {
        words(range).any(|(word, bits)| self.0[word] & bits != 0)
    }

    /// Whether no byte is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// The longest ranges of neighbouring bytes in the set, ascending.
    pub fn runs(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            let start = self.next(at, true)?;
            let end = self.next(start, false).unwrap_or(PAGE);
            at = end;
            Some(start..end)
        })
    }

    /// The first byte from `at` on that is, or is not, in the set.
    fn next(&self, at: usize, wanted: bool) -> Option<usize> {
        let mut at = at;
        while at < PAGE {
            let word = if wanted { self.0[at / WORD] } else { !self.0[at / WORD] } >> (at % WORD);
            if word != 0 {
                return Some(at + word.trailing_zeros() as usize);
            }
            at = (at / WORD + 1) * WORD;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_exactly_what_was_inserted_and_not_removed() {
        for (from, to) in [(0, 1), (63, 65), (64, 128), (1, 4096), (4095, 4096), (100, 300), (5, 5)] {
            let mut set = ByteSet::default();
            set.insert(from..to);
            let expected: Vec<_> = (from < to).then_some(from..to).into_iter().collect();
            assert_eq!(set.runs().collect::<Vec<_>>(), expected);
            assert_eq!(set.intersects(to.saturating_sub(1)..to), from < to);
            assert!(!set.intersects(to..PAGE) && !set.intersects(0..from));
            set.remove(from..to);
            assert!(set.is_empty());
        }
    }

    #[test]
    fn pages_differ_where_a_byte_does() {
        let (one, mut other) = ([7; PAGE], [7; PAGE]);
        assert!(ByteSet::differing(&one, &other).is_empty());
        for at in [0, 63, 64, 65, 4095] {
            other[at] = 8;
        }
        let set = ByteSet::differing(&one, &other);
        assert_eq!(set.runs().collect::<Vec<_>>(), [0..1, 63..66, 4095..4096]);
    }
}
