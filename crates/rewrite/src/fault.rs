//! The transformation: a fault in one operand of one static instruction.
//!
//! ```text
//! entry of the function      mine  = armed and this is the block and this is the thread
//! before the instruction     run   = mine and the instruction's guard
//!                            hit   = run and this is the occurrence; count the execution where run
//!                            operand = a copy of the register, changed where hit     (addr, store, src)
//! the instruction            with the copy in place of the register                  (addr, store, src)
//! after it                   the register, changed where hit                         (dst)
//! ```
//!
//! The guard is looked at before the instruction, which may overwrite it. Executions are counted in memory, by the one
//! thread that is meant, and so in functions that are called, too, however often. A source, an address and a value that
//! is stored are read from a copy, so that nothing has to be given back, and control may go anywhere; every use of the
//! register by the instruction reads the copy, the guard does not: as where the simulator hits it.

use crate::code::Coder;
use crate::record::{ALIGN, BYTES, VARIABLE, at};
use crate::refusal::Refusal;
use facts::{FunctionId, Pc, Reg, Width};
use fault::{Target, TargetOperand};
use isa::{Base, Function, Instruction, Linkage, Module, Op, Space, Special, Src, Symbol, Type, Variable};

/// An operand of a static instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticSite {
    /// The function.
    pub function: FunctionId,
    /// The instruction in its body.
    pub pc: Pc,
    /// The operand, as the facts of the instruction have it.
    pub operand: TargetOperand,
}

/// The module with the variable [`VARIABLE`], and the code that makes the fault happen that the variable describes.
///
/// # Errors
/// If such a fault cannot be written, or the module would do something else with more code in it.
pub fn with_fault(module: &Module, site: &StaticSite) -> Result<Module, Refusal> {
    if matches!(site.operand.target, Target::Register(_) | Target::Memory(..)) {
        return Err(Refusal::NoOperand(site.operand.target.kind().to_owned()));
    }
    refuse_clocks(module)?;
    let mut module = module.clone();
    let record = add_variable(&mut module)?;
    let function = module.functions.get_mut(site.function.0 as usize).ok_or(Refusal::Unwritten)?;
    rewrite(function, record, site)?;
    Ok(module)
}

/// What a clock says depends on how much code there is.
fn refuse_clocks(module: &Module) -> Result<(), Refusal> {
    let sources = module.functions.iter().flat_map(|function| &function.body).flat_map(|instruction| &instruction.src);
    let clock = sources.filter_map(|source| match source {
        Src::Special(special) if special.is_counter() => Some(*special),
        _ => None,
    });
    clock.map(|special| Err(Refusal::Clock(special.to_string()))).next().unwrap_or(Ok(()))
}

fn add_variable(module: &mut Module) -> Result<Symbol, Refusal> {
    if module.variables.iter().any(|variable| variable.name == VARIABLE) {
        return Err(Refusal::Taken(VARIABLE));
    }
    module.variables.push(Variable {
        name: VARIABLE.to_owned(),
        space: Space::Global,
        element: Type::B8,
        bytes: BYTES,
        align: ALIGN,
        linkage: Linkage::Visible,
        init: Vec::new(),
        relocations: Vec::new(),
    });
    Ok(Symbol::Module(module.variables.len() as u32 - 1))
}

