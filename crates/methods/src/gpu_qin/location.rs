//! Where in an instruction a fault goes (paper, §III-C), and why some runs are given up.
//!
//! - Arithmetic: a destination register, any of several. A predicate is none: a debugger cannot change it.
//! - Memory: a destination or an address register.
//! - What only writes predicates: a source register.
//! - All else (branches, barriers, stores to constant addresses) has nothing to hit.
//!
//! A destination is hit after the instruction; an address or a source in its register before the instruction, and it
//! stays. A destination of an instruction whose guard is false is hit in its register, too: nothing is written to it.

use fault::{Aim, Operand, Target, operands};
use inject::threads::Found;
use isa::{Function, Instruction};
use serde::Serialize;
use stats::Draws;
use std::fmt;
use std::num::NonZeroU64;

/// Why a run is given up before anything is hit. Its row says that it did not land.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Discard {
    /// The thread that was drawn does not come to the instruction of the profile.
    NotThere,
    /// The instruction has no register to hit.
    NoRegister,
    /// More steps from the breakpoint of the line than are made.
    Steps,
}

impl Discard {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::NotThere, Self::NoRegister, Self::Steps];

    /// The reason in rows.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NotThere => "thread not there",
            Self::NoRegister => "no register",
            Self::Steps => "too many steps",
        }
    }

    /// What a word of a row stands for, if it is one of these.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|discard| discard.word() == word)
    }
}

impl fmt::Display for Discard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One of some operands, each with the same chance.
fn any(draws: &mut Draws, all: &[Operand]) -> Option<Operand> {
    let at = draws.below(NonZeroU64::new(all.len() as u64)?);
    all.get(at as usize).copied()
}

/// What is hit of an instruction, and its width in bits.
pub(crate) fn locate(
    draws: &mut Draws,
    function: &Function,
    instruction: &Instruction,
    found: Found,
) -> Option<(Target, u32)> {
    let data = |aim| -> Vec<Operand> {
        let all = operands(aim, function, instruction).into_iter();
        all.filter(|operand| operand.bits > 1).collect()
    };
    let held = |operand: Operand| (Target::Register(operand.register.0), register_bits(function, operand));
    let (destinations, addresses) = (data(Aim::Destination), data(Aim::Address));
    let choices = [(&destinations, true), (&addresses, false)];
    let choices: Vec<_> = choices.into_iter().filter(|(operands, _)| !operands.is_empty()).collect();
    if let Some(kinds) = NonZeroU64::new(choices.len() as u64) {
        let (operands, written) = choices[draws.below(kinds) as usize];
        let operand = any(draws, operands)?;
        return Some(if written && found.executed { (operand.target, operand.bits) } else { held(operand) });
    }
    let writes_predicates = instruction.writes().next().is_some();
    any(draws, &data(Aim::Source)).filter(|_| writes_predicates).map(held)
}

fn register_bits(function: &Function, operand: Operand) -> u32 {
    function.register(operand.register).width().bits()
}
