//! Choices of the mutators: drawn from counter-based random numbers, so that an input is a function of the seed, the
//! job and its number.

use stats::Draws;
use std::ops::Range;

/// The choices that make one input.
#[derive(Clone, Debug)]
pub struct Dice(Draws);

impl Dice {
    /// The choices of input `number` under a seed.
    #[must_use]
    pub fn new(seed: u64, number: u64) -> Self {
        Self(Draws::new(seed, number))
    }

    /// A number below a bound; 0 if the bound is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64).unwrap_or(0) as usize
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next()
    }

    /// One of some things, if there is any.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }

    /// A stretch of at most `most` of `length` things; empty if there are none.
    pub fn stretch(&mut self, length: usize, most: usize) -> Range<usize> {
        let start = self.below(length);
        let end = start + 1 + self.below(most.min(length - start));
        start..end.min(length)
    }
}
