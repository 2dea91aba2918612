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
//!
//! With deferred notification a comparison sets a signature in place of the trap ([`deferred`](super::deferred)).

use crate::code::Coder;
use crate::protect::check::Checker;
use crate::protect::checks::{Checks, Notification};
use crate::protect::eligible::Treatment;
use crate::protect::kept::gathered;
use crate::protect::loads::make_second;
use crate::protect::opaque::Opaque;
use crate::protect::origin::Origin;
use crate::protect::pieces::{TreatedPiece, pieces};
use crate::protect::place::{NewBody, may_come_to_its_end};
use crate::protect::proxy::HardwareProxy;
use crate::protect::refused::Unprotected;
use crate::protect::select::{Shadowed, is_written};
use crate::protect::signature::arithmetic;
use crate::protect::undefined::{begin_as_zero, undefined};
use crate::refusal::Refusal;
use facts::{Guard, Pc, Reg, Width};
use isa::op::SourceRole;
use isa::{Base, Dst, Function, Instruction, Src, Type};

/// Doubles the registers of a function, for the instructions that are chosen, and all its loads if `loads` says so. The origins speak of its instructions as they are
/// before this.
pub(super) fn double(
    function: &mut Function,
    notification: Notification,
    (chosen, loads): (&[bool], bool),
) -> Result<Vec<Origin>, Unprotected> {
    let pieces = pieces(function, chosen, loads)?;
    let shadowed = Shadowed::of(function, &pieces);
    let (undefined, arithmetic) = (undefined(function), arithmetic(function));
    let gathered = match notification {
        Notification::Proxy(HardwareProxy::Signature) => gathered(function, &pieces, &shadowed),
        _ => Vec::new(),
    };
    let ends = may_come_to_its_end(function);
    let old = std::mem::take(&mut function.body);
    let mut body = NewBody::new();
    let mut coder = Coder::new(function, None);
    let opaque = Opaque::new(&mut coder);
    let checks = Checks::new(&mut coder, notification);
    let mut shadows = Shadows { coder, opaque, checks, of: Vec::new(), copies: false, arithmetic, shadowed, gathered };
    for TreatedPiece { range, treatment, .. } in pieces {
        shadows.piece(&old[range.clone()], range.start, treatment, &mut body)?;
    }
    let last = Pc(old.len().saturating_sub(1) as u32);
    shadows.checks.close(&mut shadows.coder, shadows.opaque, (last, ends), &mut body)?;
    let entry = shadows.entry(&undefined)?;
    drop(shadows);
    Ok(body.finish(function, entry, Origin::Entry))
}

