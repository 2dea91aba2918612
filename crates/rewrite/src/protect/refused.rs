//! Why a function is left as it is.

use crate::refusal::Refusal;
use facts::Pc;
use thiserror::Error;

/// Why a function is not protected. It is left as it is.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unprotected {
    /// One of its instructions does not allow it.
    #[error("protect the function: {why} ({instruction}, instruction {})", pc.0)]
    Instruction {
        /// The instruction.
        pc: Pc,
        /// Its spelling.
        instruction: String,
        /// Why.
        why: &'static str,
    },
    /// A register has 8 bits: no instruction copies or compares such registers.
    #[error(
        "protect the function: its register {register} has 8 bits, and no instruction of PTX copies or compares these"
    )]
    Byte {
        /// Its name.
        register: String,
    },
    /// An instruction that is to be put in cannot be made.
    #[error(transparent)]
    Code(#[from] Refusal),
}
