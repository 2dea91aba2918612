//! Thread-level duplication: two neighbouring lanes of a warp compute the same, and one of them writes.
//!
//! ```text
//! %tid.x, %ntid.x     half of what the machine says: a block has twice as many threads in x
//! store, atomic       address, values and guard cross to the other lane, the odd one compares and notifies; the even one writes
//! result of an atomic crosses from the even lane to the odd one
//! everything else     both lanes
//! ```
//!
//! Memory that threads share has one copy, and so has what lanes ask of each other: a kernel that names lanes is refused. The
//! pair is one warp's, so a fault that strikes all lanes of a warp alike is in both copies and is not noticed. With a signature
//! the odd lane notes what differs and notifies where the kernel ends.

use crate::code::Coder;
use crate::protect::origin::Origin;
use crate::protect::paired::{Pairing, pairing};
use crate::protect::place::{NewBody, may_come_to_its_end};
use crate::protect::refused::Unprotected;
use crate::protect::signature::leaves;
use crate::protect::undefined::{begin_as_zero, undefined};
use crate::refusal::Refusal;
use facts::{Guard, Pc, Reg, Width};
use isa::op::{Shuffle, SourceRole};
use isa::{Function, Instruction, Op, Special, Src, Type};

/// The lane bits that `shfl` may change.
const ANY_LANE: u64 = 31;

/// The most threads of a block.
const MOST_THREADS: u32 = 1024;

/// Makes a kernel whose even and odd lanes compute the same. The origins speak of its instructions as they are before this.
pub(super) fn pair(function: &mut Function, deferred: bool) -> Result<Vec<Origin>, Unprotected> {
    let pairings = function.body.iter().zip((0..).map(Pc)).map(|(instruction, pc)| {
        let refused = |why| Unprotected::Instruction { pc, instruction: instruction.op.to_string(), why };
        pairing(function, instruction).map_err(refused)
    });
    let pairings = pairings.collect::<Result<Vec<_>, _>>()?;
    let (undefined, ends) = (undefined(function), may_come_to_its_end(function));
    function.directives.retain_mut(doubled);
    let old = std::mem::take(&mut function.body);
    let mut body = NewBody::new();
    let mut lanes = Lanes::new(Coder::new(function, None), deferred);
    for ((instruction, pairing), pc) in old.iter().zip(pairings).zip((0..).map(Pc)) {
        body.begin();
        lanes.coder.loc.clone_from(&instruction.loc);
        lanes.instruction(instruction, pairing, pc, &mut body)?;
    }
    let last = Pc(old.len().saturating_sub(1) as u32);
    lanes.coder.loc = None;
    body.begin();
    if ends {
        lanes.end(last, &mut body)?;
        lanes.coder.push_op(Op::Ret { uni: false }, &[], Vec::new());
        body.put(Origin::Check(last), lanes.coder.take());
    }
    let entry = lanes.entry(&undefined)?;
    drop(lanes);
    Ok(body.finish(function, entry, Origin::Entry))
}

/// Doubles the first number of a directive about threads of a block. Says whether the directive is kept: a bound above what a
/// block may have says nothing.
fn doubled(directive: &mut String) -> bool {
    for head in [".maxntid", ".reqntid"] {
        let Some(numbers) = directive.strip_prefix(head) else { continue };
        let mut numbers: Vec<u32> = numbers.split(',').filter_map(|number| number.trim().parse().ok()).collect();
        let Some(first) = numbers.first_mut() else { return true };
        *first = first.saturating_mul(2);
        let threads = numbers.iter().fold(1_u32, |all, number| all.saturating_mul(*number));
        let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
        *directive = format!("{head} {}", words.join(", "));
        return head == ".reqntid" || threads <= MOST_THREADS;
    }
    true
}

/// Makes the code of one kernel.
struct Lanes<'f> {
    coder: Coder<'f>,
    deferred: bool,
    /// Whether the lane is the even one of its pair.
    even: Reg,
    /// Whether it is the odd one.
    odd: Reg,
    /// The number of the even lane.
    leader: Reg,
    /// Both lanes, as a mask.
    members: Reg,
    /// Whether something differs.
    failed: Reg,
    /// Whether something differed before.
    signature: Reg,
}

impl<'f> Lanes<'f> {
    fn new(mut coder: Coder<'f>, deferred: bool) -> Self {
        let [even, odd, failed, signature] = [(); 4].map(|()| coder.register(Type::Pred));
        let [leader, members] = [(); 2].map(|()| coder.register(Type::U32));
        Self { coder, deferred, even, odd, leader, members, failed, signature }
    }

