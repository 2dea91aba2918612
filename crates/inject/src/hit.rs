//! The hook that makes one fault happen, and watches what the thread first does with the corrupted value.
//!
//! Where it may, it ends the run as soon as nothing of the fault is left: it did not land, the value was overwritten
//! before it was read, or the thread ended without reading it. The rest of the block then does what it did.

use crate::run::Struck;
use campaign::{FirstUse, Landed};
use fault::{Fault, Target};
use isa::{Instruction, Module, Op, Reg};
use simt::program::Site;
use simt::registers::{LANES, has};
use simt::{Hook, Interest, Liveness, Moment};

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
    /// As before, and nothing of the fault is left.
    Gone,
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
    /// Whether nobody else reads that register.
    private: bool,
    /// What is live where, if the run may be ended.
    liveness: Option<&'a Liveness>,
    /// What was hit, and what first happened to it.
    pub(crate) struck: Struck,
}

impl<'a> Hit<'a> {
    /// A fault about to happen in a kernel of this module.
    pub(crate) fn new(module: &'a Module, fault: &'a Fault) -> Self {
        Self {
            module,
            fault,
            begun: 0,
            phase: Phase::Waiting,
            register: None,
            private: false,
            liveness: None,
            struck: Struck::NOTHING,
        }
    }

    /// Lets the run be ended when nothing of the fault is left.
    pub(crate) fn ending(self, liveness: Option<&'a Liveness>) -> Self {
        Self { liveness: liveness.filter(|liveness| !liveness.is_recursive()), ..self }
    }

    /// Begins where the thread has executed so many instructions.
    pub(crate) fn begin_at(&mut self, executed: u64) {
        self.begun = executed;
    }

    /// Whether the fault has happened, and what first became of it is known.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Done | Phase::Gone)
    }

    fn lane(&self) -> usize {
        self.fault.thread as usize % LANES
    }

    /// Looks whether the instruction at a site touches the corrupted register.
    fn watch(&mut self, site: &Site, executing: bool) {
        let Some((function, register)) = self.register else { return };
        let instruction = self.module.function(site.function).at(site.pc);
        if executing && self.private && ends(self.module, site, instruction) {
            self.phase = Phase::Gone;
        }
        let Some(instruction) = instruction.filter(|_| site.function == function) else { return };
        // A guard is read by every thread that comes to it, the rest only by those that execute. An instruction whose
        // guard is false has not begun, but is the one that reads.
        let begun = self.begun + u64::from(!executing);
        let after = begun.saturating_sub(self.fault.dynamic + 1);
        let guard_reads = instruction.guard.is_some_and(|guard| guard.pred == register);
        if guard_reads || (executing && instruction.reads().any(|read| read == register)) {
            self.struck.first_use = FirstUse::Read { after };
            let harmless = self.struck.landed.is_some_and(|landed| landed.before == landed.after);
            self.phase = if harmless { Phase::Gone } else { Phase::Done };
        } else if executing && instruction.writes().any(|(_, written)| written == register) {
            self.struck.first_use = FirstUse::Overwritten { after };
            self.phase = if self.private { Phase::Gone } else { Phase::Done };
        }
    }

    fn strike(&mut self, moment: &mut Moment<'_>) {
        self.phase = Phase::Gone;
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
        self.private = self.liveness.is_some_and(|liveness| liveness.is_private(slot));
        self.phase = Phase::Watching;
    }

    fn interest(&self) -> Interest {
        match self.phase {
            Phase::Gone if self.liveness.is_some() => Interest::Stop,
            Phase::Gone | Phase::Done => Interest::Leave,
            _ => Interest::Stay,
        }
    }
}

/// Whether a thread that executes the instruction at a site of a program without recursion ends there.
fn ends(module: &Module, site: &Site, instruction: Option<&Instruction>) -> bool {
    match instruction.map(|instruction| &instruction.op) {
        Some(Op::Exit) => true,
        // Behind the last instruction stands a return.
        Some(Op::Ret { .. }) | None => module.function(site.function).kernel,
        _ => false,
    }
}

impl Hook for Hit<'_> {
    fn wants(&self, warp: u32) -> bool {
        !self.is_over() && warp == self.fault.thread / LANES as u32
    }

    fn before(&mut self, moment: Moment<'_>) -> Interest {
        let lane = self.lane();
        if !has(moment.active, lane) {
            return Interest::Stay;
        }
        let executing = has(moment.executing, lane);
        self.begun += u64::from(executing);
        match self.phase {
            Phase::Waiting if executing && self.begun == self.fault.dynamic + 1 => self.phase = Phase::Now,
            Phase::Watching => self.watch(&moment.program.sites[moment.site as usize], executing),
            _ => {}
        }
        self.interest()
    }

    fn after(&mut self, mut moment: Moment<'_>) -> Interest {
        if self.phase == Phase::Now && has(moment.executing, self.lane()) {
            self.strike(&mut moment);
        }
        self.interest()
    }
}
