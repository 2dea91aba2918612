//! One launch on an executor, and what it took.

use simt::memory::GlobalMemory;
use simt::{Executor, Fuel, Hook, KernelLaunch, NoHook, RunEnd};

/// Somebody who looks into a block of a launch, for the sake of one of its threads.
pub struct Probe<'h> {
    /// The block, linear in its grid.
    pub block: u64,
    /// The thread, linear in its block.
    pub thread: u32,
    /// Who looks.
    pub hook: &'h mut dyn Hook,
}

/// What came of running a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchStats {
    /// How it ended.
    pub end: RunEnd,
    /// Instructions executed by all threads.
    pub instructions: u64,
    /// Accesses to mapped pages outside every allocation.
    pub strayed: u64,
    /// Instructions that the thread of the probe had executed when its block ended; 0 without a probe.
    pub thread_instructions: u64,
    /// Whether blocks waited for others although the launch is not cooperative.
    pub waits: bool,
}

/// Prepares a launch and runs it to its end, each thread with so much fuel, and a probe in one block if one is given.
/// `after` is told whenever blocks have ended, also by a trap.
pub fn run(
    executor: &mut Executor,
    memory: &mut GlobalMemory,
    launch: &KernelLaunch<'_>,
    fuel: Fuel<'_>,
    probe: Option<Probe<'_>>,
    mut after: impl FnMut(&mut Executor),
) -> LaunchStats {
    executor.prepare(launch);
    let (watched, mut nobody) = (probe.as_ref().map(|probe| (probe.block, probe.thread)), NoHook);
    let hook = probe.map_or(&mut nobody as &mut dyn Hook, |probe| probe.hook);
    let (hooked, threads) = (watched.map(|(block, _)| block), u64::from(launch.threads()));
    let (before, mut instructions, mut thread_instructions) = (memory.strayed(), 0, 0);
    let end = executor.run(launch, memory, fuel, hooked, hook, |executor, _, blocks| {
        instructions += executor.instructions();
        if let Some((block, thread)) = watched.filter(|(block, _)| blocks.contains(block)) {
            let place = (block - blocks.start) * threads + u64::from(thread);
            thread_instructions = executor.executed().nth(place as usize).unwrap_or(0);
        }
        after(executor);
    });
    let (strayed, waits) = (memory.strayed() - before, executor.has_waited(launch));
    LaunchStats { end, instructions, strayed, thread_instructions, waits }
}
