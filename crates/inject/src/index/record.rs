//! Making the index: every launch runs once more, with its accesses noted.

use super::launch::LaunchIndex;
use crate::device::{UNBOUNDED, runnable};
use crate::golden::{Golden, GoldenLaunch};
use simt::memory::{GlobalMemory, Run, Trace, Version};
use simt::{Executor, Fuel, NoHook};

/// The index of every launch.
pub(super) fn launches(golden: &Golden) -> Vec<LaunchIndex> {
    let mut memory = GlobalMemory::new();
    memory.set_trace(Some(Trace::default()));
    let mut executor = Executor::new(golden.level);
    golden.launches.iter().map(|launch| record(golden, launch, &mut memory, &mut executor)).collect()
}

fn record(golden: &Golden, launch: &GoldenLaunch, memory: &mut GlobalMemory, executor: &mut Executor) -> LaunchIndex {
    let version = Version::before(launch.event as u32);
    memory.reset(&golden.history, version);
    let runnable = runnable(golden.recorded(launch), &launch.program);
    executor.prepare(&runnable);
    let mut index = LaunchIndex::new(launch.event as u32);
    let mut strayed = 0;
    for block in 0..runnable.blocks() {
        executor.run_block(&runnable, memory, block, Fuel::Each(UNBOUNDED), &mut NoHook);
        let (reads, writes) = memory.trace().map(Trace::take).unwrap_or_default();
        let before = std::mem::replace(&mut strayed, memory.strayed());
        let value = |run: Run, values: &mut Vec<u8>| {
            if let Some(page) = memory.numbered(run.page) {
                values.extend_from_slice(&page[run.range()]);
            }
        };
        index.push(&reads, &writes, value, strayed - before);
    }
    index.finish(|page| golden.history.page(page, version));
    index
}
