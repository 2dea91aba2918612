//! The stack of a thread above the frame of the function that it is in: `alloca` and what gives back.
//!
//! Each lane has a top of its own. A call starts its frame above the highest top of the lanes that make it.

use super::{Surroundings, Warp};
use crate::access::Fault;
use crate::program::{Micro, Program};
use crate::registers::{LANES, Slot, lanes};
use crate::trap::TrapKind;
use isa::Width;

/// Where a frame ends that has taken nothing with `alloca`.
fn end_of_frame(warp: &Warp, program: &Program, frame: u32) -> u32 {
    let here = &warp.frames[frame as usize];
    here.base + program.functions[here.function as usize].frame
}

/// Where the frame of a function that the lanes call starts.
pub(super) fn next_frame(warp: &Warp, program: &Program, frame: u32, calling: u32) -> u32 {
    let end = end_of_frame(warp, program, frame);
    let Some(tops) = &warp.frames[frame as usize].tops else { return end };
    lanes(calling).map(|lane| tops[lane]).fold(end, u32::max).next_multiple_of(16)
}

fn tops<'w>(warp: &'w mut Warp, program: &Program, frame: u32) -> &'w mut [u32; LANES] {
    let end = end_of_frame(warp, program, frame);
    warp.frames[frame as usize].tops.get_or_insert_with(|| Box::new([end; LANES]))
}

/// `alloca`
pub(super) fn alloca(
    warp: &mut Warp,
    around: &Surroundings<'_>,
    frame: u32,
    executing: u32,
    micro: &Micro,
    width: Width,
) -> Result<(), Fault> {
    for lane in lanes(executing) {
        let bytes = warp.registers.get(Slot { width, index: micro.src[0] }, lane) as u64;
        let top = &mut tops(warp, around.program, frame)[lane];
        let start = u64::from(*top).next_multiple_of(micro.imm as u64);
        let end = start.saturating_add(bytes);
        if end > u64::from(around.local_limit) {
            return Err(Fault { kind: TrapKind::StackOverflow, lane, address: None });
        }
        *top = end as u32;
        warp.registers.set(Slot { width, index: micro.dst }, lane, start.into());
    }
    Ok(())
}

/// `stacksave`
pub(super) fn save(warp: &mut Warp, program: &Program, frame: u32, executing: u32, micro: &Micro, width: Width) {
    for lane in lanes(executing) {
        let top = tops(warp, program, frame)[lane];
        warp.registers.set(Slot { width, index: micro.dst }, lane, top.into());
    }
}

/// `stackrestore`; a top that was never saved is moved into what the thread may use.
pub(super) fn restore(
    warp: &mut Warp,
    around: &Surroundings<'_>,
    frame: u32,
    executing: u32,
    micro: &Micro,
    width: Width,
) {
    let least = end_of_frame(warp, around.program, frame);
    for lane in lanes(executing) {
        let top = warp.registers.get(Slot { width, index: micro.src[0] }, lane) as u64;
        let most = u64::from(around.local_limit).max(least.into());
        tops(warp, around.program, frame)[lane] = top.clamp(least.into(), most) as u32;
    }
}
