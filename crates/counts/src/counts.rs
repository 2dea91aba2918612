//! Numbers of threads, kept.

use crate::view::CountsView;

/// A number for every thread of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts<T> {
    pub(crate) threads: u64,
    /// Segments that differ, one behind the other; only the last may be short.
    pub(crate) different: Vec<T>,
    /// For each segment, which of them it is.
    pub(crate) segments: Vec<u32>,
}

impl<T: Copy> Counts<T> {
    /// To read them.
    #[must_use]
    pub fn view(&self) -> CountsView<'_, T> {
        CountsView::new(self.threads, &self.different, &self.segments)
    }

    /// The same threads with other numbers, each made of the one that was there.
    #[must_use]
    pub fn map<U>(&self, number: impl FnMut(T) -> U) -> Counts<U> {
        let different = self.different.iter().copied().map(number).collect();
        Counts { threads: self.threads, different, segments: self.segments.clone() }
    }

    /// Bytes that they take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&self.different[..]) + size_of_val(&self.segments[..])
    }
}