/// Puts the code into the function; what pointed to the instruction points to what is before it now.
fn rewrite(function: &mut Function, record: Symbol, site: &StaticSite) -> Result<(), Refusal> {
    let instruction = function.at(site.pc).cloned().ok_or(Refusal::Unwritten)?;
    let missing =
        || Refusal::Operand { instruction: instruction.op.to_string(), target: site.operand.target.to_string() };
    let width = function.registers.get(site.operand.register.index()).ok_or_else(missing)?.width();
    let held = if matches!(site.operand.target, Target::Destination(_)) {
        instruction.writes().any(|(_, register)| register == site.operand.register)
    } else {
        instruction.src.iter().any(|source| source.register() == Some(site.operand.register))
    };
    if !held {
        return Err(missing());
    }
    let mut coder = Coder::new(function, Some(record));
    let mine = entry(&mut coder)?;
    let entry = coder.take();
    coder.loc.clone_from(&instruction.loc);
    let around = around(&mut coder, instruction, mine, width, &site.operand)?;
    let place = site.pc.index();
    let (grown, begun) = (around.len() - 1, entry.len());
    function.body.splice(place..=place, around);
    function.body.splice(0..0, entry);
    let moved = |pc: Pc| Pc((pc.index() + begun + if pc > site.pc { grown } else { 0 }) as u32);
    function.labels.values_mut().for_each(|pc| *pc = moved(*pc));
    function.body.iter_mut().for_each(|instruction| match &mut instruction.op {
        Op::Bra { target, .. } => *target = moved(*target),
        Op::BrxIdx { targets, .. } => targets.iter_mut().for_each(|target| *target = moved(*target)),
        _ => {}
    });
    Ok(())
}

/// Whether a fault waits for this thread.
fn entry(coder: &mut Coder<'_>) -> Result<Reg, Refusal> {
    let thread = linear(coder, [Special::TidZ, Special::NtidY, Special::TidY])?;
    let (ntid, tid) = (coder.special(Special::NtidX)?, coder.special(Special::TidX)?);
    let thread = coder.make(Type::B32, "mad.lo.u32", [thread, ntid, tid].map(Src::Reg).to_vec())?;
    let row = linear(coder, [Special::CtaidZ, Special::NctaidY, Special::CtaidY])?;
    let (nctaid, ctaid) = (coder.special(Special::NctaidX)?, coder.special(Special::CtaidX)?);
    let column = coder.make(Type::B64, "cvt.u64.u32", vec![Src::Reg(ctaid)])?;
    let block = coder.make(Type::B64, "mad.wide.u32", [row, nctaid, column].map(Src::Reg).to_vec())?;
    let armed = coder.load(Type::U32, at::ARMED)?;
    let mine = coder.make(Type::Pred, "setp.ne.u32", vec![Src::Reg(armed), Src::Imm(0)])?;
    let wanted = coder.load(Type::U32, at::THREAD)?;
    coder.push("setp.eq.and.u32", &[mine], [thread, wanted, mine].map(Src::Reg).to_vec())?;
    let wanted = coder.load(Type::U64, at::BLOCK)?;
    coder.push("setp.eq.and.u64", &[mine], [block, wanted, mine].map(Src::Reg).to_vec())?;
    Ok(mine)
}

/// `a · b + c`
fn linear(coder: &mut Coder<'_>, specials: [Special; 3]) -> Result<Reg, Refusal> {
    let mut operands = Vec::new();
    for special in specials {
        operands.push(Src::Reg(coder.special(special)?));
    }
    coder.make(Type::B32, "mad.lo.u32", operands)
}

/// The instruction with what stands before and behind it.
fn around(
    coder: &mut Coder<'_>,
    mut instruction: Instruction,
    mine: Reg,
    width: Width,
    operand: &TargetOperand,
) -> Result<Vec<Instruction>, Refusal> {
    let hit = hit(coder, &instruction, mine)?;
    if matches!(operand.target, Target::Destination(_)) {
        coder.instruction(instruction);
        change(coder, hit, operand.register, width, 0)?;
    } else {
        let copy = copy(coder, operand.register, width)?;
        change(coder, hit, copy, width, operand.offset)?;
        instruction.src.iter_mut().for_each(|source| replace(source, operand.register, copy));
        coder.instruction(instruction);
    }
    Ok(coder.take())
}

