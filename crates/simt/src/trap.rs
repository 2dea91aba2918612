//! How a run ends, and what a program can do wrong, in CUDA's words.

use std::fmt;

/// What a thread did wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrapKind {
    /// An access to global memory outside every mapped page.
    IllegalAddress,
    /// An access outside the block's shared or the thread's local memory.
    OutOfRangeAddress,
    /// An access to a window of the generic address space by an instruction that names another space.
    InvalidAddressSpace,
    /// An address that is not a multiple of the access size.
    MisalignedAddress,
    /// Calls nested deeper than the stack holds.
    StackOverflow,
    /// An instruction or operand that the machine cannot execute, for example a jump through a bad table index.
    IllegalInstruction,
    /// Every living thread waits at a barrier that cannot complete, or for lanes of its warp that name others.
    BarrierDeadlock,
    /// `trap`
    Trap,
    /// A failed device `assert`.
    Assert,
    /// A loop that provably never ends.
    EndlessLoop,
    /// A loop that provably goes on for longer than anybody waits.
    LongLoop,
    /// More instructions than the fuel allows.
    OutOfFuel,
}

impl TrapKind {
    /// The name used in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::IllegalAddress => "illegal_address",
            Self::OutOfRangeAddress => "out_of_range_address",
            Self::InvalidAddressSpace => "invalid_address_space",
            Self::MisalignedAddress => "misaligned_address",
            Self::StackOverflow => "stack_overflow",
            Self::IllegalInstruction => "illegal_instruction",
            Self::BarrierDeadlock => "barrier_deadlock",
            Self::Trap => "trap",
            Self::Assert => "assert",
            Self::EndlessLoop => "endless_loop",
            Self::LongLoop => "long_loop",
            Self::OutOfFuel => "out_of_fuel",
        }
    }
}

impl fmt::Display for TrapKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::IllegalAddress => "illegal address",
            Self::OutOfRangeAddress => "address outside shared or local memory",
            Self::InvalidAddressSpace => "address of another state space",
            Self::MisalignedAddress => "misaligned address",
            Self::StackOverflow => "stack overflow",
            Self::IllegalInstruction => "illegal instruction or operand",
            Self::BarrierDeadlock => "barrier deadlock",
            Self::Trap => "trap instruction",
            Self::Assert => "failed assertion",
            Self::EndlessLoop => "endless loop (hang)",
            Self::LongLoop => "loop that nothing in reach ends (hang)",
            Self::OutOfFuel => "out of fuel (hang)",
        })
    }
}

/// What went wrong and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trap {
    /// What.
    pub kind: TrapKind,
    /// The instruction, as an index into the program's instructions.
    pub instruction: u32,
    /// The block, linear in the grid.
    pub block: u64,
    /// The thread, linear in its block: the lowest that did it.
    pub thread: u32,
    /// The address, where the trap is about one.
    pub address: Option<u64>,
}

/// A device `assert` that failed: what `__assertfail` was called with, and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// The block, linear in the grid.
    pub block: u64,
    /// The thread, linear in its block.
    pub thread: u32,
    /// The text of what did not hold.
    pub expression: Vec<u8>,
    /// The source file.
    pub file: Vec<u8>,
    /// Its line.
    pub line: u32,
    /// The function.
    pub function: Vec<u8>,
}

/// How a run of a block or a launch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// Every thread exited.
    Completed,
    /// A thread did something wrong; the rest of the launch did not run.
    Trapped(Trap),
    /// Whoever looks in knows what the rest of the block does; it did not run.
    Stopped,
    /// What the block does repeats itself until another block of its launch changes memory; only of a block that runs alone.
    Waits,
}

/// Why a block does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// A thread did something wrong.
    Trap(Trap),
    /// Whoever looks in has seen enough.
    Stop,
}

impl From<Trap> for Halt {
    fn from(trap: Trap) -> Self {
        Self::Trap(trap)
    }
}

impl From<Halt> for RunEnd {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Trap(trap) => Self::Trapped(trap),
            Halt::Stop => Self::Stopped,
        }
    }
}
