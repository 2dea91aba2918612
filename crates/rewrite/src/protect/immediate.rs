//! The scheme SRIV: one register space; each eligible instruction has a twin before it, compared with it at once.
//!
//! ```text
//! eligible          the same instruction with a new register for its result, the instruction, both results compared
//! move              its source copied, or its constant made, in a way that an assembler does not see through; the same
//! not eligible      the instruction
//! ```
//!
//! A twin with the same sources would be merged with its original, so one of them is a copy that the assembler does not see
//! through. It is the result of another twin, if that was compared a few instructions before and still equals what the
//! original reads; otherwise the copy is made for it.

use crate::code::Coder;
use crate::protect::checks::{Checks, Notification};
use crate::protect::doubles::hands_on_either_nan;
use crate::protect::eligible::Treatment;
use crate::protect::loads::make_second;
use crate::protect::opaque::Opaque;
use crate::protect::origin::Origin;
use crate::protect::pieces::{TreatedPiece, pieces};
use crate::protect::place::{NewBody, leaders, may_come_to_its_end};
use crate::protect::proxy::HardwareProxy;
use crate::protect::refused::Unprotected;
use crate::protect::signature::{arithmetic, leaves};
use crate::protect::undefined::{begin_as_zero, undefined};
use crate::refusal::Refusal;
use facts::{Guard, Pc, Reg, Width};
use isa::op::is_move;
use isa::{Base, Dst, Function, Instruction, Op, Src, Type};
use std::collections::BTreeMap;

/// How many instructions later a twin's result is read in place of a copy.
const RECENT: usize = 6;

/// Puts a twin before each eligible instruction of a function that is chosen; loads are eligible if `loads` says so. The origins speak of its instructions as they are
/// before this.
pub(super) fn twin(
    function: &mut Function,
    notification: Notification,
    (chosen, loads): (&[bool], bool),
) -> Result<Vec<Origin>, Unprotected> {
    let (pieces, leaders) = (pieces(function, chosen, loads)?, leaders(function));
    let (undefined, arithmetic) = (undefined(function), arithmetic(function));
    let ends = may_come_to_its_end(function);
    let old = std::mem::take(&mut function.body);
    let mut body = NewBody::new();
    let mut coder = Coder::new(function, None);
    let opaque = Opaque::new(&mut coder);
    let checks = Checks::new(&mut coder, notification);
    let mut twins = Twins { coder, opaque, checks, recent: BTreeMap::new(), uses_opaque: false, arithmetic };
    for TreatedPiece { range, treatment, .. } in pieces {
        if leaders[range.start] {
            twins.recent.clear();
        }
        twins.piece(&old[range.clone()], range.start, treatment, &mut body)?;
    }
    let last = Pc(old.len().saturating_sub(1) as u32);
    twins.checks.close(&mut twins.coder, twins.opaque, (last, ends), &mut body)?;
    let entry = twins.entry(&undefined)?;
    drop(twins);
    Ok(body.finish(function, entry, Origin::Entry))
}

/// The twin of a register that instructions which are treated together write.
#[derive(Clone, Copy, Debug)]
struct Twin {
    register: Reg,
    /// The guard of the last one that writes it.
    guard: Option<Guard>,
    pc: Pc,
    /// Whether both may be NaN of different bits.
    either_nan: bool,
}

/// Makes the code of one function.
struct Twins<'f> {
    coder: Coder<'f>,
    opaque: Opaque,
    checks: Checks,
    /// Twins that equal a register, each with the instruction that wrote both.
    recent: BTreeMap<Reg, (Reg, usize)>,
    uses_opaque: bool,
    /// By register: whether only arithmetic writes it.
    arithmetic: Vec<bool>,
}

