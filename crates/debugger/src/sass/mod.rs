//! Machine instructions as the debugger writes them: which registers one writes, reads and addresses memory by.
//!
//! ```text
//! @!P1 LDG.E.CONSTANT R27,desc[UR8][R4.64]
//! guard opcode        written     memory, addressed by R4 and R5
//! ```
//!
//! NVIDIA documents the names of machine instructions ("CUDA Binary Utilities", instruction set reference) but not their
//! operands. What is written here holds for what compilers emit for sm_70 to sm_90; an instruction that `shape` does not
//! know has no operands that could be hit, and says so.

mod facts;
mod shape;

use shape::{Shape, base, group, shape, source_words, words};
use std::fmt;

pub(crate) use facts::registers;

/// A register of a thread or of its warp. The registers that are always zero or true are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Register {
    /// 32 bits of a thread.
    General(u8),
    /// A predicate of a thread.
    Predicate(u8),
    /// 32 bits of a warp.
    Uniform(u8),
    /// A predicate of a warp.
    UniformPredicate(u8),
}

/// A predicate that says whether an instruction executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guard {
    pub(crate) register: Register,
    pub(crate) negated: bool,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    /// None if it always executes; a guard that is always false is not written by compilers.
    pub(crate) guard: Option<Guard>,
    /// With all its modifiers.
    pub(crate) opcode: String,
    /// The registers that it writes.
    pub(crate) written: Vec<Register>,
    /// The registers of each operand that it reads as a value.
    pub(crate) sources: Vec<Vec<Register>>,
    /// The registers that each of its memory operands is addressed by.
    pub(crate) addresses: Vec<Vec<Register>>,
    /// Which of its sources it writes to memory.
    pub(crate) stored: Vec<Vec<Register>>,
    /// Whether its operands are understood.
    pub(crate) known: bool,
}

impl Register {
    /// How many bits it has.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::General(_) | Self::Uniform(_) => 32,
            Self::Predicate(_) | Self::UniformPredicate(_) => 1,
        }
    }

    /// Reads a name; `RZ`, `PT` and the like are none.
    fn parse(name: &str) -> Option<Self> {
        let number = |prefix: &str| name.strip_prefix(prefix).filter(|digits| is_number(digits))?.parse().ok();
        let uniform = number("UR").map(Self::Uniform).or_else(|| number("UP").map(Self::UniformPredicate));
        uniform.or_else(|| number("R").map(Self::General)).or_else(|| number("P").map(Self::Predicate))
    }

    /// This register and those after it, `count` in all.
    fn and_next(self, count: u8) -> Vec<Self> {
        let next = |by: u8| match self {
            Self::General(first) => Self::General(first.saturating_add(by)),
            Self::Uniform(first) => Self::Uniform(first.saturating_add(by)),
            other => other,
        };
        let count = if self.bits() == 1 { 1 } else { count };
        (0..count).map(next).collect()
    }
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::General(number) => write!(f, "R{number}"),
            Self::Predicate(number) => write!(f, "P{number}"),
            Self::Uniform(number) => write!(f, "UR{number}"),
            Self::UniformPredicate(number) => write!(f, "UP{number}"),
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// What stands between two commas.
struct Written<'a> {
    text: &'a str,
    /// The register that it is, without sign, bars and modifiers.
    register: Option<Register>,
    /// It is a register, perhaps one that is always zero or true.
    is_register: bool,
    is_predicate: bool,
    /// It is read as a pair because it says so (`R4.64`).
    pair: bool,
    is_memory: bool,
}

impl<'a> Written<'a> {
    fn of(text: &'a str) -> Self {
        let is_memory = text.contains('[');
        let bare = text.trim_start_matches(['-', '~', '!', '|', '+']).trim_end_matches('|');
        let mut parts = bare.split('.');
        let name = parts.next().unwrap_or_default().trim_end_matches('|');
        let register = Register::parse(name).filter(|_| !is_memory);
        let constant = !is_memory && matches!(name, "RZ" | "PT" | "URZ" | "UPT");
        Self {
            text,
            register,
            is_register: register.is_some() || constant,
            is_predicate: register.is_some_and(|register| register.bits() == 1) || matches!(name, "PT" | "UPT"),
            pair: parts.any(|part| part == "64"),
            is_memory,
        }
    }
}

