//! What must be true of a module before anything executes it.
//!
//! The parser reports what a writer got wrong, with its place in the text; this checks the data itself, whoever
//! made it, so that the machine may index without fear. After it succeeds, every register, symbol, branch target
//! and operand width of every instruction is what [`Op::signature`](crate::op::Op::signature) promises.

use crate::module::{Base, Dst, Function, Instruction, Module, Src, Symbol};
use crate::op::{CallTarget, Op, OperandKind};
use crate::types::{Special, Type, Width};
use facts::{Pc, Reg};

/// A defect of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// The function it is in.
    pub function: String,
    /// The instruction it is at.
    pub pc: Pc,
    /// What is wrong.
    pub what: String,
}

impl std::fmt::Display for Defect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} in instruction {} of {}", self.what, self.pc.0, self.function)
    }
}

/// Everything wrong with a module; empty for a sound one.
#[must_use]
pub fn verify(module: &Module) -> Vec<Defect> {
    let mut defects = Vec::new();
    for function in &module.functions {
        for (pc, instruction) in function.body.iter().enumerate() {
            if let Err(what) = check(module, function, instruction) {
                defects.push(Defect { function: function.name.clone(), pc: Pc(pc as u32), what });
            }
        }
    }
    defects
}

fn check(module: &Module, function: &Function, instruction: &Instruction) -> Result<(), String> {
    let unknown = |reg: Reg| format!("register {} does not exist", reg.0);
    let registers = instruction.reads().chain(instruction.writes().map(|(_, reg)| reg));
    for reg in registers {
        function.registers.get(reg.index()).ok_or_else(|| unknown(reg))?;
    }
    if let Some(guard) = instruction.guard
        && function.register(guard.pred).width() != Width::Pred
    {
        return Err(format!("the guard {} is not a predicate", function.register(guard.pred).name));
    }
    for operand in &instruction.src {
        symbol_of(operand).map_or(Ok(()), |symbol| check_symbol(module, function, symbol))?;
    }
    check_flow(module, function, instruction)?;
    check_signature(function, instruction)
}

fn symbol_of(operand: &Src) -> Option<Symbol> {
    match operand {
        Src::Symbol(symbol, _) | Src::Address(Base::Symbol(symbol), _) => Some(*symbol),
        _ => None,
    }
}

fn check_symbol(module: &Module, function: &Function, symbol: Symbol) -> Result<(), String> {
    let (index, count) = match symbol {
        Symbol::Module(index) => (index, module.variables.len()),
        Symbol::Local(index) => (index, function.variables.len()),
        Symbol::Param(index) => (index, function.params.len()),
        Symbol::Return(index) => (index, function.returns.len()),
        Symbol::Function(id) => (id.0, module.functions.len()),
    };
    if (index as usize) < count { Ok(()) } else { Err(format!("{symbol:?} does not exist")) }
}

fn check_flow(module: &Module, function: &Function, instruction: &Instruction) -> Result<(), String> {
    let inside = |target: &Pc| {
        let ok = target.index() <= function.body.len();
        if ok { Ok(()) } else { Err(format!("branch target {} lies outside the function", target.0)) }
    };
    match &instruction.op {
        Op::Bra { target, .. } => inside(target),
        Op::BrxIdx { targets, .. } => targets.iter().try_for_each(inside),
        Op::Call(call) => match &call.target {
            CallTarget::Direct(id) => check_symbol(module, function, Symbol::Function(*id)),
            CallTarget::Indirect { .. } => Ok(()),
        },
        _ => Ok(()),
    }
}

fn check_signature(function: &Function, instruction: &Instruction) -> Result<(), String> {
    if matches!(instruction.op, Op::MovVector(_) | Op::Call(_)) {
        return Ok(());
    }
    let signature = instruction.op.signature();
    let sources: Vec<OperandKind> = signature.source_parts().map(|source| source.kind).collect();
    let results: Vec<OperandKind> = signature.dst.iter().flat_map(|kind| kind.parts()).collect();
    count("destinations", instruction.dst.len(), results.len(), signature.optional_dst)?;
    count("sources", instruction.src.len(), sources.len(), signature.optional_src)?;
    for (dst, kind) in instruction.dst.iter().zip(results) {
        if let Dst::Reg(reg) = dst {
            fits(function, *reg, kind)?;
        }
    }
    // A barrier reduction may leave out the count in the middle; its last source is the predicate.
    if matches!(instruction.op, Op::Barrier(_)) {
        return Ok(());
    }
    instruction.src.iter().zip(sources).try_for_each(|(operand, kind)| check_source(function, operand, kind))
}

