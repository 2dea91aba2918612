//! The scheme DRDV: two register spaces, one of them the shadow of the other, compared where data leaves them.
//!
//! ```text
//! eligible          the instruction, then the same one on shadow registers
//! not eligible      each register that it reads against its shadow, a trap where one differs,
//!                   the instruction, then copies of what it wrote into the shadow registers
//! ```
//!
//! What belongs together stays together: instructions that hand each other the carry flag, which has no shadow, have
//! their duplicates behind the last of them; the arguments of a call are all compared before the first is passed.

use crate::code::Coder;
use crate::protect::check::Checker;
use crate::protect::eligible::{Treatment, treatment};
use crate::protect::opaque::Opaque;
use crate::protect::origin::Origin;
use crate::protect::place::{NewBody, leaders};
use crate::protect::refused::Unprotected;
use crate::protect::undefined::undefined;
use crate::refusal::Refusal;
use facts::{Guard, Pc, Reg, Width};
use isa::op::SourceRole;
use isa::{Base, Dst, Function, Instruction, Op, Space, Src, Type};
use std::ops::Range;

/// Doubles the registers of a function. The origins speak of its instructions as they are before this.
pub(super) fn double(function: &mut Function) -> Result<Vec<Origin>, Unprotected> {
    let pieces = pieces(function)?;
    let undefined = undefined(function);
    let old = std::mem::take(&mut function.body);
    let mut body = NewBody::new();
    let mut coder = Coder::new(function, None);
    let (opaque, checker) = (Opaque::new(&mut coder), Checker::new(&mut coder));
    let mut shadows = Shadows { coder, opaque, checker, of: Vec::new(), copies: false };
    for (range, treatment) in pieces {
        shadows.piece(&old[range.clone()], range.start, treatment, &mut body)?;
    }
    let entry = shadows.entry(&undefined)?;
    drop(shadows);
    Ok(body.finish(function, entry, Origin::Entry))
}

/// Instructions that are treated together, in order.
fn pieces(function: &Function) -> Result<Vec<(Range<usize>, Treatment)>, Unprotected> {
    let (body, leaders) = (&function.body, leaders(function));
    let mut writers = vec![0_u32; function.registers.len()];
    let written = body.iter().flat_map(Instruction::writes).map(|(_, register)| register.index());
    written.for_each(|register| writers.get_mut(register).into_iter().for_each(|writers| *writers += 1));
    let treat = |pc: usize| {
        let mut destinations = body[pc].writes().filter_map(|(_, register)| writers.get(register.index()));
        match treatment(&body[pc], destinations.all(|writers| *writers == 1)) {
            Treatment::Refused(why) => Err(refused(body, pc, why)),
            treatment => Ok(treatment),
        }
    };
    let mut pieces = Vec::new();
    let mut pc = 0;
    while pc < body.len() {
        let stretch = pc + 1..(pc + 1..body.len()).find(|&next| leaders[next]).unwrap_or(body.len());
        let end = match &body[pc].op {
            Op::Extended(first) if first.reads => {
                return Err(refused(body, pc, "the carry flag that it reads is not written right before it"));
            }
            Op::Extended(_) => carried(body, stretch),
            op if passes(op) => stretch.clone().find(|&next| !passes(&body[next].op)).unwrap_or(stretch.end),
            _ => pc + 1,
        };
        let treatment = treat(pc)?;
        for inner in pc + 1..end {
            if treat(inner)? == Treatment::Alone && treatment != Treatment::Alone {
                return Err(refused(body, inner, "it stands between instructions that hand each other the carry flag"));
            }
        }
        pieces.push((pc..end, treatment));
        pc = end;
    }
    Ok(pieces)
}

fn refused(body: &[Instruction], pc: usize, why: &'static str) -> Unprotected {
    Unprotected::Instruction { pc: Pc(pc as u32), instruction: body[pc].op.to_string(), why }
}

/// Behind the last of these instructions that reads the carry flag as it was handed on.
fn carried(body: &[Instruction], stretch: Range<usize>) -> usize {
    let extended = |at: &usize| matches!(body[*at].op, Op::Extended(_));
    let reads = |at: &usize| matches!(&body[*at].op, Op::Extended(extended) if extended.reads);
    let chain = stretch.clone().filter(extended).take_while(reads);
    chain.last().map_or(stretch.start, |last| last + 1)
}

/// Whether it passes an argument, or calls.
fn passes(op: &Op) -> bool {
    matches!(op, Op::Call(_)) || matches!(op, Op::St(access) if access.space == Space::Param)
}

/// Makes the code of one function.
struct Shadows<'f> {
    coder: Coder<'f>,
    opaque: Opaque,
    checker: Checker,
    /// The shadows of registers, by register.
    of: Vec<Option<Reg>>,
    /// Whether something is copied.
    copies: bool,
}

