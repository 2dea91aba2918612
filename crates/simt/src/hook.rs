//! Where others look into a run. A hook that is absent costs nothing: the machine's loop is compiled without it.

use crate::program::Program;
use crate::registers::Registers;

/// A moment of a warp: one architectural instruction about to execute, or just executed.
pub struct Moment<'a> {
    /// The program that runs.
    pub program: &'a Program,
    /// The registers of the warp.
    pub registers: &'a mut Registers,
    /// The instruction, an index into [`Program::sites`].
    pub site: u32,
    /// The warp, by its index in the block.
    pub warp: u32,
    /// Lanes that came to the instruction.
    pub active: u32,
    /// Lanes that execute it: those whose guard is true.
    pub executing: u32,
}

/// Whether a hook wants to see more of the warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// It does.
    Stay,
    /// It does not: ask [`Hook::wants`] again.
    Leave,
}

/// What looks into a run.
pub trait Hook {
    /// Whether the hook wants to see a warp of the block that runs.
    fn wants(&self, warp: u32) -> bool;

    /// Called before an instruction for every group of lanes that comes to it.
    fn before(&mut self, moment: Moment<'_>) {
        let _ = moment;
    }

    /// Called after an instruction that some lane executed, its results written. Not called after the end of a
    /// thread, nor after branches and calls.
    fn after(&mut self, moment: Moment<'_>) -> Interest {
        let _ = moment;
        Interest::Stay
    }
}

/// No hook.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHook;

impl Hook for NoHook {
    #[inline(always)]
    fn wants(&self, _: u32) -> bool {
        false
    }
}
