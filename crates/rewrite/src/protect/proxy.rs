//! Proxies of hardware that would compare: code that costs what a kernel would cost there, and notices nothing.
//!
//! ```text
//! HW-Notify   an instruction compares two registers and raises an exception: one logic operation for each comparison of 32 bits
//! HW-Sig      each lane has a signature beside its registers: no instruction compares
//! ```
//!
//! An assembler removes a duplicate that nothing reads. So what would be compared is gathered in a sink, whose test where the
//! function ends can never hold, which the assembler does not know. For HW-Notify the operation that compares is the one that
//! gathers: its cost beyond the hardware is the test at the end. For HW-Sig only the ends of chains of duplicates are gathered;
//! a sum or product can take the sink as its third operand, a logic operation gathers two words. What is left of that is a cost
//! that the hardware would not have.

use crate::code::Coder;
use crate::protect::opaque::Opaque;
use crate::protect::origin::Origin;
use crate::protect::place::NewBody;
use crate::refusal::Refusal;
use facts::{Pc, Reg, Width};
use isa::{Op, Src, Type};

/// The hardware that a proxy stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HardwareProxy {
    /// An instruction that compares and raises an exception.
    Notify,
    /// A signature of each lane.
    Signature,
}

/// Where values go that have to stay alive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sink {
    pub(super) proxy: HardwareProxy,
    word: Reg,
    double: Reg,
    sum: Reg,
    double_sum: Reg,
    pred: Reg,
    /// Whether the test holds, which it never does.
    never: Reg,
}

impl Sink {
    /// Registers for it.
    pub(super) fn new(coder: &mut Coder<'_>, proxy: HardwareProxy) -> Self {
        Self {
            proxy,
            word: coder.register(Type::B32),
            double: coder.register(Type::B64),
            sum: coder.register(Type::U32),
            double_sum: coder.register(Type::U64),
            pred: coder.register(Type::Pred),
            never: coder.register(Type::Pred),
        }
    }

    /// Clears it, at the entry of the function.
    pub(super) fn begin(self, coder: &mut Coder<'_>) -> Result<(), Refusal> {
        for (spelling, part) in
            [("mov.b32", self.word), ("mov.b64", self.double), ("mov.u32", self.sum), ("mov.u64", self.double_sum)]
        {
            coder.push(spelling, &[part], vec![Src::Imm(0)])?;
        }
        coder.push("setp.ne.u32", &[self.pred], vec![Src::Imm(0), Src::Imm(0)])
    }

    /// The operation in place of an instruction that compares two registers.
    pub(super) fn compare(self, coder: &mut Coder<'_>, [first, second]: [Reg; 2]) -> Result<(), Refusal> {
        let sources = |first, second| vec![Src::Reg(first), Src::Reg(second)];
        match width(coder, first) {
            Width::Pred => {
                let differing = coder.make(Type::Pred, "xor.pred", sources(first, second))?;
                coder.push("or.pred", &[self.pred], sources(self.pred, differing))
            }
            Width::B16 => {
                let chained = vec![Src::Reg(first), Src::Reg(second), Src::Reg(self.pred)];
                coder.push("setp.ne.or.b16", &[self.pred], chained)
            }
            width @ (Width::B32 | Width::B64) => {
                let (ty, part) = if width == Width::B64 { (Type::B64, self.double) } else { (Type::B32, self.word) };
                let differing = coder.make(ty, &format!("xor.{ty}"), sources(first, second))?;
                coder.push(&format!("or.{ty}"), &[part], sources(part, differing))
            }
            Width::B128 => {
                let (one, other) = (coder.halves(first), coder.halves(second));
                one.into_iter().zip(other).try_for_each(|(one, other)| self.compare(coder, [one, other]))
            }
        }
    }

    /// Keeps a register alive that an instruction has just written: one of `arithmetic` may take the sink as an operand.
    pub(super) fn gather(self, coder: &mut Coder<'_>, register: Reg, arithmetic: bool) -> Result<(), Refusal> {
        let both = |part: Reg, register: Reg| vec![Src::Reg(part), Src::Reg(register)];
        match (width(coder, register), arithmetic) {
            (Width::Pred, _) => coder.push("xor.pred", &[self.pred], both(self.pred, register)),
            (Width::B16, _) => {
                let bits = coder.make(Type::B16, "mov.b16", vec![Src::Reg(register)])?;
                let word = coder.make(Type::U32, "cvt.u32.u16", vec![Src::Reg(bits)])?;
                coder.push("xor.b32", &[self.word], both(self.word, word))
            }
            (Width::B32, true) => coder.push("add.u32", &[self.sum], both(self.sum, register)),
            (Width::B32, false) => coder.push("xor.b32", &[self.word], both(self.word, register)),
            (Width::B64, true) => coder.push("add.u64", &[self.double_sum], both(self.double_sum, register)),
            (Width::B64, false) => coder.push("xor.b64", &[self.double], both(self.double, register)),
            (Width::B128, _) => {
                let halves = coder.halves(register);
                halves.into_iter().try_for_each(|half| self.gather(coder, half, false))
            }
        }
    }

    /// Tests it before an instruction, by what never holds.
    pub(super) fn end(
        self,
        coder: &mut Coder<'_>,
        opaque: Opaque,
        pc: Pc,
        body: &mut NewBody<Origin>,
    ) -> Result<(), Refusal> {
        let parts = |one, other| vec![Src::Reg(one), Src::Reg(other)];
        let word = coder.make(Type::B32, "or.b32", parts(self.word, self.sum))?;
        let double = coder.make(Type::B64, "or.b64", parts(self.double, self.double_sum))?;
        let compared = |part: Reg, chain: Reg| vec![Src::Reg(part), Src::Imm(0), Src::Reg(chain)];
        coder.push("setp.ne.or.b32", &[self.never], compared(word, self.pred))?;
        coder.push("setp.ne.or.b64", &[self.never], compared(double, self.never))?;
        coder.push("setp.ne.and.b32", &[self.never], compared(opaque.zero(), self.never))?;
        coder.where_holds(self.never);
        coder.push_op(Op::Trap, &[], Vec::new());
        coder.guard = None;
        body.put(Origin::Check(pc), coder.take());
        Ok(())
    }
}

fn width(coder: &Coder<'_>, register: Reg) -> Width {
    coder.function().registers.get(register.index()).map_or(Width::B32, facts::Register::width)
}
