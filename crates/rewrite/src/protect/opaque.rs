//! Values that an assembler cannot see through: it would merge a duplicate with its original.
//!
//! All begin at a zero that the assembler does not know: the highest bit of the number of blocks, which no launch sets.
//! With it as the selector of `prmt`, or as the predicate of `selp`, a copy is one instruction, and nothing that is
//! computed from the copy is folded into what is computed from the original.

use crate::code::Coder;
use crate::refusal::Refusal;
use facts::{Reg, Width};
use isa::{Special, Src, Type};

/// The selector of `prmt` that leaves a word as it is.
const SAME_BYTES: u64 = 0x3210;

/// What copies are made with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opaque {
    /// [`SAME_BYTES`]
    selector: Reg,
    /// True.
    truth: Reg,
    /// Zero.
    zero: Reg,
}

impl Opaque {
    /// Registers for it.
    pub(super) fn new(coder: &mut Coder<'_>) -> Self {
        Self { selector: coder.register(Type::B32), truth: coder.register(Type::Pred), zero: coder.register(Type::B32) }
    }

    /// The register that holds zero.
    pub(super) fn zero(self) -> Reg {
        self.zero
    }

    /// Makes the values, at the entry of the function.
    pub(super) fn begin(self, coder: &mut Coder<'_>) -> Result<(), Refusal> {
        coder.push("mov.u32", &[self.zero], vec![Src::Special(Special::NctaidX)])?;
        coder.push("shr.u32", &[self.zero], vec![Src::Reg(self.zero), Src::Imm(31)])?;
        coder.push("add.u32", &[self.selector], vec![Src::Reg(self.zero), Src::Imm(SAME_BYTES)])?;
        coder.push("setp.eq.u32", &[self.truth], vec![Src::Reg(self.zero), Src::Imm(0)])
    }

    /// Copies a register of this width.
    pub(super) fn copy(self, coder: &mut Coder<'_>, to: Reg, from: Reg, width: Width) -> Result<(), Refusal> {
        let from = Src::Reg(from);
        match width {
            Width::Pred => coder.push("and.pred", &[to], vec![from, Src::Reg(self.truth)]),
            Width::B16 => self.select(coder, Type::B16, to, from, Src::Imm(0)),
            Width::B32 => coder.push("prmt.b32", &[to], vec![from, Src::Imm(0), Src::Reg(self.selector)]),
            Width::B64 => self.select(coder, Type::B64, to, from, Src::Imm(0)),
            Width::B128 => {
                let Src::Reg(from) = from else { return Ok(()) };
                let halves = coder.halves(from);
                for half in halves {
                    self.select(coder, Type::B64, half, Src::Reg(half), Src::Imm(0))?;
                }
                coder.join(to, halves);
                Ok(())
            }
        }
    }

    /// Puts a constant of 16, 32 or 64 bits into a register.
    pub(super) fn constant(self, coder: &mut Coder<'_>, ty: Type, to: Reg, value: u64) -> Result<(), Refusal> {
        self.select(coder, ty, to, Src::Imm(value), Src::Imm(value ^ 1))
    }

    /// A word that is not zero where a predicate is `set`, and zero where it is not; an assembler knows neither word.
    pub(super) fn flag(self, coder: &mut Coder<'_>, pred: Reg, set: bool) -> Result<Reg, Refusal> {
        let [holds, fails] = if set { [self.selector, self.zero] } else { [self.zero, self.selector] };
        coder.make(Type::B32, "selp.b32", [holds, fails, pred].map(Src::Reg).to_vec())
    }

    /// The registers of a pair, or, of predicates, words that tell them apart: an assembler would compute a predicate anew in a
    /// comparison of predicates.
    pub(super) fn comparable(self, coder: &mut Coder<'_>, pair: (Reg, Reg)) -> Result<(Reg, Reg), Refusal> {
        match coder.function().registers.get(pair.0.index()).map(facts::Register::width) {
            Some(Width::Pred) => Ok((self.flag(coder, pair.0, true)?, self.flag(coder, pair.1, true)?)),
            _ => Ok(pair),
        }
    }

    fn select(self, coder: &mut Coder<'_>, ty: Type, to: Reg, value: Src, other: Src) -> Result<(), Refusal> {
        coder.push(&format!("selp.{ty}"), &[to], vec![value, other, Src::Reg(self.truth)])
    }
}
