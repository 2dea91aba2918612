//! Launches of a golden run executed again, one at a time, with someone looking in.

use crate::golden::{Golden, GoldenLaunch};
use device::UNBOUNDED;
use simt::memory::{GlobalMemory, Version};
use simt::{Executor, Fuel, Hook, NoHook};

/// When [`Golden::rerun`] calls back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before a block: the answer says whether the hook looks in.
    Before,
    /// After a block that it looked into: the answer is ignored.
    After,
}

impl Golden {
    /// Executes every launch again, each from the memory that it began with; for measuring how long that takes.
    pub fn repeat(&self) {
        let (mut memory, mut executor) = (GlobalMemory::new(), Executor::new(self.level));
        for launch in &self.launches {
            self.rerun(launch, &mut memory, &mut executor, &mut NoHook, |_, _, _| false);
        }
    }

    /// Runs the blocks of a launch again with a hook, in memory of its own. `each` is asked before every block
    /// whether the hook looks in or the block runs plainly, and told after it.
    pub fn rerun<H: Hook>(
        &self,
        launch: &GoldenLaunch,
        memory: &mut GlobalMemory,
        executor: &mut Executor,
        hook: &mut H,
        mut around: impl FnMut(&mut H, u64, When) -> bool,
    ) {
        memory.reset(&self.history, Version::before(launch.event as u32));
        let runnable = self.runnable(launch);
        executor.prepare(&runnable);
        let fuel = Fuel::Each(UNBOUNDED);
        if launch.waits || runnable.is_together() {
            return self.rerun_together(&runnable, launch, memory, executor, hook, around);
        }
        for block in 0..runnable.blocks() {
            if around(hook, block, When::Before) {
                executor.run_block(&runnable, memory, block, fuel, hook);
                around(hook, block, When::After);
            } else {
                executor.run_block(&runnable, memory, block, fuel, &mut NoHook);
            }
        }
    }

    /// Blocks that wait for each other: all of them run again for each that the hook looks into, and once at least.
    fn rerun_together<H: Hook>(
        &self,
        runnable: &simt::KernelLaunch<'_>,
        launch: &GoldenLaunch,
        memory: &mut GlobalMemory,
        executor: &mut Executor,
        hook: &mut H,
        mut around: impl FnMut(&mut H, u64, When) -> bool,
    ) {
        let fuel = Fuel::Each(UNBOUNDED);
        let mut ran = false;
        // As in the golden run: what each block executes depends on when it was found to wait.
        let mut run = |memory: &mut GlobalMemory, hooked, hook: &mut dyn Hook| {
            executor.prepare(runnable);
            executor.run(runnable, memory, fuel, hooked, hook, |_, _, _| {});
        };
        for block in 0..runnable.blocks() {
            if around(hook, block, When::Before) {
                memory.reset(&self.history, Version::before(launch.event as u32));
                run(memory, Some(block), hook);
                around(hook, block, When::After);
                ran = true;
            }
        }
        if !ran {
            run(memory, None, &mut NoHook);
        }
    }
}
