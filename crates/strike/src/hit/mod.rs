//! The hook that makes one fault happen, and watches what is first done with the corrupted value.
//!
//! A destination is hit after its instruction, everything else before it. The operand of a single instruction (a source,
//! an address, a value being stored) gets its true value back right after it, or, where the machine does not come back
//! (branches, calls), before the thread's next instruction.
//!
//! Where it may, the hook ends the run as soon as nothing of the fault is left: it did not land, the value was overwritten
//! before it was read, or the thread ended without reading it. The rest of the block then does what it did.

mod strike;

use crate::injected::Injected;
use capsule::{Event, Region};
use facts::{FunctionId, Reg};
use fault::{Fault, Scope, Target};
use outcome::{FirstUse, Landed};
use simt::memory::Touch;
use simt::registers::{LANES, Slot, has, lanes};
use simt::{GlobalMemory, Hook, InstructionContext, Interest, Liveness, OwnByte, Program};

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

/// Where the corrupted value is, and what is looked for.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// In a register of a function; whether nobody else reads that register.
    Register { function: FunctionId, register: Reg, private: bool },
    /// In global memory, where a trace waits for the first touch.
    Global,
    /// In a memory of the block.
    Own(OwnByte),
}

/// The value of a register before the fault, which the register gets back.
#[derive(Clone, Copy, Debug)]
struct SavedRegister {
    lane: usize,
    slot: Slot,
    held: u128,
}

/// A fault that happens in one block.
pub struct Hit<'a> {
    fault: &'a Fault,
    /// Instructions of the thread that have begun.
    begun: u64,
    phase: Phase,
    /// Whether the warp has still to execute its first instruction.
    fresh: bool,
    place: Option<Place>,
    loans: Vec<SavedRegister>,
    /// What is live where, if the run may be ended.
    liveness: Option<&'a Liveness>,
    /// What was hit, and what first happened to it.
    pub injected: Injected,
}

impl<'a> Hit<'a> {
    /// A fault about to happen.
    pub fn new(fault: &'a Fault) -> Self {
        Self {
            fault,
            begun: 0,
            phase: Phase::Waiting,
            fresh: true,
            place: None,
            loans: Vec::new(),
            liveness: None,
            injected: Injected::NOTHING,
        }
    }

    /// Lets the run be ended when nothing of the fault is left.
    pub fn ending(self, liveness: Option<&'a Liveness>) -> Self {
        Self { liveness: liveness.filter(|liveness| !liveness.is_recursive()), ..self }
    }

    /// Begins where the thread has executed so many instructions.
    pub fn begin_at(&mut self, executed: u64) {
        self.begun = executed;
    }

