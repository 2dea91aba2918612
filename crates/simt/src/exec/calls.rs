//! Calls, returns, the end of threads, and branches through tables.

use super::running::{Running, Step};
use crate::access::{Executing, LaneTrap};
use crate::control::{CallFrame, Group, State};
use crate::placement::{FUNCTION_BASE, FUNCTION_STEP};
use crate::program::{CallTo, FrameRange, FunctionCode, Micro};
use crate::trap::TrapKind;
use ::lanes::registers::{LANES, lanes};

/// Calls nested deeper than this overflow the stack whatever their frames need.
const MAX_DEPTH: u32 = 4096;

impl Running<'_> {
    /// A call: arguments are copied into a new frame, and the lanes go on in the callee.
    pub(super) fn call(&mut self, index: u32) -> Result<Step, LaneTrap> {
        let program = self.program;
        let plan = &program.calls[index as usize];
        let lane = self.executing.first();
        let (function, together) = match plan.target {
            CallTo::System(call) => return self.system_call(call, plan).map(|()| Step::Next),
            CallTo::Function(function) => (function, self.executing.mask),
            CallTo::Row(row) => self.callee(row)?,
        };
        if together != self.executing.mask {
            self.call_in_turn(together);
        }
        self.part();
        self.settle();
        let code = &program.functions[function as usize];
        let caller = &self.control.frames[self.frame as usize];
        let (from, depth) = (caller.base, caller.depth + 1);
        let base = self.next_frame();
        let end = u64::from(base) + u64::from(code.frame);
        if end > u64::from(self.executing.memories.local_window.frames) || depth > MAX_DEPTH {
            return Err(LaneTrap::new(TrapKind::StackOverflow, lane));
        }
        copy_ranges(&mut self.executing, (from, &plan.arguments), (base, &code.formals));
        let active_already = self.control.is_active(self.frame, function);
        let saved = active_already.then(|| Box::new(self.executing.registers.clone()));
        let (parent, back) = (self.frame, self.pc + 1);
        let frame = CallFrame { parent, depth, function, back, call: index, base, tops: None, lanes: together, saved };
        let frame = self.control.open(frame);
        self.control.park(Group { pc: code.entry, mask: self.active, frame, state: State::Ready });
        Ok(Step::Pick)
    }

    /// Lanes with another callee make their calls in turn.
    fn call_in_turn(&mut self, together: u32) {
        self.settle();
        let (executing, rest) = (self.executing.mask, self.active & !self.executing.mask);
        self.control.park(Group { mask: executing & !together, state: State::Forced, ..self.group() });
        self.control.park(Group { pc: self.pc + 1, mask: rest, ..self.group() });
        self.active = together;
        self.executing.mask = together;
    }

    /// The function whose address the first lane holds, and the lanes that hold the same.
    fn callee(&self, row: u16) -> Result<(u32, u32), LaneTrap> {
        let addresses = &self.executing.registers.b64[usize::from(row)].0;
        let lane = self.executing.first();
        let id = addresses[lane].wrapping_sub(FUNCTION_BASE);
        let named = |code: &FunctionCode| u64::from(code.id.0) * FUNCTION_STEP == id;
        // The kernel itself, function 0, cannot be called.
        let function = self.program.functions.iter().skip(1).position(named);
        let Some(function) = function else {
            return Err(LaneTrap::at(TrapKind::IllegalInstruction, lane, addresses[lane]));
        };
        let same = lanes(self.executing.mask).filter(|&other| addresses[other] == addresses[lane]);
        Ok((function as u32 + 1, same.fold(0, |mask, lane| mask | (1 << lane))))
    }

    /// A return: back to the caller with the results, or the end of the thread.
    pub(super) fn leave(&mut self) -> Step {
        if self.frame == 0 {
            return self.exit();
        }
        let program = self.program;
        let executing = self.executing.mask;
        self.settle();
        self.control.park(Group { pc: self.pc + 1, mask: self.active & !executing, ..self.group() });
        let frame = self.control.frames[self.frame as usize].clone();
        let plan = &program.calls[frame.call as usize];
        let code = &program.functions[frame.function as usize];
        let caller = self.control.frames[frame.parent as usize].base;
        copy_ranges(&mut self.executing, (frame.base, &code.returns), (caller, &plan.results));
        if let Some(saved) = &frame.saved {
            for slot in &code.registers {
                lanes(executing).for_each(|lane| self.executing.registers.set(*slot, lane, saved.get(*slot, lane)));
            }
        }
        self.control.leave(self.frame, executing);
        self.control.park(Group { pc: frame.back, mask: executing, frame: frame.parent, state: State::Ready });
        Step::Pick
    }

    /// The end of threads.
    pub(super) fn exit(&mut self) -> Step {
        self.settle();
        self.control.exit(self.frame, self.executing.mask);
        self.active &= !self.executing.mask;
        self.pc += 1;
        self.control.park(self.group());
        Step::Pick
    }

    /// A branch through a table; an index outside it is illegal.
    pub(super) fn branch_indexed(&mut self, micro: &Micro, targets: &[u32]) -> Result<Step, LaneTrap> {
        let indices = self.executing.registers.b32[usize::from(micro.src[0])].0;
        let executing = self.executing.mask;
        self.settle();
        // A loop may be closed by nothing else.
        self.check_fuel()?;
        for lane in lanes(executing) {
            let illegal = LaneTrap::new(TrapKind::IllegalInstruction, lane);
            let pc = *targets.get(indices[lane] as usize).ok_or(illegal)?;
            self.control.park(Group { pc, mask: 1 << lane, ..self.group() });
        }
        self.control.park(Group { pc: self.pc + 1, mask: self.active & !executing, ..self.group() });
        Ok(Step::Pick)
    }
}

/// Copies bytes between two frames of local memory, range by range.
fn copy_ranges(on: &mut Executing<'_>, from: (u32, &[FrameRange]), to: (u32, &[FrameRange])) {
    let local = &mut *on.memories.local;
    for (source, target) in from.1.iter().zip(to.1) {
        let bytes = source.bytes.min(target.bytes);
        for byte in 0..bytes {
            let (a, b) = (from.0 + source.offset + byte, to.0 + target.offset + byte);
            let words = (a.max(b) / 4) as usize + 1;
            if local.len() < words {
                local.resize(words, [0; LANES]);
            }
            for lane in lanes(on.mask) {
                let value = (local[(a / 4) as usize][lane] >> (8 * (a % 4))) & 0xff;
                let word = &mut local[(b / 4) as usize][lane];
                *word = (*word & !(0xff << (8 * (b % 4)))) | (value << (8 * (b % 4)));
            }
        }
    }
}
