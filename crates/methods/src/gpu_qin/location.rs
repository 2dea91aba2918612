//! Where in an instruction a fault goes (paper, §III-C), and why some runs are given up.
//!
//! - Arithmetic: a destination register, any of several. A predicate is none: a debugger cannot change it.
//! - Memory: a destination or an address register.
//! - What only writes predicates: a source register.
//! - All else (branches, barriers, stores to constant addresses) has nothing to hit.
//!
//! A destination is hit after the instruction; an address or a source in its register before the instruction, and it
//! stays. A destination of an instruction whose guard is false is hit in its register, too: nothing is written to it.
//! Registers that the model of the campaign cannot hit are not drawn.

use facts::Facts;
use fault::{ModelKind, Target, TargetKind, TargetOperand, draw, operands};
use inject::threads::FoundInstruction;
use serde::Serialize;
use stats::Draws;
use std::fmt;

/// Why a run is given up before anything is hit. Its row says that it did not land.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Discard {
    /// The thread that was drawn does not come to the instruction of the profile.
    NotThere,
    /// The instruction has no register to hit, or none with the bits that are to change.
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

/// What a kind of model hits of an instruction, and its width in bits.
pub(crate) fn locate(
    draws: &mut Draws,
    model: ModelKind,
    facts: &Facts,
    found: FoundInstruction,
) -> Option<(Target, u32)> {
    let data = |target| -> Vec<TargetOperand> {
        let all = operands(target, facts).into_iter();
        all.filter(|operand| operand.bits > 1 && model.hits(operand.bits)).collect()
    };
    let held = |operand: TargetOperand| (Target::Register(operand.register.0), operand.bits);
    let (destinations, addresses) = (data(TargetKind::Destination), data(TargetKind::Address));
    let choices = [(&destinations, true), (&addresses, false)];
    let choices: Vec<_> = choices.into_iter().filter(|(operands, _)| !operands.is_empty()).collect();
    if let Some(&(operands, written)) = draws.one_of(&choices) {
        let operand = draw::operand(draws, model, operands)?;
        return Some(if written && found.executed { (operand.target, operand.bits) } else { held(operand) });
    }
    let writes = facts.writes_general_and_predicates();
    if writes.0 || !writes.1 {
        return None;
    }
    draw::operand(draws, model, &data(TargetKind::Source)).map(held)
}