    fn instruction(
        &mut self,
        instruction: &Instruction,
        pairing: Pairing,
        pc: Pc,
        body: &mut NewBody<Origin>,
    ) -> Result<(), Refusal> {
        if leaves(&instruction.op) {
            self.end(pc, body)?;
        }
        match pairing {
            Pairing::Both => {
                let mut own = instruction.clone();
                for source in &mut own.src {
                    if let Src::Special(special @ (Special::TidX | Special::NtidX)) = source {
                        let whole = self.coder.special(*special)?;
                        let half = self.coder.make(Type::U32, "shr.u32", vec![Src::Reg(whole), Src::Imm(1)])?;
                        *source = Src::Reg(half);
                    }
                }
                body.put(Origin::Copy(pc), self.coder.take());
                body.put(Origin::Original(pc), [own]);
            }
            Pairing::Written => {
                self.check(instruction, pc, body)?;
                let guard = self.leads(instruction.guard)?;
                body.put(Origin::Copy(pc), self.coder.take());
                body.put(Origin::Original(pc), [Instruction { guard: Some(guard), ..instruction.clone() }]);
                for (_, register) in instruction.writes() {
                    self.cross(register, instruction.guard)?;
                }
                self.coder.push_op(Op::WarpSync, &[], vec![Src::Reg(self.members)]);
                body.put(Origin::Copy(pc), self.coder.take());
            }
        }
        Ok(())
    }

    /// Compares what an instruction reads with what the other lane has.
    fn check(&mut self, instruction: &Instruction, pc: Pc, body: &mut NewBody<Origin>) -> Result<(), Refusal> {
        let guard = instruction.guard;
        let roles: Vec<SourceRole> = instruction.op.signature().source_parts().map(|part| part.role).collect();
        let mut read: Vec<Reg> = Vec::new();
        for (source, at) in instruction.src.iter().zip(0..) {
            let hint = roles.get(at) == Some(&SourceRole::Hint);
            read.extend(source.register().filter(|register| !hint && !read.contains(register)));
        }
        let mut words = Vec::new();
        for register in read {
            words.extend(self.words(register)?);
        }
        let of_guard = guard.map(|guard| self.words(guard.pred)).transpose()?.unwrap_or_default();
        let others = self.others(&words)?;
        let others_guard = self.others(&of_guard)?;
        let none = vec![Src::Imm(0), Src::Imm(0)];
        self.coder.push("setp.ne.u32", &[self.failed], none)?;
        self.differ(&of_guard, &others_guard)?;
        self.coder.guard = guard;
        let compared = self.differ(&words, &others);
        self.coder.guard = None;
        compared?;
        let joined = |one, other| vec![Src::Reg(one), Src::Reg(other)];
        if self.deferred {
            self.coder.push("or.pred", &[self.signature], joined(self.signature, self.failed))?;
            body.put(Origin::Check(pc), self.coder.take());
            return Ok(());
        }
        self.coder.push("and.pred", &[self.failed], joined(self.failed, self.odd))?;
        body.put(Origin::Check(pc), self.coder.take());
        self.notify(body);
        Ok(())
    }

    /// Notes where words and those of the other lane differ.
    fn differ(&mut self, words: &[Reg], others: &[Reg]) -> Result<(), Refusal> {
        words.iter().zip(others).try_for_each(|(word, other)| {
            let sources = [*word, *other, self.failed].map(Src::Reg).to_vec();
            self.coder.push("setp.ne.or.b32", &[self.failed], sources)
        })
    }

    /// These words of the other lane.
    fn others(&mut self, words: &[Reg]) -> Result<Vec<Reg>, Refusal> {
        words.iter().map(|word| self.shuffled(Shuffle::Bfly, *word, Src::Imm(1))).collect()
    }

    fn shuffled(&mut self, mode: Shuffle, word: Reg, lane: Src) -> Result<Reg, Refusal> {
        let sources = vec![Src::Reg(word), lane, Src::Imm(ANY_LANE), Src::Reg(self.members)];
        let read = self.coder.register(Type::B32);
        self.coder.push_op(Op::Shfl(mode), &[read], sources);
        Ok(read)
    }

