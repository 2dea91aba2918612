//! Calls of functions that the machine itself provides: lane by lane, in ascending order.

use super::{Step, Surroundings, Warp, split};
use crate::access::{Fault, Memories, read_one, write_one};
use crate::atomic::resolve;
use crate::heap::Heap;
use crate::print::{print, string};
use crate::program::{CallPlan, FrameRange, SystemCall};
use crate::registers::{LANES, lanes};
use crate::trap::{Assertion, TrapKind};
use isa::Space;

/// Text that a launch prints beyond this is dropped.
const MOST_PRINTED: usize = 1 << 20;

/// Calls the machine; results are written as a function's would be.
pub(super) fn system_call(
    warp: &mut Warp,
    around: &mut Surroundings<'_>,
    frame: u32,
    executing: u32,
    call: SystemCall,
    plan: &CallPlan,
) -> Result<Step, Fault> {
    let mut text = std::mem::take(around.printed);
    let done = each_lane(warp, around, frame, executing, call, plan, &mut text);
    *around.printed = text;
    done.map(|()| Step::Next)
}

fn each_lane(
    warp: &mut Warp,
    around: &mut Surroundings<'_>,
    frame: u32,
    executing: u32,
    call: SystemCall,
    plan: &CallPlan,
    text: &mut Vec<u8>,
) -> Result<(), Fault> {
    for lane in lanes(executing) {
        let (_, mut memories, base) = split(warp, around, frame);
        let place = |range: &FrameRange| u64::from(base + range.offset);
        let mut arguments = [0u64; 4];
        for (argument, range) in arguments.iter_mut().zip(&plan.arguments) {
            *argument = match range.bytes {
                4 => read_one::<u32>(&mut memories, Space::Local, place(range), lane)?.into(),
                _ => read_one(&mut memories, Space::Local, place(range), lane)?,
            };
        }
        let result = match call {
            SystemCall::Print => {
                let mut line = Vec::new();
                let mut read = |address, bytes| read_generic(&mut memories, address, bytes, lane);
                let taken = print(&mut line, arguments[0], arguments[1], &mut read)?;
                if text.len() + line.len() <= MOST_PRINTED {
                    text.extend(line);
                }
                taken as u64
            }
            SystemCall::Assert => {
                let mut read = |address, bytes| read_generic(&mut memories, address, bytes, lane);
                let [expression, file, line, function] = arguments;
                // A fault may have hit the texts; what cannot be read is left out.
                let mut text = |address| string(address, &mut read).unwrap_or_default();
                let (expression, file, function) = (text(expression), text(file), text(function));
                let thread = warp.index * LANES as u32 + lane as u32;
                let (block, line) = (around.block, line as u32);
                around.assertions.push(Assertion { block, thread, expression, file, line, function });
                continue;
            }
            SystemCall::Allocate { heap } => {
                Heap { memories: &mut memories, place: heap, lane }.allocate(arguments[0])?
            }
            SystemCall::Free { heap } => {
                Heap { memories: &mut memories, place: heap, lane }.free(arguments[0])?;
                0
            }
        };
        if let Some(range) = plan.results.first() {
            match range.bytes {
                4 => write_one(&mut memories, Space::Local, place(range), lane, result as u32)?,
                _ => write_one(&mut memories, Space::Local, place(range), lane, result)?,
            }
        }
    }
    let failed = Fault { kind: TrapKind::Assert, lane: executing.trailing_zeros() as usize, address: None };
    if call == SystemCall::Assert { Err(failed) } else { Ok(()) }
}

fn read_generic(memories: &mut Memories<'_>, address: u64, bytes: u8, lane: usize) -> Result<u64, Fault> {
    let (space, at) = resolve(Space::Generic, address);
    Ok(match bytes {
        1 => read_one::<u8>(memories, space, at, lane)?.into(),
        4 => read_one::<u32>(memories, space, at, lane)?.into(),
        _ => read_one::<u64>(memories, space, at, lane)?,
    })
}
