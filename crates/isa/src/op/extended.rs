//! Arithmetic on numbers of several words, chained by the carry flag (PTX ISA §9.7.2).
//!
//! The flag is no register that a program can name: each function has one, which `.cc` instructions write and
//! `addc`, `subc` and `madc` read. A subtraction adds the complement, `a + !b + flag`, so that the flag after it is set
//! where nothing is borrowed. The ISA calls the flag a borrow there; what `addc` reads after `sub.cc` tells them apart,
//! and the 128-bit division that nvcc emits relies on it.

use super::modifiers::Words;
use crate::alu::Alu;
use crate::class::AluClass;
use crate::types::{Type, words};

words! {
    /// What is added or taken away.
    CarryOp { Add = "add", Sub = "sub", MadLo = "mad.lo", MadHi = "mad.hi" }
}

/// The modifiers of an instruction that reads or writes the carry flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extended {
    /// What is added or taken away.
    pub step: CarryOp,
    /// Whether the flag takes part: `addc`, `subc`, `madc`.
    pub reads: bool,
    /// Whether the flag is written: `.cc`.
    pub writes: bool,
    /// Type of the operands: an integer of 32 or 64 bits.
    pub ty: Type,
}

/// `add.cc`, `addc`, `madc.hi.cc` and the like; without the flag they are lines of the table.
pub(super) fn parse(head: &str, words: &mut Words<'_>) -> Option<Extended> {
    let (name, carry) = head.split_at(3);
    let half = words.take(|word| matches!(word, "lo" | "hi").then(|| format!(".{word}"))).unwrap_or_default();
    let step = CarryOp::from_word(&format!("{name}{half}"))?;
    let (reads, writes) = (!carry.is_empty(), words.word("cc").is_some());
    let ty = words.take(Type::from_word).filter(|ty| matches!(ty, Type::U32 | Type::S32 | Type::U64 | Type::S64))?;
    if reads || writes { words.end(Extended { step, reads, writes, ty }) } else { None }
}

impl Extended {
    /// How many sources are written; the flag is not.
    #[must_use]
    pub fn sources(self) -> usize {
        if self.is_mad() { 3 } else { 2 }
    }

    /// The line of the table that multiplies the first two sources, where that comes first.
    #[must_use]
    pub fn product(self) -> Option<Alu> {
        let product = match (self.step, self.ty) {
            (CarryOp::MadLo, ty) if ty.bits() == 64 => Alu::MulLoB64,
            (CarryOp::MadLo, _) => Alu::MulLoB32,
            (CarryOp::MadHi, Type::U64) => Alu::MulHiU64,
            (CarryOp::MadHi, Type::S64) => Alu::MulHiS64,
            (CarryOp::MadHi, Type::S32) => Alu::MulHiS32,
            (CarryOp::MadHi, _) => Alu::MulHiU32,
            _ => return None,
        };
        Some(product)
    }

    /// The lines of the table that give the result, and the flag after it, from two terms and the flag before.
    #[must_use]
    pub fn lines(self) -> (Alu, Alu) {
        match (self.step == CarryOp::Sub, self.ty.bits() == 64) {
            (false, false) => (Alu::AddcB32, Alu::AddcCcB32),
            (false, true) => (Alu::AddcB64, Alu::AddcCcB64),
            (true, false) => (Alu::SubcB32, Alu::SubcCcB32),
            (true, true) => (Alu::SubcB64, Alu::SubcCcB64),
        }
    }

    pub(super) fn class(self) -> AluClass {
        if self.is_mad() { AluClass::IntMulAdd } else { AluClass::IntAdd }
    }

    /// The flag that an instruction begins with which does not read it.
    #[must_use]
    pub fn initial(self) -> bool {
        self.step == CarryOp::Sub
    }

    fn is_mad(self) -> bool {
        matches!(self.step, CarryOp::MadLo | CarryOp::MadHi)
    }
}
