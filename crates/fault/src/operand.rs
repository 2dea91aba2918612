//! The operands of an instruction that faults can hit.
//!
//! Only registers are hit: an immediate and the address of a variable are part of the instruction and not of the state
//! of the machine. A register that an instruction reads in several places is read once, and counts once as a source.

use crate::error::SelectionError;
use crate::target::{Memory, Target};
use isa::op::{AtomOp, Matrix};
use isa::{Base, Function, Instruction, Op, Operand as Source, Reg, Width};
use std::collections::BTreeSet;

/// What a campaign aims at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Aim {
    /// Any destination register, predicates too.
    #[default]
    Destination,
    /// Destination predicates only.
    Predicate,
    /// The effective address of a load, store or atomic.
    Address,
    /// A value being stored.
    Stored,
    /// A source operand, as read by one instruction.
    Source,
    /// An allocated register at a random time.
    Register,
    /// A byte at a random time, of this memory or of all that the thread reaches.
    Memory(Option<Memory>),
}

impl Aim {
    /// The words that campaigns use, in the order of their explanation.
    pub const WORDS: [&str; 11] =
        ["dst", "pred", "addr", "store", "src", "reg", "mem", "global", "shared", "local", "const"];

    /// Reads the word of a campaign.
    ///
    /// # Errors
    /// If the word means nothing.
    pub fn parse(word: &str) -> Result<Self, SelectionError> {
        Ok(match word {
            "dst" => Self::Destination,
            "pred" => Self::Predicate,
            "addr" => Self::Address,
            "store" => Self::Stored,
            "src" => Self::Source,
            "reg" => Self::Register,
            "mem" => Self::Memory(None),
            _ => {
                let memory = Memory::ALL.into_iter().find(|memory| memory.word() == word);
                let expected = || Self::WORDS.join(", ");
                let unknown = || SelectionError::Word { key: "target", found: word.to_owned(), expected: expected() };
                Self::Memory(Some(memory.ok_or_else(unknown)?))
            }
        })
    }

    /// What aims at the operand that a target names; none for what is no operand.
    #[must_use]
    pub fn of_operand(target: Target) -> Option<Self> {
        match target {
            Target::Destination(_) => Some(Self::Destination),
            Target::Address(_) => Some(Self::Address),
            Target::Stored(_) => Some(Self::Stored),
            Target::Source(_) => Some(Self::Source),
            Target::Register(_) | Target::Memory(..) => None,
        }
    }

    /// Whether what is hit depends on the instruction alone: on no time.
    #[must_use]
    pub fn is_operand(self) -> bool {
        !matches!(self, Self::Register | Self::Memory(_))
    }
}

/// An operand that a fault can hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// How ids name it.
    pub target: Target,
    /// The register that holds it.
    pub register: Reg,
    /// How many bits it has, the low ones of the register.
    pub bits: u32,
    /// What is added to the register to make the operand: the displacement of an address.
    pub offset: i64,
}

/// The operands of an instruction that are aimed at, in the order of their positions; none for an aim that is no
/// operand.
#[must_use]
pub fn operands(aim: Aim, function: &Function, instruction: &Instruction) -> Vec<Operand> {
    let width = |register| Width::bits(function.register(register).width());
    let whole = |target, register| Operand { target, register, bits: width(register), offset: 0 };
    match aim {
        Aim::Destination | Aim::Predicate => {
            let all = instruction.writes().map(|(at, register)| whole(Target::Destination(at as u8), register));
            all.filter(|operand| aim == Aim::Destination || operand.bits == 1).collect()
        }
        Aim::Address => addresses(instruction)
            .map(|(at, register, offset)| Operand { offset, ..whole(Target::Address(at), register) })
            .collect(),
        Aim::Stored => {
            let values = stored(instruction).zip(0..).filter_map(|((source, bits), at)| {
                let register = register(source)?;
                let bits = bits.unwrap_or(u32::MAX).min(width(register));
                Some(Operand { bits, ..whole(Target::Stored(at), register) })
            });
            values.collect()
        }
        Aim::Source => {
            let mut seen = BTreeSet::new();
            let sources = instruction.src.iter().zip(0..).filter_map(|(source, at)| Some((source.register()?, at)));
            let fresh = sources.filter(|(register, _)| seen.insert(*register));
            fresh.map(|(register, at)| whole(Target::Source(at), register)).collect()
        }
        Aim::Register | Aim::Memory(_) => Vec::new(),
    }
}

/// The operand that a target names, if the instruction has it.
#[must_use]
pub fn operand(target: Target, function: &Function, instruction: &Instruction) -> Option<Operand> {
    operands(Aim::of_operand(target)?, function, instruction).into_iter().find(|operand| operand.target == target)
}

fn register(source: &Source) -> Option<Reg> {
    match source {
        Source::Reg(register) => Some(*register),
        _ => None,
    }
}

/// The memory operands whose address comes from a register: which, the register, the displacement.
fn addresses(instruction: &Instruction) -> impl Iterator<Item = (u8, Reg, i64)> {
    let accesses = matches!(
        instruction.op,
        Op::Ld(_) | Op::St(_) | Op::Atom(_) | Op::Red(_) | Op::CopyAsync(_) | Op::Mbarrier(_) | Op::Matrix(_)
    );
    let memory = instruction.src.iter().filter(move |source| accesses && matches!(source, Source::Address(..)));
    memory.zip(0..).filter_map(|(source, at)| match source {
        Source::Address(Base::Reg(register), offset) => Some((at, *register, *offset)),
        _ => None,
    })
}

/// The sources that an instruction stores, and how many of their bits; all bits where nothing is said.
fn stored(instruction: &Instruction) -> impl Iterator<Item = (&Source, Option<u32>)> {
    // The address comes first; behind the values there may be a cache policy or a stride.
    let (skipped, count, bits) = match &instruction.op {
        Op::St(access) => (1, usize::from(access.vector), Some(access.ty.bits())),
        Op::Atom(atom) | Op::Red(atom) if atom.op == AtomOp::Cas => (2, 1, Some(atom.ty.bits())),
        Op::Atom(atom) | Op::Red(atom) => (1, usize::from(atom.vector), Some(atom.ty.bits())),
        Op::Surface(surface) if surface.store => {
            let count = usize::from(surface.vector);
            (instruction.src.len().saturating_sub(count), count, Some(surface.ty.bits()))
        }
        Op::Matrix(Matrix::Store(tiles)) => (1, usize::from(tiles.count), None),
        Op::Matrix(Matrix::StoreFragment(it)) => (1, usize::from(it.extent.registers(it.role, it.element)), None),
        _ => (0, 0, None),
    };
    instruction.src.iter().skip(skipped).take(count).map(move |source| (source, bits))
}
