//! Registers that may be read before they are written: of these the shadow would hold something else.

use crate::code::Coder;
use crate::refusal::Refusal;
use facts::{Control, Facts, Flow, Group, Operand, Reg, Role, Width};
use isa::{Function, Instruction, Op, Src, Type};

/// The registers of a function that may be read before they are written, ascending.
pub(super) fn undefined(function: &Function) -> Vec<Reg> {
    let facts: Vec<Facts> = function.body.iter().map(facts).collect();
    Flow::of(&facts).undefined_reads(&facts, function.registers.len())
}

/// Puts zero into a register.
pub(super) fn begin_as_zero(coder: &mut Coder<'_>, register: Reg, width: Width) -> Result<(), Refusal> {
    match width {
        Width::Pred => coder.push("setp.ne.u32", &[register], vec![Src::Imm(0), Src::Imm(0)]),
        Width::B128 => {
            let zero = coder.make(Type::B64, "mov.b64", vec![Src::Imm(0)])?;
            coder.join(register, [zero, zero]);
            Ok(())
        }
        width => coder.push(&format!("mov.b{}", width.bits()), &[register], vec![Src::Imm(0)]),
    }
}

/// As much of an instruction as liveness asks for.
pub(super) fn facts(instruction: &Instruction) -> Facts {
    let operand = |role, register| Operand { role, position: 0, register, bits: 0, offset: 0, ty: None };
    let written = instruction.writes().map(|(_, register)| operand(Role::Destination, register));
    let read = instruction.src.iter().filter_map(Src::register).map(|register: Reg| operand(Role::Source, register));
    let control = match &instruction.op {
        Op::Bra { target, .. } => Control::Jump([*target].into()),
        Op::BrxIdx { targets, .. } => Control::Jump(targets.as_slice().into()),
        Op::Call(_) => Control::Call,
        Op::Ret { .. } | Op::Exit => Control::End,
        Op::Trap => Control::Trap,
        _ => Control::Next,
    };
    let operands = written.chain(read).collect();
    Facts { guard: instruction.guard, operands, control, ..Facts::new("", Group::Other) }
}
