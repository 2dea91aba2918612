//! The operands of an instruction that faults can hit.
//!
//! Only registers are hit: an immediate and the address of a variable are part of the instruction and not of the state
//! of the machine. A register that an instruction reads in several places is read once, and counts once as a source.

use crate::error::SelectionError;
use crate::target::{Memory, Target};
use facts::{Facts, Reg, Role};

/// The kind of target that a campaign hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TargetKind {
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
    /// A register at a random time: of those that are allocated, or of so many words of 32 bits, allocated or not.
    Register(Option<u32>),
    /// The register with this number in its function at a random time, live or not.
    ChosenRegister(u32),
    /// A byte at a random time, of this memory or of all that the thread reaches.
    Memory(Option<Memory>),
}

/// More words of 32 bits than a thread of any GPU has registers.
const MOST_WORDS: u32 = 1024;

impl TargetKind {
    /// The words that campaigns use, in the order of their explanation.
    pub const WORDS: [&str; 11] =
        ["dst", "pred", "addr", "store", "src", "reg", "mem", "global", "shared", "local", "const"];

    /// Reads the word of a campaign.
    ///
    /// # Errors
    /// If the word means nothing.
    pub fn parse(word: &str) -> Result<Self, SelectionError> {
        if let Ok(Target::Register(number)) = Target::parse(word) {
            return Ok(Self::ChosenRegister(number));
        }
        Ok(match word {
            "dst" => Self::Destination,
            "pred" => Self::Predicate,
            "addr" => Self::Address,
            "store" => Self::Stored,
            "src" => Self::Source,
            "reg" => Self::Register(None),
            "mem" => Self::Memory(None),
            _ if word.starts_with("reg:") => {
                let words = word["reg:".len()..].parse().ok().filter(|words| (1..=MOST_WORDS).contains(words));
                Self::Register(Some(words.ok_or_else(|| SelectionError::Registers(word.to_owned()))?))
            }
            _ => {
                let memory = Memory::ALL.into_iter().find(|memory| memory.word() == word);
                let expected = || Self::WORDS.join(", ");
                let unknown = || SelectionError::Word { key: "target", found: word.to_owned(), expected: expected() };
                Self::Memory(Some(memory.ok_or_else(unknown)?))
            }
        })
    }

    /// The kind of a target that is an operand; none for what is no operand.
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
        !matches!(self, Self::Register(_) | Self::ChosenRegister(_) | Self::Memory(_))
    }
}

/// An operand that a fault can hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetOperand {
    /// How ids name it.
    pub target: Target,
    /// The register that holds it.
    pub register: Reg,
    /// How many bits it has, the low ones of the register.
    pub bits: u32,
    /// What is added to the register to make the operand: the displacement of an address.
    pub offset: i64,
}

impl TargetOperand {
    fn of(operand: &facts::Operand) -> Self {
        let facts::Operand { role, position, register, bits, offset, .. } = *operand;
        let target = match role {
            Role::Destination => Target::Destination(position),
            Role::Source => Target::Source(position),
            Role::Address => Target::Address(position),
            Role::Stored => Target::Stored(position),
        };
        Self { target, register, bits, offset }
    }

    /// A register of a function, whatever instruction comes next.
    #[must_use]
    pub fn of_register(register: Reg, bits: u32) -> Self {
        Self { target: Target::Register(register.0), register, bits, offset: 0 }
    }
}

/// The operands of an instruction that are aimed at, in the order of their positions; none for a kind of target that is
/// no operand.
#[must_use]
pub fn operands(kind: TargetKind, facts: &Facts) -> Vec<TargetOperand> {
    let role = match kind {
        TargetKind::Destination | TargetKind::Predicate => Role::Destination,
        TargetKind::Address => Role::Address,
        TargetKind::Stored => Role::Stored,
        TargetKind::Source => Role::Source,
        TargetKind::Register(_) | TargetKind::ChosenRegister(_) | TargetKind::Memory(_) => return Vec::new(),
    };
    let all = facts.of_role(role).filter(|operand| kind != TargetKind::Predicate || operand.bits == 1);
    all.map(TargetOperand::of).collect()
}

/// The operand that a target names, if the instruction has it.
#[must_use]
pub fn operand(target: Target, facts: &Facts) -> Option<TargetOperand> {
    operands(TargetKind::of_operand(target)?, facts).into_iter().find(|operand| operand.target == target)
}
