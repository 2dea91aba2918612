//! Numbers of threads, put together thread by thread.

use crate::counts::Counts;
use crate::view::SEGMENT;
use std::collections::HashMap;

/// Numbers that are being put together.
#[derive(Debug)]
pub struct CountsWriter<T> {
    counts: Counts<T>,
    /// The segment that has begun.
    begun: Vec<T>,
    /// By a hash, the last segment that has it. Of segments with the same hash the earlier ones are not found again, which
    /// costs memory alone.
    known: HashMap<u64, u32>,
}

impl<T> Default for CountsWriter<T> {
    fn default() -> Self {
        let counts = Counts { threads: 0, different: Vec::new(), segments: Vec::new() };
        Self { counts, begun: Vec::new(), known: HashMap::new() }
    }
}

impl<T: Copy + Eq + Into<u64>> CountsWriter<T> {
    /// Adds the numbers of the next threads.
    pub fn extend(&mut self, numbers: impl IntoIterator<Item = T>) {
        for number in numbers {
            self.begun.push(number);
            if self.begun.len() == SEGMENT {
                self.close();
            }
        }
    }

    /// Adds the same number for the next threads, until there are so many.
    pub fn fill(&mut self, number: T, threads: u64) {
        let missing = threads.saturating_sub(self.counts.threads + self.begun.len() as u64);
        self.extend((0..missing).map(|_| number));
    }

    /// The numbers.
    #[must_use]
    pub fn finish(mut self) -> Counts<T> {
        if !self.begun.is_empty() {
            let which = self.keep();
            self.segment_is(which);
        }
        self.counts.different.shrink_to_fit();
        self.counts.segments.shrink_to_fit();
        self.counts
    }

    /// A segment is full.
    fn close(&mut self) {
        let last = self.counts.segments.last().copied();
        let which = last.filter(|&which| self.is(which)).unwrap_or_else(|| self.find_or_keep());
        self.segment_is(which);
    }

    /// Which of the segments that differ the one that has begun is, or now becomes.
    fn find_or_keep(&mut self) -> u32 {
        let hash = hash(&self.begun);
        let known = self.known.get(&hash).copied();
        known.filter(|&which| self.is(which)).unwrap_or_else(|| {
            let which = self.keep();
            self.known.insert(hash, which);
            which
        })
    }

    /// The segment that has begun joins those that differ.
    fn keep(&mut self) -> u32 {
        let which = (self.counts.different.len() / SEGMENT) as u32;
        self.counts.different.extend_from_slice(&self.begun);
        which
    }

    /// The segment that has begun is done.
    fn segment_is(&mut self, which: u32) {
        self.counts.segments.push(which);
        self.counts.threads += self.begun.len() as u64;
        self.begun.clear();
    }

    fn is(&self, which: u32) -> bool {
        let start = which as usize * SEGMENT;
        self.counts.different.get(start..start + SEGMENT) == Some(&self.begun[..])
    }
}

impl<T: Copy + Eq + Into<u64>> FromIterator<T> for Counts<T> {
    fn from_iter<I: IntoIterator<Item = T>>(numbers: I) -> Self {
        let mut writer = CountsWriter::default();
        writer.extend(numbers);
        writer.finish()
    }
}

/// Multiply and rotate, number by number.
fn hash<T: Copy + Into<u64>>(numbers: &[T]) -> u64 {
    let mix = |hash: u64, &number: &T| (hash ^ number.into()).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    numbers.iter().fold(0, mix)
}
