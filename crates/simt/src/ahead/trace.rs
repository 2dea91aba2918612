//! One iteration of a loop, executed while it is found out which registers grow by which step and for how long everything
//! goes on as it does.

use super::linear;
use super::range;
use super::steps::Steps;
use super::touched::{Changing, Reach, Touched};
use super::value::{Range, Source};
use crate::access::LaneTrap;
use crate::control::State;
use crate::exec::{Running, Step};
use crate::program::{Micro, MicroKind, NOWHERE, Program};
use ::lanes::Handlers;
use ::lanes::registers::{LANES, Slot, lanes};
use facts::{Group, Reg};
use isa::Width;
use isa::alu::Alu;

/// Why nothing can be said of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Unclear {
    /// A guard, the index of a branch or an address depends on something unknown.
    Control,
    /// Lanes part.
    Divergence,
    /// It waits for threads that live.
    Barrier,
    /// An atomic access changes memory, or something is executed that is not looked through.
    Instruction,
}

/// What is found out about an iteration.
#[derive(Debug)]
pub(super) struct Trace {
    /// What was supposed of registers at its start, and is now.
    pub(super) steps: Steps,
    pub(super) touched: Vec<Touched>,
    pub(super) reach: Reach,
    pub(super) unclear: Option<Unclear>,
    /// Whether something is read that the iteration before computed and that is not known beforehand.
    pub(super) is_carried: bool,
    /// Whether something is stored that is not known beforehand.
    pub(super) is_unknown: bool,
    /// Whether other lanes or warps, or a clock, have a part in it.
    pub(super) waits: bool,
    /// Whether loads at addresses that move have to find the same each time; else they find something unknown.
    pub(super) strict: bool,
    /// Whether nothing is computed in floating point.
    pub(super) is_whole: bool,
    /// Whether a load has an address that moves.
    pub(super) loads_move: bool,
    /// Whether no other thread of the block lives, so that barriers do not matter.
    alone: bool,
    /// Where iterations before this one have stored something that changes.
    pub(super) changing: Vec<Changing>,
}

impl Trace {
    pub(super) fn new(steps: Steps, changing: Vec<Changing>, strict: bool, alone: bool) -> Self {
        let (touched, reach) = (Vec::new(), Reach::ENDLESS);
        Self {
            steps,
            touched,
            reach,
            unclear: None,
            is_carried: false,
            is_unknown: false,
            waits: false,
            strict,
            is_whole: true,
            loads_move: false,
            alone,
            changing,
        }
    }

    /// Adds where this iteration has stored something that changes; whether it was known.
    pub(super) fn changes(&self, known: &mut Vec<Changing>) -> bool {
        let before = known.len();
        for place in self.touched.iter().filter_map(Touched::changing) {
            if !known.contains(&place) {
                known.push(place);
            }
        }
        known.len() == before
    }

    pub(super) fn fail(&mut self, why: Unclear) {
        self.unclear = self.unclear.or(Some(why));
    }

    /// The guard of an instruction decides about the lanes that come to it.
    pub(super) fn guard(&mut self, micro: &Micro, active: u32) {
        let slot = Slot { width: Width::Pred, index: micro.guard };
        if lanes(active).any(|lane| self.step_of(slot, lane).is_none()) {
            self.fail(Unclear::Control);
        }
    }

    /// The step of a register that is read.
    pub(super) fn step_of(&mut self, slot: Slot, lane: usize) -> Option<u64> {
        let step = self.steps.get(slot, lane);
        self.is_carried |= step.is_none() && self.steps.is_carried(slot, lane);
        step
    }

    pub(super) fn is_constant(&mut self, slot: Slot, mask: u32) -> bool {
        lanes(mask).fold(true, |constant, lane| (self.step_of(slot, lane) == Some(0)) & constant)
    }

    /// Executes a micro-operation.
    pub(super) fn execute<L: Handlers>(
        &mut self,
        level: L,
        running: &mut Running<'_>,
        micro: &Micro,
    ) -> Result<Step, LaneTrap> {
        let (program, mask) = (running.program, running.executing.mask);
        match micro.kind {
            MicroKind::Alu(number) => {
                self.alu(Alu::ALL[usize::from(number)], running, micro);
                running.step(level, micro)
            }
            MicroKind::Load(plan) => self.load(level, running, micro, &program.accesses[plan as usize]),
            MicroKind::Store(plan) => {
                self.store(running, &program.accesses[plan as usize]);
                running.step(level, micro)
            }
            MicroKind::Atomic(plan) => self.atomic(level, running, micro, &program.atomics[plan as usize]),
            MicroKind::Branch => {
                if mask != running.active {
                    self.fail(Unclear::Divergence);
                }
                running.step(level, micro)
            }
            MicroKind::BranchIndexed(_) => {
                if !self.is_constant(Slot { width: Width::B32, index: micro.src[0] }, mask) {
                    self.fail(Unclear::Control);
                }
                running.step(level, micro)
            }
            MicroKind::Nop => running.step(level, micro),
            MicroKind::Pred(_) => self.predicate(level, running, micro),
            MicroKind::FrameAddress | MicroKind::Isspacep(_) | MicroKind::Pack128(_) | MicroKind::Unpack128(_) => {
                self.opaque(level, running, micro)
            }
            kind if waits_for_others(kind) => {
                self.waits = true;
                if mask != running.active {
                    self.fail(Unclear::Divergence);
                } else if matches!(kind, MicroKind::Barrier(_)) && !self.alone {
                    self.fail(Unclear::Barrier);
                }
                let step = self.opaque(level, running, micro)?;
                // What lanes elsewhere hold is not what these hold, and they go on as well.
                if running.control.groups.iter().any(|group| group.state == State::Met) {
                    self.fail(Unclear::Divergence);
                }
                Ok(step)
            }
            MicroKind::Counter(_) => {
                self.waits = true;
                let step = running.step(level, micro)?;
                self.put_written(program, micro, mask, None);
                Ok(step)
            }
            _ => {
                self.fail(Unclear::Instruction);
                running.step(level, micro)
            }
        }
    }

