//! Registers that may be read before they are written: of these the shadow would hold something else.

use facts::{Control, Facts, Flow, Group, Operand, Reg, Role};
use isa::{Function, Instruction, Op};

/// The registers of a function that may be read before they are written, ascending.
pub(super) fn undefined(function: &Function) -> Vec<Reg> {
    let facts: Vec<Facts> = function.body.iter().map(facts).collect();
    Flow::of(&facts).undefined_reads(&facts, function.registers.len())
}

/// As much of an instruction as liveness asks for.
fn facts(instruction: &Instruction) -> Facts {
    let operand = |role, register| Operand { role, position: 0, register, bits: 0, offset: 0, ty: None };
    let written = instruction.writes().map(|(_, register)| operand(Role::Destination, register));
    let read =
        instruction.src.iter().filter_map(isa::Src::register).map(|register: Reg| operand(Role::Source, register));
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