impl Twins<'_> {
    fn piece(
        &mut self,
        instructions: &[Instruction],
        start: usize,
        treatment: Treatment,
        body: &mut NewBody<Origin>,
    ) -> Result<(), Unprotected> {
        let numbered = || instructions.iter().zip((start as u32..).map(Pc));
        body.begin();
        let mut written: BTreeMap<Reg, Twin> = BTreeMap::new();
        let doubled = matches!(treatment, Treatment::Duplicate | Treatment::Constant);
        if doubled {
            let guards = self.kept_guards(instructions, start, body)?;
            for (instruction, pc) in numbered() {
                self.coder.loc.clone_from(&instruction.loc);
                self.twin(instruction, pc, instructions.len() > 1, &guards, &mut written)?;
                body.put(Origin::Duplicate(pc), self.coder.take());
            }
        } else if let Some((instruction, pc)) = numbered().find(|(instruction, _)| leaves(&instruction.op)) {
            self.coder.loc.clone_from(&instruction.loc);
            self.checks.end(&mut self.coder, self.opaque, pc, body)?;
        }
        for (instruction, pc) in numbered() {
            if pc.index() != start {
                body.begin();
            }
            body.put(Origin::Original(pc), [instruction.clone()]);
            for (_, register) in instruction.writes() {
                self.recent.remove(&register);
            }
        }
        for (register, twin) in written {
            self.coder.loc.clone_from(&instructions[twin.pc.index() - start].loc);
            self.compare(register, twin, body)?;
            if twin.guard.is_none() && !twin.either_nan {
                self.recent.insert(register, (twin.register, twin.pc.index()));
            }
        }
        Ok(())
    }

    /// Copies of those guards that one of the instructions writes: they are compared behind it.
    fn kept_guards(
        &mut self,
        instructions: &[Instruction],
        start: usize,
        body: &mut NewBody<Origin>,
    ) -> Result<BTreeMap<Reg, Reg>, Refusal> {
        let mut kept = BTreeMap::new();
        let writes = |pred: Reg| instructions.iter().flat_map(Instruction::writes).any(|(_, written)| written == pred);
        for guard in instructions.iter().filter_map(|instruction| instruction.guard).filter(|it| writes(it.pred)) {
            if let std::collections::btree_map::Entry::Vacant(entry) = kept.entry(guard.pred) {
                let copy = self.coder.register(Type::Pred);
                self.copy(copy, guard.pred)?;
                entry.insert(copy);
            }
        }
        body.put(Origin::Duplicate(Pc(start as u32)), self.coder.take());
        Ok(kept)
    }

    /// The twin of an instruction.
    fn twin(
        &mut self,
        instruction: &Instruction,
        pc: Pc,
        together: bool,
        guards: &BTreeMap<Reg, Reg>,
        written: &mut BTreeMap<Reg, Twin>,
    ) -> Result<(), Refusal> {
        let mut twin = instruction.clone();
        make_second(&mut twin);
        let known = self.replace_sources(&mut twin, pc, written)?;
        if let Some(guard) = &mut twin.guard
            && let Some(earlier) = written.get(&guard.pred)
        {
            guard.pred = earlier.register;
        }
        let under = instruction.guard.map(|guard| match guards.get(&guard.pred) {
            Some(&pred) => Guard { pred, ..guard },
            None => guard,
        });
        let either_nan = !matches!(self.checks, Checks::Proxy(_)) && hands_on_either_nan(instruction);
        let mut results = Vec::new();
        for dst in &mut twin.dst {
            let Dst::Reg(register) = dst else { continue };
            let ty = self.ty(*register);
            let made = self.coder.register(ty);
            if twin.guard.is_some() && together {
                // One of the others may read what it was where the guard does not hold.
                let before = written.get(register).map_or(*register, |twin| twin.register);
                self.copy(made, before)?;
            }
            results.push((*register, Twin { register: made, guard: under, pc, either_nan }));
            *dst = Dst::Reg(made);
        }
        self.coder.guard = twin.guard;
        match (&twin.op, twin.src.as_slice(), results.as_slice()) {
            (Op::Alu(form), [source], [(_, result)]) if is_move(form.alu) => {
                self.moved(source, result.register, instruction)?;
            }
            _ if known => self.coder.instruction(twin),
            _ => {
                self.coder.instruction(twin);
                for (_, result) in &results {
                    self.copy(result.register, result.register)?;
                }
            }
        }
        self.coder.guard = None;
        written.extend(results);
        Ok(())
    }

    /// The source of a move into the twin of its destination.
    fn moved(&mut self, source: &Src, to: Reg, instruction: &Instruction) -> Result<(), Refusal> {
        let width = self.width(to);
        match (source, width) {
            (Src::Reg(from), _) => self.copy(to, *from),
            (Src::Imm(value), Width::B16 | Width::B32 | Width::B64) => {
                let ty = match width {
                    Width::B16 => Type::B16,
                    Width::B64 => Type::B64,
                    _ => Type::B32,
                };
                self.uses_opaque = true;
                self.opaque.constant(&mut self.coder, ty, to, *value)
            }
            _ => {
                self.coder.instruction(Instruction { dst: vec![Dst::Reg(to)], ..instruction.clone() });
                self.copy(to, to)
            }
        }
    }

    /// Puts twins of earlier ones, or a copy, in place of the sources of a twin. Says whether one of them is a register.
    fn replace_sources(
        &mut self,
        twin: &mut Instruction,
        pc: Pc,
        written: &BTreeMap<Reg, Twin>,
    ) -> Result<bool, Refusal> {
        if matches!(&twin.op, Op::Alu(form) if is_move(form.alu)) {
            if let [Src::Reg(register)] = twin.src.as_mut_slice()
                && let Some(earlier) = written.get(register)
            {
                *register = earlier.register;
            }
            return Ok(true);
        }
        let recent = |register: &Reg| {
            let (twin, at) = self.recent.get(register)?;
            (pc.index() - at <= RECENT).then_some(*twin)
        };
        let mut opaque = false;
        for source in &mut twin.src {
            let (Src::Reg(register) | Src::Not(register) | Src::Address(Base::Reg(register), _)) = source else {
                continue;
            };
            let found = written.get(register).map(|twin| twin.register).or_else(|| recent(register));
            if let Some(found) = found {
                (*register, opaque) = (found, true);
            }
        }
        let registers: Vec<Reg> = twin.src.iter().filter_map(Src::register).collect();
        let word = registers.iter().find(|register| self.width(**register) != Width::Pred).or(registers.first());
        let Some(&seeded) = word else { return Ok(false) };
        if opaque {
            return Ok(true);
        }
        let ty = self.ty(seeded);
        let seed = self.coder.register(ty);
        self.copy(seed, seeded)?;
        for source in &mut twin.src {
            if let Src::Reg(register) | Src::Not(register) | Src::Address(Base::Reg(register), _) = source
                && *register == seeded
            {
                *register = seed;
            }
        }
        Ok(true)
    }

    /// Compares a register with its twin.
    fn compare(&mut self, register: Reg, twin: Twin, body: &mut NewBody<Origin>) -> Result<(), Refusal> {
        let pair = [register, twin.register];
        match self.checks {
            Checks::Deferred(signature) if twin.either_nan => {
                signature.compare_numbers(&mut self.coder, twin.guard, pair)?;
                body.put(Origin::Check(twin.pc), self.coder.take());
            }
            Checks::Deferred(signature) => {
                self.uses_opaque |= self.width(register) == Width::Pred;
                let arithmetic = self.arithmetic.get(register.index()).copied().unwrap_or(false);
                signature.compare(&mut self.coder, self.opaque, twin.guard, pair, arithmetic)?;
                body.put(Origin::Check(twin.pc), self.coder.take());
            }
            Checks::Proxy(sink) => {
                match sink.proxy {
                    HardwareProxy::Notify => sink.compare(&mut self.coder, pair)?,
                    HardwareProxy::Signature => sink.gather(&mut self.coder, twin.register, false)?,
                }
                body.put(Origin::Check(twin.pc), self.coder.take());
            }
            Checks::Immediate(checker) => {
                self.uses_opaque |= self.width(register) == Width::Pred;
                let compared = self.opaque.comparable(&mut self.coder, pair.into())?;
                if twin.either_nan {
                    checker.compare_numbers(&mut self.coder, twin.guard, compared)?;
                } else {
                    checker.compare_under(&mut self.coder, twin.guard, &[compared])?;
                }
                body.put(Origin::Check(twin.pc), self.coder.take());
                checker.notify(&mut self.coder);
                body.put(Origin::Notify, self.coder.take());
            }
        }
        Ok(())
    }

    fn copy(&mut self, to: Reg, from: Reg) -> Result<(), Refusal> {
        let width = self.width(from);
        self.uses_opaque = true;
        self.opaque.copy(&mut self.coder, to, from, width)
    }

    fn ty(&self, register: Reg) -> Type {
        self.coder.function().registers.get(register.index()).map_or(Type::B32, |register| register.ty)
    }

    fn width(&self, register: Reg) -> Width {
        self.ty(register).width()
    }

    /// The code before the first instruction.
    fn entry(&mut self, undefined: &[Reg]) -> Result<Vec<Instruction>, Refusal> {
        self.coder.loc = None;
        if self.uses_opaque || matches!(self.checks, Checks::Proxy(_)) {
            self.opaque.begin(&mut self.coder)?;
        }
        self.checks.begin(&mut self.coder)?;
        for &register in undefined {
            let width = self.width(register);
            begin_as_zero(&mut self.coder, register, width)?;
        }
        Ok(self.coder.take())
    }
}
