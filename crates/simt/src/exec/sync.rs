//! Instructions at which lanes or warps wait for each other.

use super::running::{Running, Step};
use crate::access::{Executing, LaneTrap};
use crate::barrier::Arrival;
use crate::collective::{self, Elsewhere};
use crate::control::{Group, State};
use crate::program::{BarrierPlan, Micro, MicroKind, Program};
use crate::trap::TrapKind;
use ::lanes::registers::{FULL, LANES, has, lanes};

/// Whether the lanes that execute an instruction together have met.
enum Met {
    /// They have, and these execute it now: lanes that are here, and others at instructions like it.
    All(u32, Vec<Elsewhere>),
    /// They have, and others have executed it for all.
    Before,
    /// They wait.
    No,
}

impl Running<'_> {
    /// An instruction that lanes of the warp execute together, when they have met.
    pub(super) fn together(
        &mut self,
        micro: &Micro,
        execute: impl FnOnce(&mut Executing<'_>, &[Elsewhere]) -> Result<(), LaneTrap>,
    ) -> Result<Step, LaneTrap> {
        match self.synchronise(micro)? {
            Met::All(together, elsewhere) => {
                let own = std::mem::replace(&mut self.executing.mask, together);
                execute(&mut self.executing, &elsewhere)?;
                self.executing.mask = own;
                Ok(Step::Next)
            }
            Met::Before => Ok(Step::Next),
            Met::No => Ok(Step::Pick),
        }
    }

    /// Waits until all lanes that the executing ones name and that are alive have come and name the same. They may have
    /// come by different calls of the function that the instruction is in, or to another instruction that does the same.
    ///
    /// As on hardware, a lane must name itself, and lanes that name others, such as the two halves of a warp, wait for
    /// their own only. See docs/design/machine-loop.md.
    fn synchronise(&mut self, micro: &Micro) -> Result<Met, LaneTrap> {
        let state = std::mem::replace(&mut self.state, State::Ready);
        if state == State::Met {
            return Ok(Met::Before);
        }
        let (executing, live) = (self.executing.mask, self.control.live);
        let named = named(&self.executing, micro);
        let names_itself = |lane: usize| u32::from(has(named[lane], lane)) << lane;
        let outsiders = executing & !(0..LANES).fold(0, |found, lane| found | names_itself(lane));
        if outsiders != 0 {
            return Err(LaneTrap::new(TrapKind::IllegalInstruction, outsiders.trailing_zeros() as usize));
        }
        let members = named[self.executing.first()];
        if state == State::Forced {
            return Ok(self.meet_waiting(micro, members));
        }
        let mut keep = naming(&named, members, executing);
        let mut complete = (members & live) & !keep == 0;
        if keep != executing {
            if matches!(micro.kind, MicroKind::Shuffle(_) | MicroKind::WarpSync) {
                // What lanes read of each other does not depend on whom they name: all that need not wait act at once.
                let ready = |&lane: &usize| named[lane] & live & !naming(&named, named[lane], executing) == 0;
                let all = lanes(executing).filter(ready).fold(0, |all, lane| all | (1 << lane));
                (keep, complete) = if all == 0 { (keep, complete) } else { (all, true) };
            }
            self.set_aside(keep);
        }
        self.executing.mask = keep;
        Ok(if complete { Met::All(keep, Vec::new()) } else { self.wait_for(micro, members) })
    }

    /// Waits for lanes of the warp, unless these are the last to come.
    fn wait_for(&mut self, micro: &Micro, members: u32) -> Met {
        self.part();
        self.settle();
        let group = Group { state: State::WaitWarp(members), ..self.group() };
        self.control.park(group);
        let program = self.program;
        let groups = &mut self.control.groups;
        let met = groups.iter().filter(|other| waits_at(program, other, micro.kind, members));
        let met = met.fold(0, |met, other| met | other.mask);
        if (members & self.control.live) & !met != 0 {
            return Met::No;
        }
        let own = |other: &Group| (other.pc, other.frame, other.state) == (group.pc, group.frame, group.state);
        let Some(at) = groups.iter().position(own) else { return Met::No };
        self.active = groups.swap_remove(at).mask;
        self.executing.mask = self.active;
        self.meet_waiting(micro, members)
    }

    /// The executing lanes meet those that wait for the same lanes at an instruction that does the same. These go on from
    /// there, each group in its own call.
    fn meet_waiting(&mut self, micro: &Micro, members: u32) -> Met {
        let program = self.program;
        let (mut here, mut elsewhere) = (self.executing.mask, Vec::new());
        let groups = self.control.groups.iter_mut();
        for other in groups.filter(|other| waits_at(program, other, micro.kind, members)) {
            other.state = State::Met;
            if other.pc == self.pc {
                here |= other.mask;
            } else {
                elsewhere.push(Elsewhere { micro: program.micros[other.pc as usize], mask: other.mask });
                // Who is behind goes on first, so that they join where control flow does.
                self.limit = self.pc + 1;
            }
        }
        Met::All(here, elsewhere)
    }

    /// The lanes that execute an instruction leave the others behind, which go on after it.
    pub(super) fn part(&mut self) {
        let executing = self.executing.mask;
        if executing != self.active {
            self.settle();
            self.control.park(Group { pc: self.pc + 1, mask: self.active & !executing, ..self.group() });
            self.active = executing;
            self.limit = self.control.limit(self.pc, self.frame);
        }
    }

    /// Leaves the executing lanes that are not kept at this instruction, to execute it later.
    fn set_aside(&mut self, keep: u32) {
        self.part();
        self.settle();
        let aside = self.executing.mask & !keep;
        self.control.park(Group { mask: aside, state: State::Apart, ..self.group() });
        self.active = keep;
        // They come together again after it.
        self.limit = self.pc + 1;
    }

    /// A barrier of the block: be counted, and wait unless it is an arrival.
    pub(super) fn barrier(&mut self, micro: &Micro, plan: BarrierPlan) -> Step {
        if let State::Released(result) = std::mem::replace(&mut self.state, State::Ready) {
            release(&mut self.executing, micro, plan, result);
            return Step::Next;
        }
        let arrival = self.arrival(plan);
        self.notes.arrivals.push(arrival);
        if !plan.wait {
            return Step::Next;
        }
        self.part();
        self.settle();
        self.control.park(Group { state: State::WaitBlock(arrival.barrier), ..self.group() });
        Step::Pick
    }

    fn arrival(&self, plan: BarrierPlan) -> Arrival {
        let Executing { mask, registers, .. } = &self.executing;
        let word = |row: u16| registers.b32[usize::from(row)].0[self.executing.first()];
        let live = self.control.live;
        // A warp may come in several groups: the one with its lowest thread stands for the lanes that never come.
        let leads = mask & (live & live.wrapping_neg()) != 0;
        Arrival {
            barrier: word(plan.number) & 15,
            threads: mask.count_ones(),
            absent: if leads { live.count_zeros() } else { 0 },
            count: plan.count.map(word),
            wait: plan.wait,
            reduce: plan.reduce.map(|(op, _)| op),
            holds: plan.reduce.map_or(0, |(_, row)| (registers.pred[usize::from(row)] & mask).count_ones()),
        }
    }
}