/// Whether this execution of the instruction is hit; it is counted.
fn hit(coder: &mut Coder<'_>, instruction: &Instruction, mine: Reg) -> Result<Reg, Refusal> {
    let run = match instruction.guard {
        None => mine,
        Some(guard) => {
            let pred = if guard.negated {
                coder.make(Type::Pred, "not.pred", vec![Src::Reg(guard.pred)])?
            } else {
                guard.pred
            };
            coder.make(Type::Pred, "and.pred", vec![Src::Reg(mine), Src::Reg(pred)])?
        }
    };
    // What other threads compare means nothing, but is not undefined.
    let (wanted, count) = (zero(coder)?, zero(coder)?);
    coder.where_holds(run);
    coder.load_into(wanted, Type::U64, at::OCCURRENCE)?;
    coder.load_into(count, Type::U64, at::COUNT)?;
    let next = coder.make(Type::B64, "add.u64", vec![Src::Reg(count), Src::Imm(1)])?;
    coder.store(Type::U64, at::COUNT, Src::Reg(next))?;
    coder.guard = None;
    coder.make(Type::Pred, "setp.eq.and.u64", [count, wanted, run].map(Src::Reg).to_vec())
}

fn zero(coder: &mut Coder<'_>) -> Result<Reg, Refusal> {
    coder.make(Type::B64, "mov.b64", vec![Src::Imm(0)])
}

/// A register with what another holds.
fn copy(coder: &mut Coder<'_>, register: Reg, width: Width) -> Result<Reg, Refusal> {
    coder.make(plain(width), &format!("mov.{}", plain(width)), vec![Src::Reg(register)])
}

/// The type of a register of which only the width matters.
fn plain(width: Width) -> Type {
    match width {
        Width::Pred => Type::Pred,
        Width::B16 => Type::B16,
        Width::B32 => Type::B32,
        Width::B64 => Type::B64,
        Width::B128 => Type::B128,
    }
}

/// Changes a register, to which `offset` is added to make the operand, where it is hit.
fn change(coder: &mut Coder<'_>, hit: Reg, register: Reg, width: Width, offset: i64) -> Result<(), Refusal> {
    coder.where_holds(hit);
    match width {
        Width::Pred => {
            let bit = coder.make(Type::B32, "selp.b32", vec![Src::Imm(1), Src::Imm(0), Src::Reg(register)])?;
            let changed = masked(coder, Type::B32, bit, 0)?;
            coder.push("setp.ne.u32", &[register], vec![Src::Reg(changed), Src::Imm(0)])?;
        }
        Width::B128 => {
            let [low, high] = coder.halves(register);
            let halves = [masked(coder, Type::B64, low, 0)?, masked(coder, Type::B64, high, 8)?];
            coder.join(register, halves);
        }
        Width::B16 | Width::B32 | Width::B64 => {
            let ty = plain(width);
            let mut value = coder.make(ty, &format!("mov.{ty}"), vec![Src::Reg(register)])?;
            if offset != 0 {
                value =
                    coder.make(ty, &format!("add.{}", signed(ty)), vec![Src::Reg(value), Src::Imm(offset as u64)])?;
            }
            let mut changed = masked(coder, ty, value, 0)?;
            if offset != 0 {
                let back = vec![Src::Reg(changed), Src::Imm(offset as u64)];
                changed = coder.make(ty, &format!("sub.{}", signed(ty)), back)?;
            }
            coder.push(&format!("mov.{ty}"), &[register], vec![Src::Reg(changed)])?;
        }
    }
    coder.store(Type::U32, at::FIRED, Src::Imm(1))?;
    coder.guard = None;
    Ok(())
}

fn signed(ty: Type) -> Type {
    match ty {
        Type::B16 => Type::S16,
        Type::B32 => Type::S32,
        _ => Type::S64,
    }
}

/// The bits of a value as the masks of the record leave them, of 128 bits the half that begins so many bytes into them;
/// what they were is noted.
fn masked(coder: &mut Coder<'_>, ty: Type, value: Reg, half: i64) -> Result<Reg, Refusal> {
    coder.store(ty, at::BEFORE + half, Src::Reg(value))?;
    let keep = coder.load(ty, at::KEEP + half)?;
    let kept = coder.make(ty, &format!("and.{ty}"), vec![Src::Reg(value), Src::Reg(keep)])?;
    let toggle = coder.load(ty, at::TOGGLE + half)?;
    coder.make(ty, &format!("xor.{ty}"), vec![Src::Reg(kept), Src::Reg(toggle)])
}

