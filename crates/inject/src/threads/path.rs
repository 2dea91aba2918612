//! The operands that a thread writes and reads on its path: each value with its readers, and each read that is not the first of its value.
//!
//! A flip in a value equals a flip of the same bit in the register before the first instruction that reads this bit: the
//! register is the thread's own, and nothing reads it in between. So a read is told apart only where its bits were read before,
//! or were not written by an instruction on the path.

use super::trace::TraceStep;
use crate::golden::GoldenLaunch;
use crate::lanes::Touches;
use facts::{Control, Effect, Facts, Role};
use outcome::FirstUse;
use simt::Liveness;
use std::ops::Range;

/// A destination of an instruction that a thread executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathDestination {
    /// The step of the path, from 0; those with a false guard count.
    pub step: u32,
    /// The dynamic instruction of the thread, from 0; those with a false guard do not count.
    pub dynamic: u64,
    /// The instruction, an index into the instructions of the program.
    pub instruction: u32,
    /// Its position among the destinations of the instruction.
    pub position: u8,
    /// How many bits it has.
    pub bits: u32,
    /// That no instruction reads the value, and why; a flip in it is masked. `None` where it is read, or may be.
    pub unread: Option<FirstUse>,
    /// How many of its low bits are read, or may be; a flip in another one is masked.
    pub read_bits: u32,
}

/// A register that an instruction reads which a thread executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathUse {
    /// The step of the path.
    pub step: u32,
    /// The dynamic instruction of the thread before which a flip of the register meets this read: the one that reads, or the
    /// one before it if the register is the guard, which is read before an instruction begins.
    pub dynamic: u64,
    /// Whether such a flip meets this read first. If not, no fault names the bits that were read before.
    pub is_named: bool,
    /// The instruction that reads, an index into the instructions of the program.
    pub instruction: u32,
    /// The number of the register in its function.
    pub register: u32,
    /// How many of its low bits the instruction reads.
    pub bits: u32,
    /// The first of its bits that no instruction read since the value was written; as many as `bits` if there are none.
    pub fresh_from: u32,
    /// The end of these bits.
    pub fresh_to: u32,
    /// The destination that wrote them, an index into [`PathSites::destinations`].
    pub written_by: Option<u32>,
}

/// The operands that a thread writes and reads, in its order.
#[derive(Clone, Debug, Default)]
pub struct PathSites {
    /// The destinations.
    pub destinations: Vec<PathDestination>,
    /// The registers that instructions read.
    pub uses: Vec<PathUse>,
    /// Reads of guards by instructions that the thread came to and did not execute: no fault names them.
    pub guards_off: u64,
}

/// A register on the way along a path.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    /// The destination that wrote it, if all readers of the value are known.
    writer: Option<u32>,
    /// How many of its low bits were read since.
    read: u32,
}

/// Finds what the threads of a kernel write and read.
#[derive(Debug)]
pub struct PathDestinations {
    touches: Touches,
    liveness: Option<Liveness>,
    /// By instruction, the registers that it reads, each once: its number in the program and in its function, and the bits.
    reads: Vec<Vec<(u32, u32, u32)>>,
}

impl PathDestinations {
    /// For threads of the launches of one kernel.
    #[must_use]
    pub fn of(launch: &GoldenLaunch) -> Self {
        let program = &launch.program;
        let touches = Touches::of(program);
        let reads = |instruction: u32| {
            let first = touches.first_register(program, instruction);
            let facts = program.facts(instruction);
            facts
                .map(reads)
                .unwrap_or_default()
                .into_iter()
                .map(|(number, bits)| (first + number, number, bits))
                .collect()
        };
        let reads = (0..program.instructions.len() as u32).map(reads).collect();
        Self { touches, liveness: Liveness::of(program), reads }
    }

    /// What a thread of a launch of the kernel writes on a path, in its order.
    #[must_use]
    pub fn on(&self, launch: &GoldenLaunch, path: &[TraceStep]) -> Vec<PathDestination> {
        self.sites(launch, path).destinations
    }

