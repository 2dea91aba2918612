//! The hook that makes one fault happen, and watches what the thread first does with the corrupted value.

use crate::run::Struck;
use campaign::{FirstUse, Landed};
use fault::{Fault, Target};
use isa::{Module, Reg};
use simt::program::Site;
use simt::registers::{LANES, has};
use simt::{Hook, Interest, Moment};

/// What the hook is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Counting the thread's instructions up to the one that is hit.
    Waiting,
    /// The instruction that is hit executes now.
    Now,
    /// The value is corrupted; nothing has touched it yet.
    Watching,
    /// Nothing more to see.
    Done,
}

/// A fault in the destination of one dynamic instruction of one thread.
pub(crate) struct Hit<'a> {
    module: &'a Module,
    fault: &'a Fault,
    /// Instructions of the thread that have begun.
    begun: u64,
    phase: Phase,
    /// The register that is corrupted, and the function it belongs to.
    register: Option<(isa::FunctionId, Reg)>,
    /// What was hit, and what first happened to it.
    pub(crate) struck: Struck,
}

impl<'a> Hit<'a> {
    /// A fault about to happen in a kernel of this module.
    pub(crate) fn new(module: &'a Module, fault: &'a Fault) -> Self {
        Self { module, fault, begun: 0, phase: Phase::Waiting, register: None, struck: Struck::NOTHING }
    }

    fn lane(&self) -> usize {
        self.fault.thread as usize % LANES
    }

    /// Looks whether the instruction at a site touches the corrupted register.
    fn watch(&mut self, site: &Site, executing: bool) {
        let Some((function, register)) = self.register else { return };
        if site.function != function {
            return;
        }
        let Some(instruction) = self.module.function(function).at(site.pc) else { return };
        // A guard is read by every thread that comes to it, the rest only by those that execute. An instruction whose
        // guard is false has not begun, but is the one that reads.
        let begun = self.begun + u64::from(!executing);
        let after = begun.saturating_sub(self.fault.dynamic + 1);
        let guard_reads = instruction.guard.is_some_and(|guard| guard.pred == register);
        if guard_reads || (executing && instruction.reads().any(|read| read == register)) {
            self.struck.first_use = FirstUse::Read { after };
            self.phase = Phase::Done;
        } else if executing && instruction.writes().any(|(_, written)| written == register) {
            self.struck.first_use = FirstUse::Overwritten { after };
            self.phase = Phase::Done;
        }
    }

    fn strike(&mut self, moment: &mut Moment<'_>) {
        self.phase = Phase::Done;
        let site = &moment.program.sites[moment.site as usize];
        let Target::Destination(position) = self.fault.target;
        let instruction = self.module.function(site.function).at(site.pc);
        let written = instruction.and_then(|i| i.writes().find(|(at, _)| *at == usize::from(position)));
        let Some((_, register)) = written else { return };
        let Some(slot) = moment.program.slot(moment.site, register) else { return };
        if self.fault.model.highest_bit() >= slot.width.bits() {
            return;
        }
        let before = moment.registers.get(slot, self.lane());
        let after = self.fault.model.apply(before);
        moment.registers.set(slot, self.lane(), after);
        self.struck.landed = Some(Landed { before, after });
        self.register = Some((site.function, register));
        self.phase = Phase::Watching;
    }
}

impl Hook for Hit<'_> {
    fn wants(&self, warp: u32) -> bool {
        self.phase != Phase::Done && warp == self.fault.thread / LANES as u32
    }

    fn before(&mut self, moment: Moment<'_>) {
        let lane = self.lane();
        if !has(moment.active, lane) {
            return;
        }
        let executing = has(moment.executing, lane);
        self.begun += u64::from(executing);
        match self.phase {
            Phase::Waiting if executing && self.begun == self.fault.dynamic + 1 => self.phase = Phase::Now,
            Phase::Watching => self.watch(&moment.program.sites[moment.site as usize], executing),
            _ => {}
        }
    }

    fn after(&mut self, mut moment: Moment<'_>) -> Interest {
        if self.phase == Phase::Now && has(moment.executing, self.lane()) {
            self.strike(&mut moment);
        }
        if self.phase == Phase::Done { Interest::Leave } else { Interest::Stay }
    }
}
