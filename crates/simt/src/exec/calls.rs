//! Calls, returns and the end of threads.

use super::stack::next_frame;
use super::sync::part;
use super::system::system_call;
use super::{Running, Step, Surroundings, Warp};
use crate::access::Fault;
use crate::placement::{FUNCTION_BASE, FUNCTION_STEP};
use crate::program::{CallTo, Code, FrameRange, Kind, Micro, Program};
use crate::registers::{LANES, lanes};
use crate::trap::TrapKind;
use crate::warp::{CallFrame, Group, State};

/// A call: arguments are copied into a new frame, and the lanes go on in the callee.
pub(super) fn call(
    warp: &mut Warp,
    around: &mut Surroundings<'_>,
    running: &mut Running,
    executing: u32,
    micro: &Micro,
) -> Result<Step, Fault> {
    let program = around.program;
    let Kind::Call(index) = micro.kind else { return Ok(Step::Next) };
    let plan = &program.calls[index as usize];
    let lane = executing.trailing_zeros() as usize;
    let (function, together) = match plan.target {
        CallTo::System(call) => return system_call(warp, around, running.frame, executing, call, plan),
        CallTo::Function(function) => (function, executing),
        CallTo::Row(row) => callee(warp, program, row, executing)?,
    };
    if together != executing {
        // Lanes with another callee make their calls in turn.
        running.settle(warp);
        let others = Group { mask: executing & !together, ..running.group() };
        warp.park(Group { state: State::Forced, ..others });
        warp.park(Group { pc: running.pc + 1, mask: running.active & !executing, ..running.group() });
        running.active = together;
    }
    part(warp, running, together);
    running.settle(warp);
    let code = &program.functions[function as usize];
    let caller = &warp.frames[running.frame as usize];
    let (from, depth) = (caller.base, caller.depth + 1);
    let base = next_frame(warp, program, running.frame, together);
    if u64::from(base) + u64::from(code.frame) > u64::from(around.local_limit) || depth > MAX_DEPTH {
        return Err(Fault { kind: TrapKind::StackOverflow, lane, address: None });
    }
    copy_ranges(warp, together, (from, &plan.arguments), (base, &code.formals));
    let saved = warp.is_active(running.frame, function).then(|| Box::new(warp.registers.clone()));
    let (parent, back) = (running.frame, running.pc + 1);
    let frame = CallFrame { parent, depth, function, back, call: index, base, tops: None, lanes: together, saved };
    let frame = warp.open(frame);
    running.frame = frame;
    running.pc = code.entry;
    running.state = State::Ready;
    warp.park(running.group());
    Ok(Step::Pick)
}

/// Calls nested deeper than this overflow the stack whatever their frames need.
const MAX_DEPTH: u32 = 4096;

/// The function whose address the first lane holds, and the lanes that hold the same.
fn callee(warp: &Warp, program: &Program, row: u16, executing: u32) -> Result<(u32, u32), Fault> {
    let addresses = &warp.registers.b64[usize::from(row)].0;
    let lane = executing.trailing_zeros() as usize;
    let id = addresses[lane].wrapping_sub(FUNCTION_BASE);
    let named = |code: &Code| u64::from(code.id.0) * FUNCTION_STEP == id;
    // The kernel itself, function 0, cannot be called.
    let function = program.functions.iter().skip(1).position(named);
    let Some(function) = function else {
        return Err(Fault::at(TrapKind::IllegalInstruction, lane, addresses[lane]));
    };
    let same = lanes(executing).filter(|&other| addresses[other] == addresses[lane]);
    Ok((function as u32 + 1, same.fold(0, |mask, lane| mask | (1 << lane))))
}

/// Copies bytes between two frames of local memory, range by range.
fn copy_ranges(warp: &mut Warp, mask: u32, from: (u32, &[FrameRange]), to: (u32, &[FrameRange])) {
    for (source, target) in from.1.iter().zip(to.1) {
        let bytes = source.bytes.min(target.bytes);
        for byte in 0..bytes {
            let (a, b) = (from.0 + source.offset + byte, to.0 + target.offset + byte);
            let words = (a.max(b) / 4) as usize + 1;
            if warp.local.len() < words {
                warp.local.resize(words, [0; LANES]);
            }
            for lane in lanes(mask) {
                let value = (warp.local[(a / 4) as usize][lane] >> (8 * (a % 4))) & 0xff;
                let word = &mut warp.local[(b / 4) as usize][lane];
                *word = (*word & !(0xff << (8 * (b % 4)))) | (value << (8 * (b % 4)));
            }
        }
    }
}

/// A return: back to the caller with the results, or the end of the thread.
pub(super) fn leave(warp: &mut Warp, around: &mut Surroundings<'_>, running: &mut Running, executing: u32) -> Step {
    if running.frame == 0 {
        return exit(warp, running, executing);
    }
    let program = around.program;
    running.settle(warp);
    let rest = Group { pc: running.pc + 1, mask: running.active & !executing, ..running.group() };
    warp.park(rest);
    let frame = warp.frames[running.frame as usize].clone();
    let plan = &program.calls[frame.call as usize];
    let code = &program.functions[frame.function as usize];
    let caller = warp.frames[frame.parent as usize].base;
    copy_ranges(warp, executing, (frame.base, &code.returns), (caller, &plan.results));
    if let Some(saved) = &frame.saved {
        for slot in &code.registers {
            for lane in lanes(executing) {
                let bits = saved.get(*slot, lane);
                warp.registers.set(*slot, lane, bits);
            }
        }
    }
    warp.leave(running.frame, executing);
    warp.park(Group { pc: frame.back, mask: executing, frame: frame.parent, state: State::Ready });
    Step::Pick
}

/// The end of threads.
pub(super) fn exit(warp: &mut Warp, running: &mut Running, executing: u32) -> Step {
    running.settle(warp);
    warp.exit(running.frame, executing);
    running.active &= !executing;
    running.pc += 1;
    warp.park(running.group());
    Step::Pick
}