/// Reads another register wherever a source reads this one.
fn replace(source: &mut Src, register: Reg, copy: Reg) {
    match source {
        Src::Reg(read) | Src::Not(read) | Src::Address(Base::Reg(read), _) if *read == register => *read = copy,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fault::TargetOperand;

    const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\
                        .reg .b64 %a;\n.reg .b32 %v;\n.reg .f32 %f;\n.reg .pred %p;\n.reg .b16 %h;\n";

    fn module(body: &str) -> Module {
        ptx::parse("k.ptx", &format!("{HEAD}{body}\n}}\n")).unwrap()
    }

    fn site(module: &Module, pc: u32, target: Target, name: &str, offset: i64) -> StaticSite {
        let registers = &module.functions[0].registers;
        let at = registers.iter().position(|register| register.name == name).unwrap();
        let bits = registers[at].width().bits();
        let operand = TargetOperand { target, register: Reg(at as u32), bits, offset };
        StaticSite { function: FunctionId(0), pc: Pc(pc), operand }
    }

    /// The body as it is printed, without its declarations.
    fn rewritten(module: &Module, site: &StaticSite) -> Vec<String> {
        let rewritten = with_fault(module, site).unwrap();
        assert_eq!(isa::verify::verify(&rewritten), []);
        assert_eq!(ptx::parse("again.ptx", &ptx::print(&rewritten)).unwrap(), rewritten);
        let text = ptx::print(&rewritten);
        text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.starts_with('.')).collect()
    }

    #[test]
    fn a_guard_is_looked_at_before_the_instruction_that_overwrites_it() {
        let module = module("setp.eq.u32 %p, 1, 1;\n@!%p setp.ne.u32 %p, 1, 1;\n@%p exit;\nret;");
        let lines = rewritten(&module, &site(&module, 1, Target::Destination(0), "%p", 0));
        let place = |text: &str| lines.iter().position(|line| line.contains(text)).unwrap();
        assert!(place("not.pred") < place("@!%p setp.ne"));
        assert!(place("@!%p setp.ne") < place("selp.b32"));
    }

    #[test]
    fn a_loop_back_to_the_first_instruction_does_not_run_the_entry_again_but_counts_every_execution() {
        let module = module("L:\nmov.u32 %v, 1;\nsetp.eq.u32 %p, %v, 2;\n@%p bra L;\nret;");
        let lines = rewritten(&module, &site(&module, 0, Target::Destination(0), "%v", 0));
        let place = |text: &str| lines.iter().position(|line| line.contains(text)).unwrap();
        assert!(place("%tid.x") < place("L:"));
        assert!(place("L:") < place("st.global.u64 [__beamline_fault+24]"));
    }

    #[test]
    fn an_address_is_changed_with_its_displacement_and_for_one_access() {
        let module = module("ld.param.u64 %a, [p];\nst.global.f32 [%a+8], %f;\nret;");
        let lines = rewritten(&module, &site(&module, 1, Target::Address(0), "%a", 8));
        assert!(lines.iter().any(|line| line.contains("add.s64") && line.ends_with(", 8;")));
        assert!(lines.iter().any(|line| line.starts_with("st.global.f32 [%beamline_") && line.ends_with("+8], %f;")));
        assert!(!lines.iter().any(|line| line.contains("mov.b64 %a")));
    }

    #[test]
    fn what_cannot_be_written_is_refused_with_the_reason() {
        let plain = module("mov.u32 %v, 1;\nret;");
        let refused = |module: &Module, site: &StaticSite| with_fault(module, site).unwrap_err().to_string();
        let text = refused(&plain, &site(&plain, 0, Target::Register(1), "%v", 0));
        assert!(text.contains("reg is no operand"), "{text}");
        let text = refused(&plain, &site(&plain, 1, Target::Source(0), "%v", 0));
        assert!(text.contains("ret has no operand src0"), "{text}");
        let clock = module("mov.u32 %v, %clock;\nret;");
        let text = refused(&clock, &site(&clock, 0, Target::Destination(0), "%v", 0));
        assert!(text.contains("reads %clock"), "{text}");
    }
}