/// Whether a group waits for these lanes at an instruction of this kind, wherever it is.
fn waits_at(program: &Program, group: &Group, kind: MicroKind, members: u32) -> bool {
    group.state == State::WaitWarp(members) && program.micros[group.pc as usize].kind == kind
}

/// The lanes that each lane names.
fn named(on: &Executing<'_>, micro: &Micro) -> [u32; LANES] {
    let source = match micro.kind {
        MicroKind::Matrix(_) => return [FULL; LANES],
        MicroKind::Shuffle(_) => 3,
        MicroKind::WarpSync | MicroKind::Elect => 0,
        _ => 1,
    };
    on.registers.b32[usize::from(micro.src[source])].0
}

/// The executing lanes that name these.
fn naming(named: &[u32; LANES], members: u32, executing: u32) -> u32 {
    (0..LANES).fold(0, |same, lane| same | (u32::from(named[lane] == members) << lane)) & executing
}

fn release(on: &mut Executing<'_>, micro: &Micro, plan: BarrierPlan, result: u32) {
    match plan.reduce {
        Some((isa::op::Reduction::Popc, _)) => {
            collective::write_b32(on.registers, micro.dst, &[result; LANES], on.mask);
        }
        Some(_) => {
            let bits = if result == 0 { 0 } else { FULL };
            collective::write_pred(on.registers, micro.dst, bits, on.mask);
        }
        None => {}
    }
}
