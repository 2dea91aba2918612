//! Comparisons that gather what they find in a signature, which is tested where a function ends.
//!
//! The signature has three parts, which begin as zero: a word, a double word, and a predicate. By [`Accumulation::Or`] a part
//! that is set once stays set: a second error cannot take the first away. An assembler may compute a value anew inside the check of it,
//! and the value that is used is then in no check. It does so where both fuse into one machine instruction, and so `xor`
//! compares sums, products and loads alone, `setp.ne` everything else. Predicates become words that an assembler does not
//! know before they are looked at.

use crate::code::Coder;
use crate::protect::check::Checker;
use crate::protect::halves::crossed;
use crate::protect::opaque::Opaque;
use crate::protect::origin::Origin;
use crate::protect::place::NewBody;
use crate::refusal::Refusal;
use facts::{Group, Guard, Pc, Reg, Width};
use isa::{Function, Op, Src, Type};

/// How a signature gathers differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accumulation {
    /// A bit that is set stays set.
    Or,
    /// The same difference an even number of times is none.
    Xor,
}

impl Accumulation {
    /// The word of PTX.
    const fn word(self) -> &'static str {
        match self {
            Self::Or => "or",
            Self::Xor => "xor",
        }
    }
}

/// The signature of one function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signature {
    accumulation: Accumulation,
    word: Reg,
    double: Reg,
    pred: Reg,
    /// Whether any part is set, at a test.
    set: Reg,
}

impl Signature {
    /// Registers for it.
    pub(super) fn new(coder: &mut Coder<'_>, accumulation: Accumulation) -> Self {
        Self {
            accumulation,
            word: coder.register(Type::B32),
            double: coder.register(Type::B64),
            pred: coder.register(Type::Pred),
            set: coder.register(Type::Pred),
        }
    }

    /// Clears it, at the entry of the function.
    pub(super) fn begin(self, coder: &mut Coder<'_>) -> Result<(), Refusal> {
        coder.push("mov.b32", &[self.word], vec![Src::Imm(0)])?;
        coder.push("mov.b64", &[self.double], vec![Src::Imm(0)])?;
        coder.push("setp.ne.u32", &[self.pred], vec![Src::Imm(0), Src::Imm(0)])
    }

    /// Ends the launch where any part is set, before an instruction.
    pub(super) fn end(self, coder: &mut Coder<'_>, pc: Pc, body: &mut NewBody<Origin>) -> Result<(), Refusal> {
        let compared = |part: Reg, chain: Reg| vec![Src::Reg(part), Src::Imm(0), Src::Reg(chain)];
        coder.push("setp.ne.or.b32", &[self.set], compared(self.word, self.pred))?;
        coder.push("setp.ne.or.b64", &[self.set], compared(self.double, self.set))?;
        body.put(Origin::Check(pc), coder.take());
        coder.where_holds(self.set);
        coder.push_op(Op::Trap, &[], Vec::new());
        coder.guard = None;
        body.put(Origin::Notify, coder.take());
        Ok(())
    }

    /// Compares a register with its shadow, where the guard holds; by `xor` if only [`arithmetic`] instructions write it.
    pub(super) fn compare(
        self,
        coder: &mut Coder<'_>,
        opaque: Opaque,
        guard: Option<Guard>,
        [register, shadow]: [Reg; 2],
        arithmetic: bool,
    ) -> Result<(), Refusal> {
        let ty = match coder.function().registers.get(register.index()).map(facts::Register::width) {
            Some(Width::B16) => {
                let words = crossed(coder, [register, shadow]);
                return self.unequal(coder, guard, Type::B32, words);
            }
            Some(Width::B32) => Type::B32,
            Some(Width::B64) => Type::B64,
            Some(Width::B128) => {
                let (halves, of_shadow) = (coder.halves(register), coder.halves(shadow));
                let mut pairs = halves.into_iter().zip(of_shadow);
                return pairs.try_for_each(|(half, shadow)| self.unequal(coder, guard, Type::B64, [half, shadow]));
            }
            Some(Width::Pred) | None => {
                let words = [opaque.flag(coder, register, true)?, opaque.flag(coder, shadow, true)?];
                return self.unequal(coder, guard, Type::B32, words);
            }
        };
        if !arithmetic {
            return self.unequal(coder, guard, ty, [register, shadow]);
        }
        let differing = coder.make(ty, &format!("xor.{ty}"), [register, shadow].map(Src::Reg).to_vec())?;
        self.set_bits(coder, guard, ty, differing)
    }