impl Instruction {
    /// Reads an instruction; none if there is none in the text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_end_matches(';').trim_end();
        let (guard, rest) = match text.strip_prefix('@') {
            Some(guarded) => {
                let (guard, rest) = guarded.split_once(char::is_whitespace)?;
                let (negated, name) = guard.strip_prefix('!').map_or((false, guard), |name| (true, name));
                (Register::parse(name).map(|register| Guard { register, negated }), rest.trim_start())
            }
            None => (None, text),
        };
        let (opcode, operands) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if !opcode.starts_with(|letter: char| letter.is_ascii_uppercase()) {
            return None;
        }
        let operands = split(operands);
        let written: Vec<Written<'_>> = operands.iter().map(|text| Written::of(text)).collect();
        Some(Self::of(guard, opcode, &written))
    }

    fn of(guard: Option<Guard>, opcode: &str, operands: &[Written<'_>]) -> Self {
        let form = shape(opcode);
        let targets = targets(form, operands);
        let (targets, rest) = operands.split_at(targets);
        let mut instruction = Self {
            guard,
            opcode: opcode.to_owned(),
            written: Vec::new(),
            sources: Vec::new(),
            addresses: Vec::new(),
            stored: Vec::new(),
            known: form != Shape::Unknown,
        };
        for target in targets.iter().filter_map(|target| target.register) {
            instruction.written.extend(target.and_next(words(opcode)));
        }
        let mut after_memory = false;
        for (at, operand) in rest.iter().enumerate() {
            if operand.is_memory {
                after_memory = true;
                let registers = addressing(opcode, operand.text);
                if !registers.is_empty() {
                    instruction.addresses.push(registers);
                }
            } else if let Some(register) = operand.register {
                let count = if operand.pair { 2 } else { source_words(opcode, at, rest.len()) };
                let registers = register.and_next(count);
                if after_memory && form.writes_memory() && register.bits() > 1 {
                    instruction.stored.push(registers.clone());
                }
                instruction.sources.push(registers);
            }
        }
        instruction
    }

    /// Whether it reads a register: its guard, a value, an address.
    pub(crate) fn reads(&self, register: Register) -> bool {
        let guarded = self.guard.is_some_and(|guard| guard.register == register);
        guarded || self.sources.iter().chain(&self.addresses).flatten().any(|&read| read == register)
    }

    /// Whether it writes a register.
    pub(crate) fn writes(&self, register: Register) -> bool {
        self.written.contains(&register)
    }

    /// Whether it only has the lanes of its warp wait for each other, says where they will, or does nothing at all.
    ///
    /// No register of a thread is read or written, and the way goes on behind it, so that it is no place of a fault and
    /// tells no way from another. Stepping, the debugger stops before such an instruction at one time and takes it along
    /// with the one before at another (`BSYNC`). `BREAK`, which a lane executes for itself, and `BAR`, at which the
    /// block waits, are steps like any other.
    pub(crate) fn only_converges(&self) -> bool {
        let of_thread = self.guard.is_some() || !self.sources.is_empty();
        !of_thread && matches!(self.base(), "BSSY" | "BSYNC" | "WARPSYNC" | "YIELD" | "NOP")
    }

    /// Without modifiers.
    pub(crate) fn base(&self) -> &str {
        base(&self.opcode)
    }
}

/// How many of the first operands are written.
fn targets(form: Shape, operands: &[Written<'_>]) -> usize {
    let leading = |from: usize| operands[from..].iter().take_while(|operand| operand.is_predicate).count();
    match form {
        Shape::Unknown | Shape::Nothing | Shape::Stores => 0,
        Shape::Predicates(count) => count.min(operands.len()),
        // A vote gives a mask and a predicate, or a predicate alone.
        Shape::Vote if operands.first().is_some_and(|first| !first.is_predicate) => 2.min(operands.len()),
        Shape::Vote => 1.min(operands.len()),
        Shape::Value | Shape::Updates => {
            let before = leading(0);
            match operands.get(before) {
                Some(target) if target.is_register => before + 1 + leading(before + 1),
                // `ATOMS.CAST.SPIN P0, [R4], …` gives a predicate only.
                _ => before,
            }
        }
    }
}

/// The registers between brackets.
fn addressing(opcode: &str, text: &str) -> Vec<Register> {
    let mut registers = Vec::new();
    for part in text.split(['[', ']', '+']).map(|part| part.trim_start_matches('-')) {
        let mut names = part.split('.');
        let Some(register) = names.next().and_then(Register::parse) else { continue };
        let modifiers: Vec<&str> = names.collect();
        // Before sm_80 a global address says only by the instruction's `.E` that it has 64 bits.
        let extended = opcode.split('.').any(|modifier| modifier == "E") && !text.contains("desc");
        let pair = modifiers.contains(&"64") || (extended && !modifiers.contains(&"U32"));
        registers.extend(register.and_next(if pair { 2 } else { 1 }));
    }
    registers.retain(|register| matches!(register, Register::General(_)));
    registers
}

/// The operands of an instruction. The debugger writes `LDS R15[R2+0x4]` without a comma between the two.
fn split(text: &str) -> Vec<String> {
    let mut operands = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        match part.split_once('[') {
            Some((register, rest)) if Register::parse(register).is_some() || register == "RZ" => {
                operands.push(register.to_owned());
                operands.push(format!("[{rest}"));
            }
            _ => operands.push(part.to_owned()),
        }
    }
    operands
}

#[cfg(test)]
mod tests;