    /// A register as words.
    fn words(&mut self, register: Reg) -> Result<Vec<Reg>, Refusal> {
        let whole = vec![Src::Reg(register)];
        match self.width(register) {
            Width::Pred => {
                let sources = vec![Src::Imm(1), Src::Imm(0), Src::Reg(register)];
                Ok(vec![self.coder.make(Type::B32, "selp.b32", sources)?])
            }
            Width::B16 => {
                let word = self.coder.register(Type::B32);
                let bits = self.coder.make(Type::B16, "mov.b16", whole)?;
                self.coder.push("cvt.u32.u16", &[word], vec![Src::Reg(bits)])?;
                Ok(vec![word])
            }
            Width::B32 => Ok(vec![self.coder.make(Type::B32, "mov.b32", whole)?]),
            Width::B64 => {
                let words = [self.coder.register(Type::B32), self.coder.register(Type::B32)];
                self.coder.push_op(Op::MovVector(Type::B64), &words, whole);
                Ok(words.to_vec())
            }
            Width::B128 => {
                let [low, high] = self.coder.halves(register);
                Ok([self.words(low)?, self.words(high)?].concat())
            }
        }
    }

    /// Gives a register of both lanes the value of the even one, where the guard holds. Atomics have results of 32 and 64 bits.
    fn cross(&mut self, register: Reg, guard: Option<Guard>) -> Result<(), Refusal> {
        let words = self.words(register)?;
        let leader = Src::Reg(self.leader);
        let mut led = Vec::new();
        for word in words {
            led.push(Src::Reg(self.shuffled(Shuffle::Idx, word, leader.clone())?));
        }
        self.coder.guard = guard;
        let made = match self.width(register) {
            Width::B64 => {
                self.coder.push_op(Op::MovVector(Type::B64), &[register], led);
                Ok(())
            }
            _ => self.coder.push("mov.b32", &[register], led),
        };
        self.coder.guard = None;
        made
    }

    /// The guard of the even lane alone.
    fn leads(&mut self, guard: Option<Guard>) -> Result<Guard, Refusal> {
        let Some(Guard { pred, negated }) = guard else { return Ok(Guard { pred: self.even, negated: false }) };
        let holds = if negated { self.coder.make(Type::Pred, "not.pred", vec![Src::Reg(pred)])? } else { pred };
        let both = self.coder.make(Type::Pred, "and.pred", vec![Src::Reg(holds), Src::Reg(self.even)])?;
        Ok(Guard { pred: both, negated: false })
    }

    /// Ends the launch in an odd lane that differed, before an instruction that ends the kernel.
    fn end(&mut self, pc: Pc, body: &mut NewBody<Origin>) -> Result<(), Refusal> {
        if !self.deferred {
            return Ok(());
        }
        self.coder.push("and.pred", &[self.failed], vec![Src::Reg(self.signature), Src::Reg(self.odd)])?;
        body.put(Origin::Check(pc), self.coder.take());
        self.notify(body);
        Ok(())
    }

    fn notify(&mut self, body: &mut NewBody<Origin>) {
        self.coder.where_holds(self.failed);
        self.coder.push_op(Op::Trap, &[], Vec::new());
        self.coder.guard = None;
        body.put(Origin::Notify, self.coder.take());
    }

    fn width(&self, register: Reg) -> Width {
        self.coder.function().registers.get(register.index()).map_or(Width::B32, facts::Register::width)
    }

    /// The code before the first instruction.
    fn entry(&mut self, undefined: &[Reg]) -> Result<Vec<Instruction>, Refusal> {
        self.coder.loc = None;
        let lane = self.coder.special(Special::Laneid)?;
        self.coder.push("and.b32", &[self.leader], vec![Src::Reg(lane), Src::Imm(ANY_LANE - 1)])?;
        self.coder.push("shl.b32", &[self.members], vec![Src::Imm(3), Src::Reg(self.leader)])?;
        self.coder.push("setp.eq.u32", &[self.even], vec![Src::Reg(lane), Src::Reg(self.leader)])?;
        self.coder.push("setp.ne.u32", &[self.odd], vec![Src::Reg(lane), Src::Reg(self.leader)])?;
        if self.deferred {
            self.coder.push("setp.ne.u32", &[self.signature], vec![Src::Imm(0), Src::Imm(0)])?;
        }
        for &register in undefined {
            let width = self.width(register);
            begin_as_zero(&mut self.coder, register, width)?;
        }
        Ok(self.coder.take())
    }
}