/// Makes the code of one function.
pub(super) struct Shadows<'f> {
    pub(super) coder: Coder<'f>,
    pub(super) opaque: Opaque,
    pub(super) checks: Checks,
    /// The shadows of registers, by register.
    of: Vec<Option<Reg>>,
    /// Whether opaque values are used.
    pub(super) copies: bool,
    /// By register: whether only arithmetic writes it.
    pub(super) arithmetic: Vec<bool>,
    /// Which registers have a shadow.
    pub(super) shadowed: Shadowed,
    /// By register: whether a proxy keeps its shadow alive where a duplicate writes it.
    pub(super) gathered: Vec<bool>,
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
            match self.checks {
                Checks::Immediate(checker) => {
                    for ((instruction, pc), at) in numbered().zip(0..) {
                        let pairs = self.pairs(instruction, &instructions[..at]);
                        self.check(checker, (instruction, pc), &pairs, body)?;
                    }
                }
                Checks::Deferred(signature) => self.sign_before(signature, instructions, start, body)?,
                Checks::Proxy(sink) => self.proxy_before(sink, instructions, start, body)?,
            }
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
            if let (Checks::Proxy(sink), Origin::Duplicate(_)) = (self.checks, origin) {
                self.gather(sink, instruction)?;
                body.put(Origin::Check(pc), self.coder.take());
            }
        }
        match self.checks {
            Checks::Deferred(signature) if treatment == Treatment::Alone => {
                Ok(self.sign_behind(signature, instructions, start, body)?)
            }
            _ => Ok(()),
        }
    }

    /// The shadow of a register.
    pub(super) fn shadow(&mut self, register: Reg) -> Reg {
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

    /// Whether a register is of a floating-point type.
    pub(super) fn is_float(&self, register: Reg) -> bool {
        let ty = self.coder.function().registers.get(register.index()).map(|register| register.ty);
        matches!(ty, Some(Type::F32 | Type::F64))
    }

    fn shadow_of_guard(&mut self, guard: Option<Guard>) -> Option<Guard> {
        guard.map(|guard| Guard { pred: self.shadow(guard.pred), ..guard })
    }

    /// The instruction on shadow registers.
    fn duplicate(&mut self, instruction: &Instruction) -> Instruction {
        let mut duplicate = instruction.clone();
        make_second(&mut duplicate);
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
            if !self.shadowed.has(register) {
                continue;
            }
            let (shadow, width) = (self.shadow(register), self.width(register));
            self.coder.guard = guard;
            self.copies = true;
            self.opaque.copy(&mut self.coder, shadow, register, width)?;
            self.coder.guard = None;
        }
        Ok(())
    }

    /// The registers that an instruction reads and that are compared, but for its guard, each with its shadow; without those that
    /// `earlier` instructions of its piece write.
    pub(super) fn pairs(&mut self, instruction: &Instruction, earlier: &[Instruction]) -> Vec<(Reg, Reg)> {
        let roles: Vec<SourceRole> = instruction.op.signature().source_parts().map(|part| part.role).collect();
        let mut pairs: Vec<(Reg, Reg)> = Vec::new();
        for (source, at) in instruction.src.iter().zip(0..) {
            let Some(register) = source.register() else { continue };
            let guards = instruction.guard.is_some_and(|guard| guard.pred == register);
            let hint = roles.get(at) == Some(&SourceRole::Hint);
            let compared = self.shadowed.is_compared(register) && !is_written(register, earlier);
            if compared && !guards && !hint && pairs.iter().all(|(known, _)| *known != register) {
                pairs.push((register, self.shadow(register)));
            }
        }
        pairs
    }

    /// The guard of an instruction, if it is compared with its shadow.
    pub(super) fn compared_guard(&self, instruction: &Instruction) -> Option<Guard> {
        instruction.guard.filter(|guard| self.shadowed.is_compared(guard.pred))
    }

    /// A register and its shadow as they are compared.
    fn comparable(&mut self, pair: (Reg, Reg)) -> Result<(Reg, Reg), Refusal> {
        self.copies |= self.width(pair.0) == Width::Pred;
        self.opaque.comparable(&mut self.coder, pair)
    }

    /// Compares registers that an instruction reads with their shadows, and ends the launch where one differs.
    fn check(
        &mut self,
        checker: Checker,
        (instruction, pc): (&Instruction, Pc),
        pairs: &[(Reg, Reg)],
        body: &mut NewBody<Origin>,
    ) -> Result<(), Refusal> {
        self.coder.loc.clone_from(&instruction.loc);
        let guard = self.compared_guard(instruction).map(|guard| (guard.pred, self.shadow(guard.pred)));
        if guard.is_none() && pairs.is_empty() {
            return Ok(());
        }
        let words = guard.map(|pair| self.comparable(pair)).transpose()?;
        let pairs = pairs.iter().map(|&pair| self.comparable(pair)).collect::<Result<Vec<_>, _>>()?;
        checker.compare(&mut self.coder, (instruction.guard, words), &pairs)?;
        body.put(Origin::Check(pc), self.coder.take());
        checker.notify(&mut self.coder);
        body.put(Origin::Notify, self.coder.take());
        Ok(())
    }

    /// What stands before the first instruction: registers that may be read before they are written begin as zero.
    fn entry(&mut self, undefined: &[Reg]) -> Result<Vec<Instruction>, Refusal> {
        self.coder.loc = None;
        if self.copies || !undefined.is_empty() {
            self.opaque.begin(&mut self.coder)?;
        }
        self.checks.begin(&mut self.coder)?;
        for &register in undefined {
            let width = self.width(register);
            begin_as_zero(&mut self.coder, register, width)?;
            if !self.shadowed.has(register) {
                continue;
            }
            let shadow = self.shadow(register);
            self.opaque.copy(&mut self.coder, shadow, register, width)?;
        }
        Ok(self.coder.take())
    }
}