    /// Compares a double with its twin where the guard holds and the twin is a number.
    pub(super) fn compare_numbers(
        self,
        coder: &mut Coder<'_>,
        guard: Option<Guard>,
        [double, twin]: [Reg; 2],
    ) -> Result<(), Refusal> {
        let differ = Checker::new(coder);
        differ.compare_numbers(coder, guard, (double, twin))?;
        let one = coder.make(Type::B32, "selp.b32", vec![Src::Imm(1), Src::Imm(0), Src::Reg(differ.failed())])?;
        self.set_bits(coder, None, Type::B32, one)
    }

    /// Sets it unless this predicate is as expected, where the guard holds.
    pub(super) fn expect(
        self,
        coder: &mut Coder<'_>,
        opaque: Opaque,
        guard: Option<Guard>,
        (pred, expected): (Reg, bool),
    ) -> Result<(), Refusal> {
        let word = opaque.flag(coder, pred, !expected)?;
        self.set_bits(coder, guard, Type::B32, word)
    }

    fn unequal(self, coder: &mut Coder<'_>, guard: Option<Guard>, ty: Type, pair: [Reg; 2]) -> Result<(), Refusal> {
        let [first, second] = pair;
        coder.guard = guard;
        let sources = [first, second, self.pred].map(Src::Reg).to_vec();
        let made = coder.push(&format!("setp.ne.{}.{ty}", self.accumulation.word()), &[self.pred], sources);
        coder.guard = None;
        made
    }

    fn set_bits(self, coder: &mut Coder<'_>, guard: Option<Guard>, ty: Type, bits: Reg) -> Result<(), Refusal> {
        let part = if ty == Type::B64 { self.double } else { self.word };
        coder.guard = guard;
        let gathered = vec![Src::Reg(part), Src::Reg(bits)];
        let made = coder.push(&format!("{}.{ty}", self.accumulation.word()), &[part], gathered);
        coder.guard = None;
        made
    }
}

/// Whether the signature is tested before it: a function that is called may end the thread.
pub(super) fn leaves(op: &Op) -> bool {
    matches!(op, Op::Ret { .. } | Op::Exit | Op::Call(_))
}

/// By register: whether only what does not fuse with `xor` writes it.
pub(super) fn arithmetic(function: &Function) -> Vec<bool> {
    let mut arithmetic = vec![true; function.registers.len()];
    for instruction in &function.body {
        let plain = is_arithmetic(&instruction.op);
        for (_, register) in instruction.writes() {
            arithmetic.get_mut(register.index()).into_iter().for_each(|all| *all &= plain);
        }
    }
    arithmetic
}

/// Whether it is a sum, a product or a load, for which no machine instruction is a logic operation.
fn is_arithmetic(op: &Op) -> bool {
    match op.group() {
        Group::IntAdd | Group::IntMulAdd | Group::Fp32Add | Group::Fp32Mul | Group::Fp32Fma | Group::Fp64 => {
            let Op::Alu(form) = op else { return false };
            let spelling = form.spelling();
            let head = spelling.split('.').next().unwrap_or_default();
            matches!(head, "add" | "sub" | "mul" | "mad" | "fma" | "min" | "max")
        }
        Group::LoadGlobal
        | Group::LoadShared
        | Group::LoadLocal
        | Group::LoadConst
        | Group::LoadGeneric
        | Group::Atomic => true,
        _ => false,
    }
}
