//! The operands of a machine instruction that can be hit.

use crate::sass::{Instruction, Register};
use fault::{Aim, Target};

/// An operand: one register, or those that hold one value together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Operand {
    pub(crate) target: Target,
    pub(crate) registers: Vec<Register>,
}

impl Operand {
    /// How many bits it has.
    pub(crate) fn bits(&self) -> u32 {
        self.registers.iter().map(|register| register.bits()).sum()
    }
}

/// What can be aimed at.
pub(crate) const AIMS: &str = "dst, pred, addr, store, src";

/// Whether something can be aimed at in a debugger: registers of an instruction.
pub(crate) fn can_aim(aim: Aim) -> bool {
    matches!(aim, Aim::Destination | Aim::Predicate | Aim::Address | Aim::Stored | Aim::Source)
}

/// The operands of an instruction that are aimed at. Registers that belong to a warp are left out: a flip there hits 32
/// threads. Of a value that is wider than 32 bits each register that is written is an operand, and what is read is one.
pub(crate) fn operands(aim: Aim, instruction: &Instruction) -> Vec<Operand> {
    let written = || (0..).zip(&instruction.written).map(|(at, &register)| (Target::Destination(at), vec![register]));
    let of = |registers: &[Vec<Register>], target: fn(u8) -> Target| {
        (0..).zip(registers).map(|(at, registers)| (target(at), registers.clone())).collect::<Vec<_>>()
    };
    let all = match aim {
        _ if !instruction.known => Vec::new(),
        Aim::Destination => written().collect(),
        Aim::Predicate => {
            written().filter(|(_, registers)| registers.iter().all(|register| register.bits() == 1)).collect()
        }
        Aim::Address => of(&instruction.addresses, Target::Address),
        Aim::Stored => of(&instruction.stored, Target::Stored),
        Aim::Source => of(&instruction.sources, Target::Source),
        Aim::Register | Aim::Memory(_) => Vec::new(),
    };
    let operands = all.into_iter().map(|(target, registers)| Operand { target, registers });
    operands.filter(|operand| operand.registers.iter().all(|register| register.is_of_thread())).collect()
}

/// The operand that a fault names.
pub(crate) fn operand(target: Target, instruction: &Instruction) -> Option<Operand> {
    operands(Aim::of_operand(target)?, instruction).into_iter().find(|operand| operand.target == target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(aim: Aim, text: &str) -> Vec<(String, u32)> {
        let instruction = Instruction::parse(text).unwrap();
        let operands = operands(aim, &instruction);
        operands.iter().map(|operand| (operand.target.to_string(), operand.bits())).collect()
    }

    #[test]
    fn each_written_register_is_a_destination_and_an_address_is_one_value() {
        let load = "LDG.E.64 R4,desc[UR8][R4.64]";
        assert_eq!(found(Aim::Destination, load), [("dst0".to_owned(), 32), ("dst1".to_owned(), 32)]);
        assert_eq!(found(Aim::Address, load), [("addr0".to_owned(), 64)]);
        assert_eq!(found(Aim::Stored, "STS [R2],R9"), [("store0".to_owned(), 32)]);
        assert_eq!(found(Aim::Predicate, "IADD3 R16,P1,R16,0x40,RZ"), [("dst1".to_owned(), 1)]);
    }

    #[test]
    fn what_belongs_to_the_warp_is_left_out() {
        assert_eq!(found(Aim::Destination, "ULDC.64 UR6,c[0x0][0x208]"), []);
        assert_eq!(found(Aim::Source, "ISETP.GE.AND P0,PT,R3,UR4,PT"), [("src0".to_owned(), 32)]);
        assert_eq!(found(Aim::Destination, "HMMA.16816.F32 R4,R8,R12,R4"), []);
        assert_eq!(operand(Target::Register(3), &Instruction::parse("MOV R1,R2").unwrap()), None);
    }
}
