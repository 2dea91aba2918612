//! Bits that flip together: how many, next to each other or not, among which.

use crate::bits::{all, hexadecimal};
use crate::error::digits;
use std::fmt;

/// Bits that flip together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flips {
    /// The number of bits.
    pub(crate) count: u32,
    /// Whether each is next to the one before.
    pub(crate) adjacent: bool,
    /// Among which, as far as an operand has them.
    pub(crate) among: u128,
}

impl Flips {
    pub(crate) const ONE: Self = Self { count: 1, adjacent: false, among: u128::MAX };
    pub(crate) const ADJACENT: Self = Self { count: 2, adjacent: true, among: u128::MAX };
    pub(crate) const TWO: Self = Self { count: 2, adjacent: false, among: u128::MAX };

    /// Reads `3` or `3:0xff`, how many bits among which.
    pub(crate) fn parse(text: &str, adjacent: bool) -> Option<Self> {
        let (count, among) = match text.split_once(':') {
            None => (text, u128::MAX),
            Some((count, mask)) => (count, hexadecimal(mask)?),
        };
        let count = digits(count).filter(|count| (1..=128).contains(count))?;
        // One bit has no neighbours.
        let found = Self { count, adjacent: adjacent && count > 1, among };
        found.hits(128).then_some(found)
    }

    /// The bits from which so many can be taken of an operand of so many bits: the lowest of each run, or any.
    fn starts(self, width: u32) -> impl Iterator<Item = u32> {
        let among = self.among & all(width);
        let run = if self.adjacent { self.count } else { 1 };
        (0..=128 - run).filter(move |start| all(run) & !(among >> start) == 0)
    }

    /// Whether so many can flip in an operand of so many bits.
    pub(crate) fn hits(self, width: u32) -> bool {
        let least = if self.adjacent { 1 } else { self.count as usize };
        self.starts(width).take(least).count() == least
    }

    /// Bits of an operand of so many, all choices with the same chance; `below` draws a number.
    pub(crate) fn draw(self, width: u32, below: &mut impl FnMut(usize) -> Option<usize>) -> Option<u128> {
        let mut starts: Vec<u32> = self.starts(width).collect();
        if self.adjacent {
            return Some(all(self.count) << starts[below(starts.len())?]);
        }
        let mut mask = 0;
        for _ in 0..self.count {
            mask |= 1 << starts.remove(below(starts.len())?);
        }
        Some(mask)
    }
}

impl fmt::Display for Flips {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ONE => f.write_str("flip"),
            Self::ADJACENT => f.write_str("double"),
            Self::TWO => f.write_str("double-any"),
            Self { count, adjacent, among } => {
                write!(f, "{}:{count}", if adjacent { "burst" } else { "flip" })?;
                if among == u128::MAX { Ok(()) } else { write!(f, ":{among:#x}") }
            }
        }
    }
}
