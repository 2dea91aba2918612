//! How the machine runs a warp: a hook looks at every instruction until it has seen enough, and what a lane does wrong
//! ends the run.

use super::policy::{Begun, Policy};
use super::running::{Running, Step};
use crate::hook::{Hook, InstructionContext, Interest};
use crate::program::Micro;
use crate::trap::Halt;
use ::lanes::Handlers;

/// A hook that looks into a warp, whose turn is over after one instruction or after many.
pub(crate) struct Hooked<'h, H: ?Sized, const SINGLE: bool> {
    hook: &'h mut H,
    /// Whether it wants to see more.
    stays: bool,
    /// Whether it leaves some instructions out.
    skips: bool,
}

impl<'h, H: Hook + ?Sized, const SINGLE: bool> Hooked<'h, H, SINGLE> {
    /// A hook, and whether it wants to see the warp.
    pub(crate) fn new(hook: &'h mut H, warp: u32) -> Self {
        let (stays, skips) = (hook.wants(warp), hook.skips());
        Self { hook, stays, skips }
    }

    /// What the hook wants after what it has seen; it may also end the run.
    fn heed(&mut self, interest: Interest) -> Result<(), Halt> {
        self.stays = interest == Interest::Stay;
        if interest == Interest::Stop { Err(Halt::Stop) } else { Ok(()) }
    }
}

impl<H: Hook + ?Sized, const SINGLE: bool> Policy for Hooked<'_, H, SINGLE> {
    const SINGLE: bool = SINGLE;

    #[inline(always)]
    fn row(&self, running: &Running<'_>, micro: &Micro) -> u16 {
        match (self.stays, self.skips) {
            (false, _) => micro.straight,
            (true, false) => 0,
            (true, true) => self.hook.unseen(running.pc),
        }
    }

    #[inline(always)]
    fn begin<L: Handlers>(&mut self, _: L, running: &mut Running<'_>, micro: &Micro) -> Result<Begun, Halt> {
        running.begin(micro);
        if self.stays {
            let interest = self.hook.before(running.context(micro));
            self.heed(interest)?;
        }
        Ok(Begun::Execute)
    }

    #[inline(always)]
    fn step<L: Handlers>(&mut self, level: L, running: &mut Running<'_>, micro: &Micro) -> Result<Step, Halt> {
        running.step(level, micro).map_err(|trap| running.trap(trap, micro).into())
    }

    #[inline(always)]
    fn end(&mut self, running: &mut Running<'_>, micro: &Micro) -> Result<(), Halt> {
        if self.stays && micro.last {
            let interest = self.hook.after(running.context(micro));
            self.heed(interest)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn out_of_fuel(&mut self, running: &mut Running<'_>, micro: &Micro) -> Result<(), Halt> {
        running.check_fuel().map_err(|trap| running.trap(trap, micro).into())
    }
}

impl Running<'_> {
    /// What a hook sees.
    fn context(&mut self, micro: &Micro) -> InstructionContext<'_> {
        let frame = &self.control.frames[self.frame as usize];
        let bytes = self.program.functions[frame.function as usize].frame;
        InstructionContext {
            program: self.program,
            frame: frame.base..frame.base + bytes,
            registers: &mut *self.executing.registers,
            global: &mut *self.executing.memories.global,
            shared: &mut *self.executing.memories.shared,
            local: &mut *self.executing.memories.local,
            instruction: micro.instruction,
            warp: self.warp,
            active: self.active,
            executing: self.executing.mask,
        }
    }
}
