//! What is known of a value in one lane: how it grows, or between which numbers it lies.

use super::progression::{Progression, low};
use isa::Type;
use isa::alu::Alu;
use isa::class::AluClass;

/// The smallest and the largest unsigned number that a value can be, and how many of its low bits are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) low: u64,
    pub(super) high: u64,
    pub(super) zeros: u32,
    /// The largest number that it can be if it has a sign; used where it may be negative.
    pub(super) most: i64,
}

impl Range {
    /// Every number of so many bits.
    pub(super) fn of_bits(bits: u32) -> Self {
        Self::between(0, if bits >= 64 { u64::MAX } else { (1 << bits) - 1 })
    }

    /// One number.
    pub(super) fn one(number: u64) -> Self {
        Self { zeros: number.trailing_zeros().min(63), ..Self::between(number, number) }
    }

    pub(super) fn between(low: u64, high: u64) -> Self {
        Self { low, high, zeros: 0, most: i64::MAX }
    }

    /// The largest number with a sign of so many bits.
    pub(super) fn most(self, bits: u32) -> i64 {
        if self.high >> (bits - 1) == 0 { self.high as i64 } else { self.most }
    }

    /// Whether another range is no wider.
    pub(super) fn contains(&self, other: &Self) -> bool {
        self.low <= other.low && other.high <= self.high && self.zeros <= other.zeros && other.most <= self.most
    }

    /// The range, if it is of numbers of so many bits and says more than that.
    pub(super) fn within(self, bits: u32) -> Option<Self> {
        let all = Self::of_bits(bits);
        let says_more = self.high < all.high || self.low > 0 || self.zeros > 0 || self.most < i64::MAX;
        (self.high <= all.high && says_more).then_some(self)
    }
}

/// A source of an instruction in one lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    /// Its bits in this iteration.
    pub(super) bits: u64,
    /// What is added to them from one iteration to the next; `None` if that is not known.
    pub(super) step: Option<u64>,
    /// Between which numbers it lies if that is known; for those whose step is not.
    pub(super) within: Option<Range>,
}

impl Source {
    /// Between which numbers it lies, of so many bits.
    pub(super) fn range(self, bits: u32) -> Range {
        match self.step {
            Some(0) => Range::one(low(self.bits, bits)),
            _ => self.within.unwrap_or(Range::of_bits(bits)),
        }
    }

    pub(super) fn is_constant(self) -> bool {
        self.step == Some(0)
    }

    pub(super) fn progression(self, ty: Type) -> Option<Progression> {
        let (bits, signed) = number(ty)?;
        Some(Progression { first: self.bits, step: self.step?, bits, signed })
    }
}

/// Bits of an integer of at least 16 bits, and whether it has a sign.
pub(super) fn number(ty: Type) -> Option<(u32, bool)> {
    Some(match ty {
        Type::U16 => (16, false),
        Type::S16 => (16, true),
        Type::U32 => (32, false),
        Type::S32 => (32, true),
        Type::U64 => (64, false),
        Type::S64 => (64, true),
        _ => return None,
    })
}

/// Whether an instruction converts an integer to another, with no more to its name than both types.
pub(super) fn is_conversion(alu: Alu) -> bool {
    let plain = alu.class() == AluClass::Convert && alu.pattern().split('.').count() == 3;
    plain && number(alu.sources()[0]).is_some() && number(alu.destination()).is_some()
}
