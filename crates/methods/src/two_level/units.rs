//! Quantities of Equation 1, as types: what must not be added or multiplied cannot be.

use stats::Bounded;

/// A share of an application's dynamic instructions, f.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Fraction(pub f64);

/// The chance of an end, given a manifestation, p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probability(pub Bounded);

/// How often something happens while a multiprocessor issues one instruction in each cycle, in the unit of an IPA table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatePerInstruction(pub Bounded);

/// Instructions that a multiprocessor issues in a cycle, s.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct IssueRate(pub f64);

/// How often something happens to an application while it runs, in the unit of an IPA table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate(pub Bounded);

impl RatePerInstruction {
    /// The rate of an event that never happens.
    pub const NEVER: Self = Self(Bounded::ZERO);

    /// How often it comes to an end that has this chance.
    #[must_use]
    pub fn ending(self, chance: Probability) -> Self {
        Self(self.0.product(chance.0))
    }

    /// How often it is if it is off by a factor that is 1, within bounds.
    #[must_use]
    pub fn off_by(self, error: Bounded) -> Self {
        Self(self.0.product(error))
    }

    /// How often it is where so many of the instructions are of the kind.
    #[must_use]
    pub fn of(self, share: Fraction) -> Self {
        Self(self.0.times(share.0))
    }

    /// All of several together.
    #[must_use]
    pub fn sum(parts: impl IntoIterator<Item = Self>) -> Self {
        Self(Bounded::sum(parts.into_iter().map(|part| part.0)))
    }

    /// How often it is at a rate of instructions.
    #[must_use]
    pub fn at(self, rate: IssueRate) -> Rate {
        Rate(self.0.times(rate.0))
    }
}