    /// The operands that a thread of a launch of the kernel writes and reads on a path.
    #[must_use]
    pub fn sites(&self, launch: &GoldenLaunch, path: &[TraceStep]) -> PathSites {
        let steps: Vec<(u32, bool)> = path.iter().map(|step| (step.instruction, step.executed)).collect();
        let mut first_uses = self.touches.first_uses(&steps).into_iter();
        let mut found = PathSites::default();
        let mut held = vec![Held::default(); self.touches.registers() as usize];
        let mut dynamic = 0;
        for (step, at) in (0..).zip(path) {
            let Some(facts) = launch.program.facts(at.instruction) else {
                dynamic += u64::from(at.executed && first_uses.next().is_some());
                continue;
            };
            let reads = &self.reads[at.instruction as usize];
            if !at.executed {
                // The guard is the first of what an instruction reads.
                if let Some(&(number, ..)) = reads.first().filter(|_| facts.guard.is_some()) {
                    found.guards_off += 1;
                    found.forget(&mut held[number as usize]);
                }
                continue;
            }
            for &(number, register, bits) in reads {
                let is_guard = facts.guard.is_some_and(|guard| guard.pred.0 == register);
                let is_named = !is_guard || self.can_name_guard(launch, &path[..step as usize], number);
                let before = &mut held[number as usize];
                let written = before.writer.and_then(|writer| found.destinations.get_mut(writer as usize));
                let fresh_to = written.as_ref().map_or(0, |written| written.bits.min(bits));
                let fresh = before.read.min(fresh_to)..fresh_to;
                if let Some(written) = written {
                    written.read_bits = written.read_bits.max(fresh_to);
                }
                before.read = before.read.max(bits);
                let (instruction, written_by) = (at.instruction, before.writer.filter(|_| !fresh.is_empty()));
                let (fresh_from, fresh_to) = if fresh.is_empty() { (bits, bits) } else { (fresh.start, fresh.end) };
                let dynamic = if is_guard && is_named { dynamic - 1 } else { dynamic };
                found.uses.push(PathUse {
                    step,
                    dynamic,
                    is_named,
                    instruction,
                    register,
                    bits,
                    fresh_from,
                    fresh_to,
                    written_by,
                });
            }
            self.touches.writes(at.instruction).iter().for_each(|&number| held[number as usize] = Held::default());
            let uses = first_uses.next().unwrap_or_default();
            for (destination, first_use) in self.touches.destinations(at.instruction).iter().zip(uses) {
                let mut operands = facts.of_role(Role::Destination);
                let Some(operand) = operands.find(|operand| operand.position == destination.position) else { continue };
                let private = self.liveness.as_ref().is_some_and(|liveness| liveness.is_private(destination.slot));
                let unread = !matches!(first_use, FirstUse::Read { .. }) && private;
                let (bits, instruction) = (operand.bits, at.instruction);
                let writer = private.then_some(found.destinations.len() as u32);
                held[destination.register as usize] = Held { writer, read: 0 };
                found.destinations.push(PathDestination {
                    step,
                    dynamic,
                    instruction,
                    position: destination.position,
                    bits,
                    unread: unread.then_some(first_use),
                    read_bits: if private { 0 } else { bits },
                });
            }
            if facts.control == Control::Call
                && let Some(next) = path.get(step as usize + 1)
            {
                // A call may give values to registers of the function, and take away those of the call before.
                let registers = self.touches.registers_of(&launch.program, next.instruction);
                held[registers].iter_mut().for_each(|held| found.forget(held));
            }
            dynamic += 1;
        }
        for it in found.destinations.iter_mut().filter(|it| it.unread.is_none() && it.read_bits == 0) {
            it.read_bits = it.bits;
        }
        found
    }
}

impl PathDestinations {
    /// Whether a flip of a guard before the last instruction that was executed is first met by the instruction behind the path.
    fn can_name_guard(&self, launch: &GoldenLaunch, path: &[TraceStep], number: u32) -> bool {
        let off = path.iter().rev().take_while(|step| !step.executed).count();
        let (before, off) = path.split_at(path.len() - off);
        let Some(before) = before.last() else { return false };
        let guards =
            |step: &TraceStep| launch.program.facts(step.instruction).is_some_and(|facts| facts.guard.is_some());
        let is_guard = |step: &TraceStep| {
            guards(step) && self.reads[step.instruction as usize].first().is_some_and(|(of, ..)| *of == number)
        };
        let registers = self.touches.registers_of(&launch.program, before.instruction);
        let Some(facts) = launch.program.facts(before.instruction) else { return false };
        let reads = facts.of_role(Role::Source).any(|it| registers.start + it.register.index() == number as usize);
        let writes = self.touches.writes(before.instruction).contains(&number);
        registers.contains(&(number as usize)) && !reads && !writes && !off.iter().any(is_guard)
    }
}

impl PathSites {
    /// From here on the readers of a value are not known.
    fn forget(&mut self, held: &mut Held) {
        if let Some(written) = held.writer.take().and_then(|writer| self.destinations.get_mut(writer as usize)) {
            written.read_bits = written.bits;
        }
    }
}

impl PathUse {
    /// The bits of a read that has a name which were read before, or are of no value whose readers are known: a flip there
    /// equals no flip in a destination.
    #[must_use]
    pub fn own_bits(&self) -> [Range<u32>; 2] {
        if self.is_named { [0..self.fresh_from, self.fresh_to..self.bits] } else { [0..0, 0..0] }
    }
}

/// The registers that an instruction reads, each once and the guard first, by their numbers in the function, with the bits.
fn reads(facts: &Facts) -> Vec<(u32, u32)> {
    let mut all: Vec<(u32, u32)> = facts.guard.iter().map(|guard| (guard.pred.0, 1)).collect();
    for source in facts.of_role(Role::Source) {
        let of = |role| facts.of_role(role).filter(|it| it.register == source.register);
        let is_store = facts.access.is_some_and(|access| access.effect == Effect::Write);
        // A store reads as many bits as it writes to memory.
        let stored =
            of(Role::Stored).map(|it| it.bits).max().filter(|_| is_store && of(Role::Address).next().is_none());
        let bits = stored.unwrap_or(source.bits).min(source.bits);
        match all.iter_mut().find(|(register, _)| *register == source.register.0) {
            Some((_, known)) => *known = (*known).max(bits),
            None => all.push((source.register.0, bits)),
        }
    }
    all
}
