//! Operands that have error sites, and sets of their bits.

use fault::Target;
use std::ops::Range;

/// An operand of a dynamic instruction that has error sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SiteOperand {
    /// The destination at this position, after the instruction.
    Destination(u8),
    /// The register of this number in its function, which the instruction reads, before it. The flip stays.
    Register(u32),
}

/// A set of bits of an operand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bits(u128);

impl SiteOperand {
    /// Whether it is a register that the instruction reads.
    pub(super) fn is_source(self) -> bool {
        matches!(self, Self::Register(_))
    }

    /// The target of a fault in it.
    pub(super) fn target(self) -> Target {
        match self {
            Self::Destination(position) => Target::Destination(position),
            Self::Register(number) => Target::Register(number),
        }
    }
}

impl Bits {
    /// The bits that are set in a word.
    pub(super) fn word(word: u64) -> Self {
        Self(word.into())
    }

    /// The lowest 64 of them, as a word.
    pub(super) fn low(self) -> u64 {
        self.0 as u64
    }

    /// The bits of a range.
    pub(super) fn range(range: Range<u32>) -> Self {
        let below = |end: u32| 1_u128.checked_shl(end).map_or(u128::MAX, |bit| bit - 1);
        Self(below(range.end) & !below(range.start))
    }

    /// Those that are also in another set.
    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Those of either set.
    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those that are not in another set.
    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// How many there are.
    pub(super) fn count(self) -> u32 {
        self.0.count_ones()
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The place of a bit among them, ascending from 0; `None` if it is not one of them.
    pub(super) fn rank(self, bit: u32) -> Option<u32> {
        (self.0.checked_shr(bit).unwrap_or_default() & 1 == 1).then(|| self.and(Self::range(0..bit)).count())
    }

    /// The bits, ascending.
    pub(super) fn iter(self) -> impl Iterator<Item = u32> {
        (0..u128::BITS).filter(move |bit| self.0 >> bit & 1 == 1)
    }

    /// The end of the highest one.
    pub(super) fn end(self) -> u32 {
        u128::BITS - self.0.leading_zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::Bits;

    #[test]
    fn bits_have_their_places_among_those_of_their_set() {
        let bits = Bits::range(0..3).or(Bits::range(126..128));
        assert_eq!(bits.iter().collect::<Vec<_>>(), [0, 1, 2, 126, 127]);
        assert_eq!([2, 3, 127, 128].map(|bit| bits.rank(bit)), [Some(2), None, Some(4), None]);
        assert_eq!((bits.count(), bits.end(), Bits::range(5..5).is_empty()), (5, 128, true));
        assert_eq!(bits.without(Bits::range(1..127)).iter().collect::<Vec<_>>(), [0, 127]);
    }
}
