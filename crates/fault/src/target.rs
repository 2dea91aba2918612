//! Where a fault hits: an operand of an instruction, a register, a byte of memory; and how many threads.

use crate::error::{ParseFaultError, digits, wrong};
use std::fmt;

/// What a fault hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// The destination at this position, after it is written.
    Destination(u8),
    /// The effective address of the memory operand with this number, for this access alone.
    Address(u8),
    /// The value at this position of those that are stored, on its way to memory.
    Stored(u8),
    /// The source operand at this position, as read by this instruction alone.
    Source(u8),
    /// The register with this number in the function that the thread is in, before the instruction.
    Register(u32),
    /// A byte of memory, before the instruction.
    Memory(Memory, u64),
}

/// The memories that a thread reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Memory {
    /// Allocations and variables of the device, but constants. Addresses are those of the device.
    Global,
    /// Shared memory of the thread's block. Addresses count from its start.
    Shared,
    /// Local memory of the thread. Addresses count from its start.
    Local,
    /// Constant variables. Addresses are those of the device.
    Const,
}

impl Memory {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Global, Self::Shared, Self::Local, Self::Const];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Const => "const",
        }
    }
}

impl Target {
    /// What it is without its number: the same word for all registers, and for all bytes of a memory.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Self::Destination(_) => "dst",
            Self::Address(_) => "addr",
            Self::Stored(_) => "store",
            Self::Source(_) => "src",
            Self::Register(_) => "reg",
            Self::Memory(memory, _) => memory.word(),
        }
    }

    /// Whether it is hit before its instruction executes.
    #[must_use]
    pub fn is_before(self) -> bool {
        !matches!(self, Self::Destination(_))
    }

    pub(crate) fn parse(text: &str) -> Result<Self, ParseFaultError> {
        let expected = "dst0, addr0, store0, src0 (the position of an operand), reg7, or a byte of memory such as \
                        global@0x7f0000000000, shared@0x400, local@0x0, const@0x7f0000000000";
        let bad = || wrong("target", text, expected);
        if let Some((memory, address)) = text.split_once('@') {
            let memory = Memory::ALL.into_iter().find(|known| known.word() == memory).ok_or_else(bad)?;
            let digits = address.strip_prefix("0x").filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
            let address = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()).ok_or_else(bad)?;
            return Ok(Self::Memory(memory, address));
        }
        let (name, position) = text.split_at(text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len()));
        let small = || digits::<u8>(position).ok_or_else(bad);
        match name {
            "dst" => small().map(Self::Destination),
            "addr" => small().map(Self::Address),
            "store" => small().map(Self::Stored),
            "src" => small().map(Self::Source),
            "reg" => digits(position).map(Self::Register).ok_or_else(bad),
            _ => Err(bad()),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())?;
        match self {
            Self::Destination(at) | Self::Address(at) | Self::Stored(at) | Self::Source(at) => write!(f, "{at}"),
            Self::Register(number) => write!(f, "{number}"),
            Self::Memory(_, address) => write!(f, "@{address:#x}"),
        }
    }
}

/// Which threads a fault hits, all in the same operand and with the same model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The thread that the fault names.
    #[default]
    Thread,
    /// That one and another of its warp that executes the instruction with it, linear in the block.
    Pair(u32),
    /// These lanes of its warp, that one's among them.
    Lanes(u32),
    /// Every thread of the warp that executes the instruction with it.
    Warp,
}

impl Scope {
    pub(crate) fn parse(text: &str) -> Result<Self, ParseFaultError> {
        let other = |text: &str| digits(text.strip_prefix("pair+")?);
        let lanes = |text: &str| {
            let digits =
                text.strip_prefix("lanes+0x").filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
            u32::from_str_radix(digits, 16).ok().filter(|&lanes| lanes != 0)
        };
        match text {
            "thread" => Ok(Self::Thread),
            "warp" => Ok(Self::Warp),
            _ => other(text).map(Self::Pair).or_else(|| lanes(text).map(Self::Lanes)).ok_or_else(|| {
                let expected = "thread, warp, pair+7 (the other thread's number in the block), or lanes+0xff00 (lanes of the warp)";
                wrong("scope", text, expected)
            }),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Thread => f.write_str("thread"),
            Self::Pair(other) => write!(f, "pair+{other}"),
            Self::Lanes(lanes) => write!(f, "lanes+{lanes:#x}"),
            Self::Warp => f.write_str("warp"),
        }
    }
}
