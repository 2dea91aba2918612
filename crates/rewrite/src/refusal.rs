//! What cannot be written into a module, and why.

use thiserror::Error;

/// Why a fault cannot be written into a module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Error)]
pub enum Refusal {
    /// What is hit is no operand of an instruction.
    #[error("write the fault into the kernel: {0} is no operand of an instruction (dst, addr, store, src)")]
    NoOperand(String),
    /// More than one thread is hit.
    #[error("write the fault into the kernel: it hits several threads at once (scope {0})")]
    Scope(String),
    /// The instruction is not written: it is the return behind the last one of a function.
    #[error("write the fault into the kernel: the instruction is not in its text")]
    Unwritten,
    /// The instruction has no such operand in a register.
    #[error("write the fault into the kernel: {instruction} has no operand {target} in a register")]
    Operand {
        /// The instruction.
        instruction: String,
        /// What was looked for.
        target: String,
    },
    /// The bits lie beyond the operand.
    #[error("write the fault into the kernel: an operand of {0} bits does not have all that the model names")]
    Width(u32),
    /// The module reads clocks, and more instructions take more time.
    #[error("write the fault into the kernel: the module reads {0}, which tells other times with other code")]
    Clock(String),
    /// A name is taken.
    #[error("write the fault into the kernel: the module has a variable {0} of its own")]
    Taken(&'static str),
    /// The module is not as it is said to be.
    #[error("write the fault into the kernel: {0}")]
    Malformed(String),
}
