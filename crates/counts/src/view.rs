//! Numbers of threads, read where they lie.

use std::ops::Range;

/// Threads of a segment; the last one of a launch may have fewer.
pub const SEGMENT: usize = 1024;

/// A number for every thread of a launch, wherever they lie. What lies there need not be right: what is not there is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountsView<'a, T> {
    threads: u64,
    different: &'a [T],
    segments: &'a [u32],
}

impl<'a, T: Copy> CountsView<'a, T> {
    /// The numbers of so many threads: segments that differ one behind the other, and for each segment which of them it is.
    #[must_use]
    pub fn new(threads: u64, different: &'a [T], segments: &'a [u32]) -> Self {
        Self { threads, different, segments }
    }

    /// Threads that there are numbers for.
    #[must_use]
    pub fn threads(self) -> u64 {
        self.threads
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.threads == 0
    }

    /// The segments that differ, one behind the other; only the last may be short.
    #[must_use]
    pub fn different(self) -> &'a [T] {
        self.different
    }

    /// For each segment, which of those that differ it is.
    #[must_use]
    pub fn which(self) -> &'a [u32] {
        self.segments
    }

    /// The number of a thread, linear in the launch.
    #[must_use]
    pub fn get(self, thread: u64) -> Option<T> {
        let thread = usize::try_from(thread).ok()?;
        self.different_one(*self.segments.get(thread / SEGMENT)?).get(thread % SEGMENT).copied()
    }

    /// The numbers of some threads, as far as there are such.
    pub fn range(self, threads: Range<u64>) -> impl Iterator<Item = T> + 'a {
        let end = threads.end.min(self.threads) as usize;
        let start = threads.start.min(end as u64) as usize;
        let segments = start / SEGMENT..end.div_ceil(SEGMENT);
        segments.flat_map(move |segment| {
            let (first, numbers) = (segment * SEGMENT, self.segment(segment));
            let within = start.saturating_sub(first).min(numbers.len())..(end - first).min(numbers.len());
            numbers[within].iter().copied()
        })
    }

    /// All numbers.
    pub fn iter(self) -> impl Iterator<Item = T> + 'a {
        self.range(0..u64::MAX)
    }

    /// All segments in order, each with which of those that differ it is.
    pub fn segments(self) -> impl Iterator<Item = (u32, &'a [T])> {
        self.segments.iter().map(move |&which| (which, self.different_one(which)))
    }

    fn segment(self, number: usize) -> &'a [T] {
        self.segments.get(number).map_or(&[], |&which| self.different_one(which))
    }

    fn different_one(self, which: u32) -> &'a [T] {
        let start = (which as usize).saturating_mul(SEGMENT).min(self.different.len());
        &self.different[start..self.different.len().min(start + SEGMENT)]
    }
}

impl<T: Copy + Into<u64>> CountsView<'_, T> {
    /// All numbers added up.
    #[must_use]
    pub fn total(self) -> u64 {
        let totals = self.totals();
        self.segments.iter().filter_map(|&which| totals.get(which as usize)).sum()
    }

    /// For each of the segments that differ, its numbers added up.
    #[must_use]
    pub fn totals(self) -> Vec<u64> {
        let total = |numbers: &[T]| numbers.iter().map(|&number| number.into()).sum();
        self.different.chunks(SEGMENT).map(total).collect()
    }
}

impl<T: Copy + Ord> CountsView<'_, T> {
    /// The largest number, if there is one.
    #[must_use]
    pub fn most(self) -> Option<T> {
        self.different.iter().copied().max()
    }
}
