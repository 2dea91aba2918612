//! The blocks of a launch: one after the other, or together where they wait for each other.
//!
//! A grid waits at a counter in memory that the driver provides; a kernel finds it through `%envreg1` (the upper half of
//! its address) and `%envreg2`. Like the heap it is a variable of the module. The blocks run in rounds: in each, every
//! warp of every block has its turn, in order, so that blocks that spin until others arrive see them arrive.

use crate::block::{Executor, Round};
use crate::hook::{Hook, NoHook};
use crate::launch::{Fuel, KernelLaunch};
use crate::memory::GlobalMemory;
use crate::trap::RunEnd;
use std::ops::Range;

/// The name of the variable.
pub const WORKSPACE_NAME: &str = "grid workspace";
/// Its bytes, and its alignment: the first word holds its own size, another the counter.
pub const WORKSPACE_BYTES: u64 = 64;

impl Executor {
    /// Runs all blocks of a launch in order, or together if they may wait for each other; from one on that is found to wait,
    /// in turns. The hook looks into one of them; `after` is told whenever blocks have ended, also by a trap.
    pub fn run(
        &mut self,
        launch: &KernelLaunch<'_>,
        memory: &mut GlobalMemory,
        fuel: Fuel<'_>,
        hooked: Option<u64>,
        hook: &mut dyn Hook,
        mut after: impl FnMut(&mut Self, &mut GlobalMemory, Range<u64>),
    ) -> RunEnd {
        if launch.is_together() {
            let end = self.run_together(launch, memory, fuel, hooked, hook);
            after(self, memory, 0..launch.blocks());
            return end;
        }
        for block in 0..launch.blocks() {
            let end = self.run_block(launch, memory, block, fuel, hook_of(hooked, block, hook, &mut NoHook));
            if end == RunEnd::Waits {
                let end = self.run_in_turns(launch, memory, block, fuel, (hooked, hook));
                after(self, memory, block..launch.blocks());
                return end;
            }
            after(self, memory, block..block + 1);
            if end != RunEnd::Completed {
                return end;
            }
        }
        RunEnd::Completed
    }

    /// Runs the blocks of a cooperative launch; the hook looks into one of them.
    pub fn run_together(
        &mut self,
        launch: &KernelLaunch<'_>,
        memory: &mut GlobalMemory,
        fuel: Fuel<'_>,
        hooked: Option<u64>,
        hook: &mut dyn Hook,
    ) -> RunEnd {
        let mut blocks = std::mem::take(&mut self.grid);
        for (block, executor) in (0..).zip(&mut blocks) {
            executor.begin_block(launch, block, fuel);
        }
        let end = rounds(&mut blocks, launch, memory, hooked, hook);
        self.grid = blocks;
        end
    }
}

/// The hook, if it looks into this block, or none.
pub(crate) fn hook_of<'h>(
    hooked: Option<u64>,
    block: u64,
    hook: &'h mut dyn Hook,
    none: &'h mut NoHook,
) -> &'h mut dyn Hook {
    if hooked == Some(block) { hook } else { none }
}

fn rounds(
    blocks: &mut [Executor],
    launch: &KernelLaunch<'_>,
    memory: &mut GlobalMemory,
    hooked: Option<u64>,
    hook: &mut dyn Hook,
) -> RunEnd {
    loop {
        let (mut moved, mut stuck) = (false, None);
        for (block, executor) in (0..).zip(blocks.iter_mut()) {
            match executor.round(launch, memory, block, hook_of(hooked, block, hook, &mut NoHook)) {
                Err(halt) => return halt.into(),
                Ok(Round::Done) => {}
                Ok(Round::Moved) => moved = true,
                Ok(Round::Stuck) => stuck = stuck.or(Some(block)),
            }
        }
        match stuck {
            _ if moved => {}
            Some(block) => return RunEnd::Trapped(blocks[block as usize].state.deadlock(launch.program, block)),
            None => return RunEnd::Completed,
        }
    }
}