    /// Whether the fault has happened, and what first became of it is known.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Done | Phase::Gone) && self.loans.is_empty()
    }

    /// The byte of global memory that was hit and that nothing has touched since.
    pub fn untouched(&self) -> Option<u64> {
        match (self.phase, self.place, self.fault.target) {
            (Phase::Watching, Some(Place::Global), Target::Memory(_, address)) => Some(address),
            _ => None,
        }
    }

    /// Notes what was first done to the byte of global memory that was hit, after the thread has executed so many
    /// instructions.
    pub fn touched(&mut self, touch: Touch, executed: u64) {
        let after = executed.saturating_sub(self.fault.dynamic + 1);
        self.injected.first_use = match touch {
            Touch::Read => FirstUse::Read { after },
            Touch::Written => FirstUse::Overwritten { after },
        };
        self.phase = Phase::Done;
    }

    fn lane(&self) -> usize {
        self.fault.thread as usize % LANES
    }

    fn warp(&self) -> u32 {
        self.fault.thread / LANES as u32
    }

    /// Whether what was hit is what it was.
    fn is_harmless(&self) -> bool {
        self.injected.landed.is_some_and(|landed| landed.before == landed.after) && self.fault.scope == Scope::Thread
    }

    /// Looks whether an instruction touches the corrupted register.
    fn watch_register(&mut self, program: &Program, instruction: u32, executing: bool) {
        let Some(Place::Register { function, register, private }) = self.place else { return };
        let instruction = &program.instructions[instruction as usize];
        if executing && private && program.ends(instruction) {
            self.phase = Phase::Gone;
        }
        let Some(facts) = instruction.facts.as_ref().filter(|_| instruction.function == function) else { return };
        // A guard is read by every thread that comes to it, the rest only by those that execute. An instruction whose
        // guard is false has not begun, but is the one that reads.
        let begun = self.begun + u64::from(!executing);
        let after = begun.saturating_sub(self.fault.dynamic + 1);
        let guard_reads = facts.guard.is_some_and(|guard| guard.pred == register);
        if guard_reads || (executing && facts.reads().any(|read| read == register)) {
            self.injected.first_use = FirstUse::Read { after };
            self.phase = if self.is_harmless() { Phase::Gone } else { Phase::Done };
        } else if executing && facts.writes().any(|written| written == register) {
            self.injected.first_use = FirstUse::Overwritten { after };
            self.phase = if private { Phase::Gone } else { Phase::Done };
        }
    }

    /// Looks whether the instruction is about to touch the corrupted byte of a memory of the block, or anything has
    /// touched that of global memory while the thread completed so many instructions.
    fn watch_memory(&mut self, context: &mut InstructionContext<'_>, completed: u64) {
        let touch = match self.place {
            Some(Place::Own(byte)) => context.touch(byte).map(|touch| (touch, self.begun)),
            Some(Place::Global) => first_touch(context.global).map(|touch| (touch, completed)),
            _ => None,
        };
        if let Some((touch, executed)) = touch {
            context.global.set_trace(None);
            self.touched(touch, executed);
        }
    }

    /// Before the first instruction of the warp: where a register is hit that may not have been written yet, it holds
    /// nothing of the blocks that ran before.
    fn begin(&mut self, context: &mut InstructionContext<'_>) {
        if std::mem::take(&mut self.fresh) && matches!(self.fault.target, Target::Register(_)) {
            let registers = context.program.functions.iter().flat_map(|code| &code.registers);
            registers.for_each(|slot| context.registers.broadcast(*slot, 0));
        }
    }

    /// Gives registers back what they held, in these lanes.
    fn settle(&mut self, context: &mut InstructionContext<'_>, mask: u32) {
        self.loans.retain(|loan| {
            let due = has(mask, loan.lane);
            if due {
                context.registers.set(loan.slot, loan.lane, loan.held);
            }
            !due
        });
    }

    fn interest(&self) -> Interest {
        match self.phase {
            _ if !self.loans.is_empty() => Interest::Stay,
            Phase::Gone if self.liveness.is_some() => Interest::Stop,
            Phase::Gone | Phase::Done => Interest::Leave,
            _ => Interest::Stay,
        }
    }

    /// The lanes that are hit among those that execute the instruction; none if the fault cannot happen to them.
    fn lanes_hit(&self, executing: u32) -> u32 {
        let own = 1 << self.lane();
        match self.fault.scope {
            Scope::Thread => own,
            Scope::Warp => executing,
            Scope::Lanes(lanes) if lanes & own != 0 && lanes & !executing == 0 => lanes,
            Scope::Lanes(_) => 0,
            Scope::Pair(other) => {
                let both = own | 1 << (other as usize % LANES);
                let fits = other / LANES as u32 == self.warp() && other != self.fault.thread;
                if fits && both & !executing == 0 { both } else { 0 }
            }
        }
    }
}

/// What was first done to the byte that a trace of the memory watches.
pub fn first_touch(memory: &mut GlobalMemory) -> Option<Touch> {
    memory.trace().and_then(|trace| trace.first_touch())
}

/// What the host does to a byte of global memory.
pub fn touch_by_host(event: &Event, address: u64) -> Option<Touch> {
    let holds = |region: &Region| region.rows().any(|(start, bytes)| address.wrapping_sub(start) < bytes);
    let read = event.reads().filter(|&from| holds(from)).map(|_| Touch::Read);
    read.or_else(|| event.writes().filter(|&to| holds(to)).map(|_| Touch::Written))
}

impl Hook for Hit<'_> {
    fn wants(&self, warp: u32) -> bool {
        let shared = self.phase == Phase::Watching && matches!(self.place, Some(Place::Own(OwnByte::Shared(_))));
        !self.is_over() && (warp == self.warp() || shared)
    }

    fn before(&mut self, mut context: InstructionContext<'_>) -> Interest {
        let lane = self.lane();
        if context.warp == self.warp() {
            self.begin(&mut context);
            let active = context.active;
            self.settle(&mut context, active);
        }
        if context.warp != self.warp() || !has(context.active, lane) {
            if self.phase == Phase::Watching && matches!(self.place, Some(Place::Own(_))) {
                self.watch_memory(&mut context, self.begun);
            }
            return self.interest();
        }
        if self.phase == Phase::Now {
            // The machine did not come back from the instruction that is hit, a branch: it has no destination.
            self.phase = Phase::Gone;
        }
        let executing = has(context.executing, lane);
        let completed = self.begun;
        self.begun += u64::from(executing);
        let now = self.phase == Phase::Waiting && executing && self.begun == self.fault.dynamic + 1;
        if now {
            self.phase = Phase::Now;
            if self.fault.target.is_before() {
                self.strike(&mut context);
            }
        }
        if self.phase == Phase::Watching {
            self.watch_register(context.program, context.instruction, executing);
            self.watch_memory(&mut context, completed);
        }
        self.interest()
    }

    fn after(&mut self, mut context: InstructionContext<'_>) -> Interest {
        if context.warp == self.warp() {
            let executing = context.executing;
            self.settle(&mut context, executing);
            if self.phase == Phase::Now && has(executing, self.lane()) {
                self.strike(&mut context);
            }
        }
        self.interest()
    }
}

/// What is noted of a value that was hit.
fn landed(before: u128, after: u128, mask: u32) -> Landed {
    Landed { before, after, threads: lanes(mask).count() as u32 }
}