    /// The step of the result of a pure instruction that is about to be executed, or its range where there is none.
    fn alu(&mut self, alu: Alu, running: &Running<'_>, micro: &Micro) {
        self.is_whole &= !is_float(alu.class().group());
        let (types, to) = (alu.sources(), Slot { width: alu.destination().width(), index: micro.dst });
        for lane in lanes(running.executing.mask) {
            let mut sources = [Source { bits: 0, step: Some(0), within: None }; 4];
            for ((source, ty), &index) in sources.iter_mut().zip(types).zip(&micro.src) {
                let slot = Slot { width: ty.width(), index };
                let bits = running.executing.registers.get(slot, lane) as u64;
                *source = Source { bits, step: self.step_of(slot, lane), within: self.steps.within(slot, lane) };
            }
            let sources = &sources[..types.len()];
            let step = linear::step(alu, sources, &mut self.reach.limit);
            let range = if step.is_none() { range::range(alu, sources) } else { None };
            if to.index != NOWHERE {
                self.steps.set(to, lane, step);
                self.bound(to, lane, range);
            }
        }
    }

    fn put(&mut self, slot: Slot, mask: u32, steps: &[Option<u64>; LANES]) {
        if slot.index != NOWHERE {
            lanes(mask).for_each(|lane| self.steps.set(slot, lane, steps[lane]));
        }
    }

    /// What was just written lies in a range, if there is one.
    pub(super) fn bound(&mut self, slot: Slot, lane: usize, range: Option<Range>) {
        if let Some(range) = range.filter(|_| slot.index != NOWHERE) {
            self.steps.bound(slot, lane, range);
        }
    }

    /// All that an instruction writes has a step.
    fn put_written(&mut self, program: &Program, micro: &Micro, mask: u32, step: Option<u64>) {
        let Some(facts) = program.facts(micro.instruction) else { return };
        let slots: Vec<Slot> = facts.writes().filter_map(|reg| program.slot(micro.instruction, reg)).collect();
        slots.into_iter().for_each(|slot| self.put(slot, mask, &[step; LANES]));
    }

    /// An operation on predicates.
    fn predicate<L: Handlers>(&mut self, level: L, running: &mut Running<'_>, micro: &Micro) -> Result<Step, LaneTrap> {
        let slot = |index: u16| Slot { width: Width::Pred, index };
        let mut steps = [None; LANES];
        for lane in lanes(running.executing.mask) {
            let known =
                micro.src[..2].iter().fold(true, |known, &index| self.step_of(slot(index), lane).is_some() & known);
            steps[lane] = known.then_some(0);
        }
        let mask = running.executing.mask;
        let step = running.step(level, micro)?;
        self.put(slot(micro.dst), mask, &steps);
        Ok(step)
    }

    /// An instruction that computes the same from the same, and of whose result nothing else is known.
    fn opaque<L: Handlers>(&mut self, level: L, running: &mut Running<'_>, micro: &Micro) -> Result<Step, LaneTrap> {
        let (program, mask) = (running.program, running.executing.mask);
        let slot = |reg: Reg| program.slot(micro.instruction, reg);
        let reads = program.facts(micro.instruction).map(|facts| facts.reads().filter_map(slot).collect());
        let reads: Vec<Slot> = reads.unwrap_or_default();
        let constant = reads.into_iter().fold(true, |constant, slot| self.is_constant(slot, mask) & constant);
        if !constant && waits_for_others(micro.kind) {
            // Who waits for whom might change.
            self.fail(Unclear::Control);
        }
        let step = running.step(level, micro)?;
        self.put_written(program, micro, mask, constant.then_some(0));
        Ok(step)
    }

    /// The first iteration that may be otherwise.
    pub(super) fn ends(&self) -> u64 {
        if self.unclear.is_some() { 0 } else { self.reach.first() }
    }
}

/// Whether instructions of a group compute in floating point.
fn is_float(group: Group) -> bool {
    use Group::{Fp16, Fp32Add, Fp32Fma, Fp32Mul, Fp64, SpecialFunction};
    matches!(group, Fp16 | Fp32Add | Fp32Fma | Fp32Mul | Fp64 | SpecialFunction)
}

/// Whether other lanes have a part in an instruction, or other warps.
fn waits_for_others(kind: MicroKind) -> bool {
    matches!(
        kind,
        MicroKind::Activemask
            | MicroKind::Shuffle(_)
            | MicroKind::Vote(_)
            | MicroKind::Match { .. }
            | MicroKind::Redux(..)
            | MicroKind::Elect
            | MicroKind::WarpSync
            | MicroKind::Barrier(_)
    )
}
