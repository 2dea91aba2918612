//! Calls of functions that the machine itself provides: lane by lane, in ascending order.

use super::running::Running;
use crate::access::{LaneTrap, Memories, read_one, write_one};
use crate::atomic::resolve;
use crate::heap::Heap;
use crate::print::{print, string};
use crate::program::{CallPlan, FrameRange, SystemCall};
use crate::trap::{Assertion, TrapKind};
use ::lanes::registers::{LANES, lanes};
use isa::Space;

/// Text that a launch prints beyond this is dropped.
const MOST_PRINTED: usize = 1 << 20;

impl Running<'_> {
    /// Calls the machine; results are written as a function's would be.
    pub(super) fn system_call(&mut self, call: SystemCall, plan: &CallPlan) -> Result<(), LaneTrap> {
        let base = self.executing.frame_base;
        let place = |range: &FrameRange| u64::from(base + range.offset);
        for lane in lanes(self.executing.mask) {
            let memories = &mut self.executing.memories;
            let mut arguments = [0u64; 4];
            for (argument, range) in arguments.iter_mut().zip(&plan.arguments) {
                *argument = read(memories, Space::Local, place(range), range.bytes, lane)?;
            }
            let result = match call {
                SystemCall::Print => Some(self.print(arguments, lane)?),
                SystemCall::Assert => {
                    self.note_assertion(arguments, lane);
                    None
                }
                SystemCall::Allocate { heap } => Some(Heap { memories, place: heap, lane }.allocate(arguments[0])?),
                SystemCall::Free { heap } => {
                    Heap { memories, place: heap, lane }.free(arguments[0])?;
                    Some(0)
                }
            };
            if let Some((range, result)) = plan.results.first().zip(result) {
                write(&mut self.executing.memories, place(range), range.bytes, lane, result)?;
            }
        }
        let failed = LaneTrap::new(TrapKind::Assert, self.executing.first());
        if call == SystemCall::Assert { Err(failed) } else { Ok(()) }
    }

    /// Prints; how many arguments the format took.
    fn print(&mut self, arguments: [u64; 4], lane: usize) -> Result<u64, LaneTrap> {
        let mut line = Vec::new();
        let mut read = |address, bytes| read_generic(&mut self.executing.memories, address, bytes, lane);
        let taken = print(&mut line, arguments[0], arguments[1], &mut read)?;
        let printed = &mut self.notes.printed;
        if printed.len() + line.len() <= MOST_PRINTED {
            printed.extend(line);
        }
        Ok(taken as u64)
    }

    fn note_assertion(&mut self, [expression, file, line, function]: [u64; 4], lane: usize) {
        let mut read = |address, bytes| read_generic(&mut self.executing.memories, address, bytes, lane);
        // A fault may have hit the texts; what cannot be read is left out.
        let mut text = |address| string(address, &mut read).unwrap_or_default();
        let (expression, file, function) = (text(expression), text(file), text(function));
        let thread = self.warp * LANES as u32 + lane as u32;
        let (block, line) = (self.block, line as u32);
        self.notes.assertions.push(Assertion { block, thread, expression, file, line, function });
    }
}

fn read_generic(memories: &mut Memories<'_>, address: u64, bytes: u8, lane: usize) -> Result<u64, LaneTrap> {
    let (space, at) = resolve(Space::Generic, address);
    read(memories, space, at, bytes.into(), lane)
}

fn read(memories: &mut Memories<'_>, space: Space, at: u64, bytes: u32, lane: usize) -> Result<u64, LaneTrap> {
    Ok(match bytes {
        1 => read_one::<u8>(memories, space, at, lane)?.into(),
        4 => read_one::<u32>(memories, space, at, lane)?.into(),
        _ => read_one::<u64>(memories, space, at, lane)?,
    })
}

fn write(memories: &mut Memories<'_>, at: u64, bytes: u32, lane: usize, value: u64) -> Result<(), LaneTrap> {
    match bytes {
        4 => write_one(memories, Space::Local, at, lane, value as u32),
        _ => write_one(memories, Space::Local, at, lane, value),
    }
}
