//! What a stored value is: what the store says and, where that leaves something open, what made the value.
//!
//! The making is read off the code, backwards from the stored register through moves and through arithmetic that is the
//! same for signed and unsigned numbers, over all definitions of a register whatever the order of control. A float that
//! appears among them decides; a signed instruction decides on the sign.

use capsule::ElementType;
use isa::op::{AtomOp, OperandKind, Shape};
use isa::{Function, Group, Instruction, Op, Operand, Reg, Type};
use std::collections::{BTreeMap, BTreeSet};

/// How many definitions are followed from a stored register.
const MOST: usize = 64;

/// What a store is known to store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stored {
    /// Elements of this type, as its word says.
    Element(&'static str),
    /// Integers of so many bytes, signed or not.
    Integer(u8),
    /// Nobody knows.
    Unclear,
}

impl Stored {
    fn of(ty: Type) -> Self {
        Self::Element(match ty {
            Type::F16x2 => "f16",
            Type::Bf16x2 => "bf16",
            ty => ty.word(),
        })
    }

    /// The type of the elements, of which these are the golden bytes.
    ///
    /// Integers whose sign nothing shows are signed if all that are large are as small negative numbers are: their
    /// highest byte is full.
    pub(super) fn element(self, golden: &[u8]) -> Option<ElementType> {
        match self {
            Self::Element(word) => word.parse().ok(),
            Self::Integer(bytes) => {
                let highest = || golden.chunks_exact(usize::from(bytes)).filter_map(|element| element.last().copied());
                let (large, full) =
                    (highest().any(|byte| byte > 0x7f), highest().all(|byte| byte <= 0x7f || byte == 0xff));
                let sign = if bytes > 1 && large && full { 's' } else { 'u' };
                format!("{sign}{}", 8 * u32::from(bytes)).parse().ok()
            }
            Self::Unclear => None,
        }
    }
}

/// What the making of a value shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Made {
    /// Nothing: it was loaded as bits, or came from elsewhere.
    Unknown,
    /// An integer.
    Integer,
    /// A signed integer.
    Signed,
    /// A number of this floating-point type.
    Float(Type),
}

/// The instructions of a function by the registers that they write.
pub(super) struct Definitions<'f> {
    function: &'f Function,
    by_register: BTreeMap<Reg, Vec<&'f Instruction>>,
}

impl<'f> Definitions<'f> {
    pub(super) fn of(function: &'f Function) -> Self {
        let mut by_register: BTreeMap<Reg, Vec<&Instruction>> = BTreeMap::new();
        for instruction in &function.body {
            for (_, register) in instruction.writes() {
                by_register.entry(register).or_default().push(instruction);
            }
        }
        Self { function, by_register }
    }

    /// What a store of this type stores, of these operands.
    pub(super) fn stored(&self, ty: Type, values: &[Operand]) -> Stored {
        if ty.is_float() || ty.is_signed() {
            return Stored::of(ty);
        }
        let unsigned = matches!(ty, Type::U8 | Type::U16 | Type::U32 | Type::U64);
        let made = values.iter().map(|value| self.made(value, ty)).max().unwrap_or(Made::Unknown);
        let bytes = ty.bytes() as u8;
        match made {
            Made::Float(float) => Stored::of(float),
            Made::Signed if bytes <= 8 => Stored::of(signed(bytes)),
            Made::Integer if bytes <= 8 => Stored::Integer(bytes),
            _ if unsigned => Stored::Integer(bytes),
            // A byte is a byte, whatever it means.
            _ if bytes == 1 => Stored::Integer(1),
            _ => Stored::Unclear,
        }
    }

    /// What is known of the making of an operand that is stored as this type.
    fn made(&self, value: &Operand, ty: Type) -> Made {
        let Operand::Reg(register) = value else { return Made::Unknown };
        let (mut seen, mut left, mut found) = (BTreeSet::from([*register]), vec![*register], Made::Unknown);
        while let Some(register) = left.pop() {
            for instruction in self.by_register.get(&register).into_iter().flatten().take(MOST) {
                let (made, through) = self.step(instruction, register, ty);
                found = found.max(made);
                left.extend(through.filter(|&register| seen.len() < MOST && seen.insert(register)));
            }
        }
        found
    }

    /// What an instruction that writes `register` shows of the value, and the registers that may show more.
    fn step<'i>(
        &'i self,
        instruction: &'i Instruction,
        register: Reg,
        ty: Type,
    ) -> (Made, impl Iterator<Item = Reg> + 'i) {
        let made = shown(instruction, register, ty);
        let follows = match &instruction.op {
            // What it makes of its sources says nothing about them: the address of a load, the float of a conversion.
            Op::Ld(_) | Op::Atom(_) | Op::Call(_) => false,
            Op::Alu(_) => matches!(made, Made::Unknown | Made::Integer),
            _ => made == Made::Unknown,
        };
        let packs = matches!(instruction.op, Op::MovVector(_));
        let fits = move |register: &Reg| {
            let bits = self.function.register(*register).width().bits();
            bits > 1 && (bits == ty.width().bits() || (packs && bits < ty.width().bits()))
        };
        let sources = instruction.src.iter().filter(move |_| follows);
        let registers = sources.filter_map(|source| match source {
            Operand::Reg(register) => Some(*register),
            _ => None,
        });
        (made, registers.filter(fits))
    }
}

/// What the type of a destination shows of a value that is stored as `ty`.
fn shown(instruction: &Instruction, register: Reg, ty: Type) -> Made {
    let Some(written) = written(instruction, register) else { return Made::Unknown };
    let fits = written.bits() <= ty.bits() && ty.bits().is_multiple_of(written.bits());
    if written.is_float() && fits {
        Made::Float(written)
    } else if written.is_signed() && written.bits() == ty.bits() {
        Made::Signed
    } else if is_arithmetic(&instruction.op) && !written.is_float() {
        Made::Integer
    } else {
        Made::Unknown
    }
}

/// The type that an instruction writes into a register, by its spelling.
fn written(instruction: &Instruction, register: Reg) -> Option<Type> {
    if matches!(instruction.op, Op::Call(_) | Op::MovVector(_)) {
        return None;
    }
    let position = instruction.writes().find(|(_, written)| *written == register)?.0;
    let Shape { dst, .. } = instruction.op.shape();
    // A vector is the only destination of what writes one.
    match dst.get(position).or(dst.first())? {
        OperandKind::Value(ty) | OperandKind::Loose(ty) | OperandKind::Vector(ty, _) => Some(*ty),
        _ => None,
    }
}

/// Whether an operation makes integers of what it is given. Bits are combined, shifted and chosen of anything.
fn is_arithmetic(op: &Op) -> bool {
    match op {
        Op::Alu(form) => matches!(form.alu.group(), Group::IntAdd | Group::IntMulAdd | Group::Convert),
        Op::Atom(atom) => matches!(atom.op, AtomOp::Add | AtomOp::Min | AtomOp::Max | AtomOp::Inc | AtomOp::Dec),
        Op::Extended(_) | Op::Redux(..) => true,
        _ => false,
    }
}

fn signed(bytes: u8) -> Type {
    match bytes {
        1 => Type::S8,
        2 => Type::S16,
        4 => Type::S32,
        _ => Type::S64,
    }
}
