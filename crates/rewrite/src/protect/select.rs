//! Which registers have a shadow, and which of these are compared with it, where only some instructions are protected.
//!
//! ```text
//! a chosen instruction writes it               shadow, compared where the data leaves what is protected
//! only what is not chosen writes it, but an
//! instruction that is executed twice reads it  shadow: an assembler would merge a duplicate that reads the same register
//! otherwise                                    neither
//! ```
//!
//! What is not chosen is treated as what cannot be executed twice: what it reads is compared before it, what it writes is
//! copied into the shadow.

use crate::protect::eligible::Treatment;
use crate::protect::pieces::TreatedPiece;
use facts::Reg;
use isa::{Function, Instruction};

/// By register, what protection knows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shadowed {
    compared: Vec<bool>,
    any: Vec<bool>,
}

impl Shadowed {
    /// That of the registers of a function in these pieces.
    pub(super) fn of(function: &Function, pieces: &[TreatedPiece]) -> Self {
        let count = function.registers.len();
        let (mut written, mut chosen, mut read) = (vec![false; count], vec![false; count], vec![false; count]);
        let set = |flags: &mut Vec<bool>, register: Reg| {
            flags.get_mut(register.index()).into_iter().for_each(|flag| *flag = true);
        };
        for piece in pieces {
            let twice = matches!(piece.treatment, Treatment::Duplicate | Treatment::Constant);
            for instruction in &function.body[piece.range.clone()] {
                for (_, register) in instruction.writes() {
                    set(&mut written, register);
                    if piece.chosen {
                        set(&mut chosen, register);
                    }
                }
                instruction.reads().filter(|_| twice).for_each(|register| set(&mut read, register));
            }
        }
        // What nothing writes begins as zero, like its shadow.
        let compared: Vec<bool> = chosen.iter().zip(&written).map(|(chosen, written)| *chosen || !written).collect();
        let any = compared.iter().zip(&read).map(|(compared, read)| *compared || *read).collect();
        Self { compared, any }
    }

    /// Whether a register has a shadow.
    pub(super) fn has(&self, register: Reg) -> bool {
        self.any.get(register.index()).copied().unwrap_or(false)
    }

    /// Whether a register is compared with its shadow where its data leaves what is protected.
    pub(super) fn is_compared(&self, register: Reg) -> bool {
        self.compared.get(register.index()).copied().unwrap_or(false)
    }
}

/// Whether an earlier one of instructions that are treated together writes a register in any case: before
/// all of them, the register is not what the later one reads.
pub(super) fn is_written(register: Reg, earlier: &[Instruction]) -> bool {
    let plain = earlier.iter().filter(|instruction| instruction.guard.is_none());
    plain.flat_map(Instruction::writes).any(|(_, written)| written == register)
}