fn count(what: &str, found: usize, most: usize, optional: usize) -> Result<(), String> {
    if found <= most && found + optional >= most { Ok(()) } else { Err(format!("{found} {what} where {most} belong")) }
}

fn check_source(function: &Function, operand: &Src, kind: OperandKind) -> Result<(), String> {
    match (operand, kind) {
        (Src::Address(..), OperandKind::Address) => Ok(()),
        (Src::Address(..), _) | (_, OperandKind::Address) => Err("an address stands where none belongs".into()),
        (Src::Reg(reg), kind) => fits(function, *reg, kind),
        (Src::Not(reg), _) => fits(function, *reg, OperandKind::Value(Type::Pred)),
        (Src::Special(special), kind) => special_fits(*special, kind),
        (Src::Imm(_) | Src::Symbol(..), _) => Ok(()),
    }
}

fn special_fits(special: Special, kind: OperandKind) -> Result<(), String> {
    // `mov.u32 %r, %clock64` and the like read the low word.
    match kind {
        OperandKind::Value(ty) | OperandKind::Loose(ty) if ty.bits() > special.width().bits() && ty.bits() > 64 => {
            Err(format!("{special} is narrower than {ty}"))
        }
        _ => Ok(()),
    }
}

fn fits(function: &Function, reg: Reg, kind: OperandKind) -> Result<(), String> {
    let register = function.register(reg);
    let (ok, ty) = match kind {
        OperandKind::Value(ty) => (register.width() == ty.width(), ty),
        OperandKind::Loose(ty) => {
            (register.width() != Width::Pred && register.width() >= ty.width() || ty == Type::Pred, ty)
        }
        _ => return Err(format!("register {} stands where none belongs", register.name)),
    };
    if ok { Ok(()) } else { Err(format!("register {} of .{} stands for .{ty}", register.name, register.ty)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alu::AluForm;
    use facts::Register;

    fn module(instruction: Instruction) -> Module {
        let types = [Type::B32, Type::B32, Type::B64, Type::Pred];
        let registers = types.iter().map(|&ty| Register { name: format!("%{ty}"), ty }).collect();
        let function = Function { name: "k".into(), registers, body: vec![instruction], ..Function::default() };
        Module { functions: vec![function], ..Module::default() }
    }

    fn op(spelling: &str, dst: &[u32], src: Vec<Src>) -> Instruction {
        let op =
            AluForm::from_spelling(spelling).map_or_else(|| crate::op::spelling::parse(spelling).unwrap(), Op::Alu);
        Instruction { guard: None, op, dst: dst.iter().map(|&r| Dst::Reg(Reg(r))).collect(), src, loc: None }
    }

    #[test]
    fn a_sound_instruction_passes() {
        let sound = op("add.s32", &[0], vec![Src::Reg(Reg(1)), Src::Imm(4)]);
        assert_eq!(verify(&module(sound)), []);
    }

    #[test]
    fn each_defect_is_named() {
        let what = |instruction| verify(&module(instruction)).remove(0).what;
        assert_eq!(what(op("add.s32", &[2], vec![Src::Imm(1), Src::Imm(4)])), "register %b64 of .b64 stands for .u32");
        assert_eq!(what(op("add.s32", &[0], vec![Src::Imm(1)])), "1 sources where 2 belong");
        assert_eq!(what(op("add.s32", &[9], vec![])), "register 9 does not exist");
        let mut wild = op("bra", &[], vec![]);
        wild.op = Op::Bra { target: Pc(7), uni: false };
        assert_eq!(what(wild), "branch target 7 lies outside the function");
    }
}
