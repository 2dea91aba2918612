//! The stack of a thread above the frame of the function that it is in: `alloca` and what gives back.
//!
//! Each lane has a top of its own. A call starts its frame above the highest top of the lanes that make it.

use super::running::Running;
use crate::access::{LaneTrap, LocalWindow};
use crate::program::Micro;
use crate::trap::TrapKind;
use ::lanes::registers::{LANES, Slot, lanes};
use isa::Width;

impl Running<'_> {
    /// `alloca`
    pub(super) fn alloca(&mut self, micro: &Micro, width: Width) -> Result<(), LaneTrap> {
        let LocalWindow { base, frames, .. } = self.executing.memories.local_window;
        for lane in lanes(self.executing.mask) {
            let bytes = self.executing.registers.get(Slot { width, index: micro.src[0] }, lane) as u64;
            let top = &mut self.tops()[lane];
            let start = u64::from(*top).next_multiple_of(micro.imm as u64);
            let end = start.saturating_add(bytes);
            if end > u64::from(frames) {
                return Err(LaneTrap::new(TrapKind::StackOverflow, lane));
            }
            *top = end as u32;
            let address = start + u64::from(base);
            self.executing.registers.set(Slot { width, index: micro.dst }, lane, address.into());
        }
        Ok(())
    }

    /// `stacksave`
    pub(super) fn stack_save(&mut self, micro: &Micro, width: Width) {
        for lane in lanes(self.executing.mask) {
            let top = self.tops()[lane] + self.executing.memories.local_window.base;
            self.executing.registers.set(Slot { width, index: micro.dst }, lane, top.into());
        }
    }

    /// `stackrestore`; a top that was never saved is moved into what the thread may use.
    pub(super) fn stack_restore(&mut self, micro: &Micro, width: Width) {
        let least = self.end_of_frame();
        let LocalWindow { base, frames, .. } = self.executing.memories.local_window;
        let most = frames.max(least);
        for lane in lanes(self.executing.mask) {
            let top = self.executing.registers.get(Slot { width, index: micro.src[0] }, lane) as u64;
            let top = top.saturating_sub(base.into());
            self.tops()[lane] = top.clamp(least.into(), most.into()) as u32;
        }
    }

    /// Where the frame of a function that the lanes call starts.
    pub(super) fn next_frame(&self) -> u32 {
        let end = self.end_of_frame();
        let Some(tops) = &self.control.frames[self.frame as usize].tops else { return end };
        lanes(self.executing.mask).map(|lane| tops[lane]).fold(end, u32::max).next_multiple_of(16)
    }

    /// Where the frame ends if it has taken nothing with `alloca`.
    fn end_of_frame(&self) -> u32 {
        let here = &self.control.frames[self.frame as usize];
        here.base + self.program.functions[here.function as usize].frame
    }

    fn tops(&mut self) -> &mut [u32; LANES] {
        let end = self.end_of_frame();
        self.control.frames[self.frame as usize].tops.get_or_insert_with(|| Box::new([end; LANES]))
    }
}
