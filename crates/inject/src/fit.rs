//! Whether what a fault hits is there, and has the bits that the fault names.

use crate::run::InjectError;
use facts::Facts;
use fault::{Fault, Target, TargetKind, operand, operands};
use simt::Program;

/// Checks that what a fault hits, where it happens at this instruction, has the bits that it names; what is not there has none.
///
/// # Errors
/// If it has fewer.
pub(crate) fn check_bits(fault: &Fault, program: &Program, instruction: u32) -> Result<(), InjectError> {
    let Some(facts) = program.facts(instruction) else { return Ok(()) };
    let (place, width) = match fault.target {
        Target::Memory(memory, _) => (format!("a byte of {} memory", memory.word()), u8::BITS),
        Target::Register(number) => {
            let declared = program.function_of(instruction).and_then(|code| code.declared.get(number as usize));
            let Some(register) = declared else { return Ok(()) };
            (format!("the register {}", register.name), register.width().bits())
        }
        target => {
            let Some(operand) = operand(target, facts) else { return Ok(()) };
            (format!("{target} of `{}`", facts.mnemonic), operand.bits)
        }
    };
    if fault.model.fits(width) {
        return Ok(());
    }
    Err(InjectError::Bits { model: fault.model.name(), bits: fault.model.bits(), place, width })
}

/// Checks that the operand is there that a fault hits at an instruction.
///
/// # Errors
/// If it is not.
pub(crate) fn check_operand(fault: &Fault, facts: &Facts) -> Result<(), InjectError> {
    let is_operand = TargetKind::of_operand(fault.target).is_some();
    if !is_operand || operand(fault.target, facts).is_some() {
        return Ok(());
    }
    let kinds = [TargetKind::Destination, TargetKind::Address, TargetKind::Stored, TargetKind::Source];
    let there: Vec<String> =
        kinds.into_iter().flat_map(|kind| operands(kind, facts)).map(|it| it.target.to_string()).collect();
    let there = if there.is_empty() { "none in registers".to_owned() } else { there.join(", ") };
    Err(InjectError::Operand { target: fault.target, opcode: facts.mnemonic.to_string(), there })
}
