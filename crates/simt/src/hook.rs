//! Where others look into a run. A hook that is absent costs nothing: the machine's loop is compiled without it.

use crate::memory::GlobalMemory;
use crate::program::Program;
use crate::state::BlockState;
use ::lanes::registers::{LANES, Registers};
use std::ops::Range;

/// What a hook is shown of a warp: one architectural instruction about to execute, or just executed.
pub struct InstructionContext<'a> {
    /// The program that runs.
    pub program: &'a Program,
    /// The registers of the warp.
    pub registers: &'a mut Registers,
    /// Global memory.
    pub global: &'a mut GlobalMemory,
    /// Shared memory of the block.
    pub shared: &'a mut [u8],
    /// Local memory of the warp: words of four bytes, for every lane; what is not there yet is zero.
    pub local: &'a mut Vec<[u32; LANES]>,
    /// The bytes of local memory that belong to the function that the lanes are in.
    pub frame: Range<u32>,
    /// The instruction, an index into [`Program::instructions`].
    pub instruction: u32,
    /// The warp, by its index in the block.
    pub warp: u32,
    /// Lanes that came to the instruction.
    pub active: u32,
    /// Lanes that execute it: those whose guard is true.
    pub executing: u32,
}

impl InstructionContext<'_> {
    /// The same context, for one who looks before another.
    pub fn again(&mut self) -> InstructionContext<'_> {
        InstructionContext {
            program: self.program,
            registers: &mut *self.registers,
            global: &mut *self.global,
            shared: &mut *self.shared,
            local: &mut *self.local,
            frame: self.frame.clone(),
            instruction: self.instruction,
            warp: self.warp,
            active: self.active,
            executing: self.executing,
        }
    }
}

/// What a hook is shown of a block: after a round in which each of its warps had its turn.
pub struct RoundContext<'a> {
    /// The program that runs.
    pub program: &'a Program,
    /// The state of the block.
    pub block: &'a BlockState,
    /// Global memory.
    pub memory: &'a mut GlobalMemory,
    /// How many rounds the block has had.
    pub round: u32,
}

/// What a hook wants after what it has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// To see more of the warp.
    Stay,
    /// To see no more of it: ask [`Hook::wants`] again.
    Leave,
    /// The end of the run: whoever looks knows what the rest of the block does.
    Stop,
}

/// What looks into a run.
pub trait Hook {
    /// Whether the hook wants to see a warp of the block that runs.
    fn wants(&self, warp: u32) -> bool;

    /// Whether a block may be looked ahead in although the hook wants to see its warps: it sees nothing of the loop then.
    fn may_miss(&self) -> bool {
        false
    }

    /// Whether the hook leaves instructions out of the warps that it wants to see.
    fn skips(&self) -> bool {
        false
    }

    /// How many micro-operations from one on, an index into [`Program::micros`], a hook that [skips](Self::skips) leaves out:
    /// at most as many as are [straight](crate::program::Micro::straight).
    fn unseen(&self, micro: u32) -> u16 {
        let _ = micro;
        0
    }

    /// Called before an instruction for every group of lanes that comes to it.
    fn before(&mut self, context: InstructionContext<'_>) -> Interest {
        let _ = context;
        Interest::Stay
    }

    /// Called after an instruction that some lane executed, its results written. Not called after the end of a
    /// thread, nor after branches and calls.
    fn after(&mut self, context: InstructionContext<'_>) -> Interest {
        let _ = context;
        Interest::Stay
    }

    /// Called between two rounds of a block that runs alone, whatever warps the hook wants to see.
    fn between(&mut self, context: RoundContext<'_>) -> Interest {
        let _ = context;
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
