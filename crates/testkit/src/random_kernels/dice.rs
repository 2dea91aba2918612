//! Choices that are functions of a seed and a number.

use stats::Draws;

/// Random choices.
pub(crate) struct Dice(pub(super) Draws);

impl Dice {
    /// A number below `bound`, or 0 if that is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64).unwrap_or(0) as usize
    }

    pub(crate) fn choose<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Whether something happens that does so once in as many times.
    pub(crate) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}
