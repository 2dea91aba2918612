//! The facts of a machine instruction that faults are drawn by: its group, and its operands.
//!
//! A value that is wider than 32 bits is in several registers in a row. Each that is written is an operand of its own, as
//! a debugger hits one at a time; what is read is one operand, named by the first. Registers that belong to a warp are
//! left out, as a flip there hits 32 threads: of what an instruction reads and writes, and of where control goes, the
//! facts do not say all.

use super::{Instruction, Register, group};
use facts::{Facts, Guard, Operand, Reg, Role};

/// Registers are numbered from here on that are predicates.
const PREDICATES: u32 = 256;

/// The number of a thread's register; none of a warp's.
fn number(register: Register) -> Option<Reg> {
    match register {
        Register::General(number) => Some(Reg(number.into())),
        Register::Predicate(number) => Some(Reg(PREDICATES + u32::from(number))),
        Register::Uniform(_) | Register::UniformPredicate(_) => None,
    }
}

/// The registers that hold an operand, the lowest bits first.
pub(crate) fn registers(operand: &fault::TargetOperand) -> Vec<Register> {
    match operand.register.0.checked_sub(PREDICATES) {
        Some(predicate) => vec![Register::Predicate(predicate as u8)],
        None => Register::General(operand.register.0 as u8).and_next((operand.bits / 32) as u8),
    }
}

/// An operand in these registers, if all are of the thread.
fn operand(role: Role, position: u8, registers: &[Register]) -> Option<Operand> {
    let numbers: Option<Vec<Reg>> = registers.iter().map(|&register| number(register)).collect();
    let bits = registers.iter().map(|register| register.bits()).sum();
    Some(Operand { role, position, register: *numbers?.first()?, bits, offset: 0, ty: None })
}

impl Instruction {
    /// What is known of it; of one that is not understood, no operands.
    pub(crate) fn facts(&self) -> Facts {
        let written = (0..).zip(&self.written);
        let written = written.map(|(at, register)| (Role::Destination, at, std::slice::from_ref(register)));
        let read = [(Role::Source, &self.sources), (Role::Address, &self.addresses), (Role::Stored, &self.stored)];
        let read = read.into_iter().flat_map(|(role, operands)| {
            (0..).zip(operands).map(move |(at, registers)| (role, at, registers.as_slice()))
        });
        let all = written.chain(read).filter(|_| self.known);
        let guard = self.guard.and_then(|guard| Some(Guard { pred: number(guard.register)?, negated: guard.negated }));
        Facts {
            guard,
            operands: all.filter_map(|(role, at, registers)| operand(role, at, registers)).collect(),
            ..Facts::new(self.opcode.clone(), group(&self.opcode))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fault::{Target, TargetKind, operands};

    fn found(target: TargetKind, text: &str) -> Vec<(String, u32)> {
        let operands = operands(target, &Instruction::parse(text).unwrap().facts());
        operands.iter().map(|operand| (operand.target.to_string(), operand.bits)).collect()
    }

    #[test]
    fn each_written_register_is_a_destination_and_an_address_is_one_value() {
        let load = "LDG.E.64 R4,desc[UR8][R4.64]";
        assert_eq!(found(TargetKind::Destination, load), [("dst0".to_owned(), 32), ("dst1".to_owned(), 32)]);
        assert_eq!(found(TargetKind::Address, load), [("addr0".to_owned(), 64)]);
        assert_eq!(found(TargetKind::Stored, "STS [R2],R9"), [("store0".to_owned(), 32)]);
        assert_eq!(found(TargetKind::Predicate, "IADD3 R16,P1,R16,0x40,RZ"), [("dst1".to_owned(), 1)]);
    }

    #[test]
    fn what_belongs_to_the_warp_is_left_out() {
        assert_eq!(found(TargetKind::Destination, "ULDC.64 UR6,c[0x0][0x208]"), []);
        assert_eq!(found(TargetKind::Source, "ISETP.GE.AND P0,PT,R3,UR4,PT"), [("src0".to_owned(), 32)]);
        assert_eq!(found(TargetKind::Destination, "HMMA.16816.F32 R4,R8,R12,R4"), []);
        assert_eq!(fault::operand(Target::Register(3), &Instruction::parse("MOV R1,R2").unwrap().facts()), None);
    }

    #[test]
    fn an_operand_names_the_registers_that_hold_it() {
        let names = |text: &str, target: Target| {
            let operand = fault::operand(target, &Instruction::parse(text).unwrap().facts()).unwrap();
            registers(&operand).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(names("LDG.E R9,desc[UR8][R4.64]", Target::Address(0)), ["R4", "R5"]);
        assert_eq!(names("ISETP.LT.AND P5,PT,R5,R12,P5", Target::Destination(0)), ["P5"]);
    }
}