impl Shadows<'_> {
    fn piece(
        &mut self,
        instructions: &[Instruction],
        start: usize,
        treatment: Treatment,
        body: &mut NewBody<Origin>,
    ) -> Result<(), Unprotected> {
        let numbered = || instructions.iter().zip((start as u32..).map(Pc));
        body.begin();
        if treatment == Treatment::Alone {
            numbered().try_for_each(|(instruction, pc)| self.check(instruction, pc, body))?;
        }
        for (instruction, pc) in numbered() {
            if pc.index() != start {
                body.begin();
            }
            body.put(Origin::Original(pc), [instruction.clone()]);
        }
        for (instruction, pc) in numbered() {
            self.coder.loc.clone_from(&instruction.loc);
            let origin = match treatment {
                Treatment::Alone => {
                    self.copy(instruction)?;
                    Origin::Copy(pc)
                }
                Treatment::Constant => {
                    self.constant(instruction)?;
                    Origin::Duplicate(pc)
                }
                Treatment::Duplicate => {
                    let duplicate = self.duplicate(instruction);
                    self.coder.instruction(duplicate);
                    Origin::Duplicate(pc)
                }
                Treatment::Left | Treatment::Refused(_) => continue,
            };
            body.put(origin, self.coder.take());
        }
        Ok(())
    }

    /// The shadow of a register.
    fn shadow(&mut self, register: Reg) -> Reg {
        if self.of.len() <= register.index() {
            self.of.resize(register.index() + 1, None);
        }
        if let Some(shadow) = self.of[register.index()] {
            return shadow;
        }
        let ty = self.coder.function().registers.get(register.index()).map_or(Type::B32, |register| register.ty);
        *self.of[register.index()].insert(self.coder.register(ty))
    }

    fn width(&self, register: Reg) -> Width {
        self.coder.function().registers.get(register.index()).map_or(Width::B32, facts::Register::width)
    }

    fn shadow_of_guard(&mut self, guard: Option<Guard>) -> Option<Guard> {
        guard.map(|guard| Guard { pred: self.shadow(guard.pred), ..guard })
    }

    /// The instruction on shadow registers.
    fn duplicate(&mut self, instruction: &Instruction) -> Instruction {
        let mut duplicate = instruction.clone();
        duplicate.guard = self.shadow_of_guard(instruction.guard);
        for dst in &mut duplicate.dst {
            if let Dst::Reg(register) = dst {
                *register = self.shadow(*register);
            }
        }
        for src in &mut duplicate.src {
            if let Src::Reg(register) | Src::Not(register) | Src::Address(Base::Reg(register), _) = src {
                *register = self.shadow(*register);
            }
        }
        duplicate
    }

    /// A constant into a shadow register.
    fn constant(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let (Some((_, register)), Some(Src::Imm(value))) = (instruction.writes().next(), instruction.src.first())
        else {
            return Ok(());
        };
        let ty = match self.width(register) {
            Width::B16 => Type::B16,
            Width::B64 => Type::B64,
            _ => Type::B32,
        };
        let shadow = self.shadow(register);
        self.coder.guard = self.shadow_of_guard(instruction.guard);
        self.copies = true;
        let made = self.opaque.constant(&mut self.coder, ty, shadow, *value);
        self.coder.guard = None;
        made
    }

    /// What an instruction wrote into the shadow registers. Where it wrote its own guard, both are the same where it did
    /// not execute.
    fn copy(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        let guard = instruction.guard.filter(|guard| instruction.writes().all(|(_, written)| written != guard.pred));
        for (_, register) in instruction.writes() {
            let (shadow, width) = (self.shadow(register), self.width(register));
            self.coder.guard = guard;
            self.copies = true;
            self.opaque.copy(&mut self.coder, shadow, register, width)?;
            self.coder.guard = None;
        }
        Ok(())
    }

    /// What an instruction reads against the shadow of it.
    fn check(&mut self, instruction: &Instruction, pc: Pc, body: &mut NewBody<Origin>) -> Result<(), Refusal> {
        self.coder.loc.clone_from(&instruction.loc);
        let roles: Vec<SourceRole> = instruction.op.signature().source_parts().map(|part| part.role).collect();
        let mut pairs: Vec<(Reg, Reg)> = Vec::new();
        for (source, at) in instruction.src.iter().zip(0..) {
            let Some(register) = source.register() else { continue };
            let guards = instruction.guard.is_some_and(|guard| guard.pred == register);
            let hint = roles.get(at) == Some(&SourceRole::Hint);
            if !guards && !hint && pairs.iter().all(|(known, _)| *known != register) {
                pairs.push((register, self.shadow(register)));
            }
        }
        let guard = instruction.guard.map(|guard| (guard, self.shadow(guard.pred)));
        if guard.is_none() && pairs.is_empty() {
            return Ok(());
        }
        self.checker.compare(&mut self.coder, guard, &pairs)?;
        body.put(Origin::Check(pc), self.coder.take());
        self.checker.notify(&mut self.coder);
        body.put(Origin::Notify, self.coder.take());
        Ok(())
    }

    /// What stands before the first instruction: registers that may be read before they are written begin as zero.
    fn entry(&mut self, undefined: &[Reg]) -> Result<Vec<Instruction>, Refusal> {
        self.coder.loc = None;
        if self.copies || !undefined.is_empty() {
            self.opaque.begin(&mut self.coder)?;
        }
        for &register in undefined {
            let width = self.width(register);
            match width {
                Width::Pred => self.coder.push("setp.ne.u32", &[register], vec![Src::Imm(0), Src::Imm(0)])?,
                Width::B128 => {
                    let zero = self.coder.make(Type::B64, "mov.b64", vec![Src::Imm(0)])?;
                    self.coder.join(register, [zero, zero]);
                }
                width => self.coder.push(&format!("mov.b{}", width.bits()), &[register], vec![Src::Imm(0)])?,
            }
            let shadow = self.shadow(register);
            self.opaque.copy(&mut self.coder, shadow, register, width)?;
        }
        Ok(self.coder.take())
    }
}
