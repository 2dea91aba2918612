//! What each thread of a launch did, in three numbers.

use crate::golden::{Golden, GoldenLaunch};
use crate::rerun::When;
use simt::memory::GlobalMemory;
use simt::registers::{LANES, has, lanes};
use simt::{Executor, Hook, InstructionContext, Interest};
use std::collections::BTreeMap;

/// What a thread did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadCount {
    /// Instructions that it executed.
    pub executed: u32,
    /// Instructions that it came to with a false guard.
    pub guarded_off: u32,
    /// A hash of the instructions that it came to, in order, and of which of them it executed: threads with different
    /// hashes went different ways.
    pub trace: u64,
}

struct Counting(Vec<[ThreadCount; LANES]>);

impl Hook for Counting {
    fn wants(&self, _: u32) -> bool {
        true
    }

    fn before(&mut self, context: InstructionContext<'_>) -> Interest {
        let counts = &mut self.0[context.warp as usize];
        for lane in lanes(context.active) {
            let count = &mut counts[lane];
            let executed = has(context.executing, lane);
            count.executed += u32::from(executed);
            count.guarded_off += u32::from(!executed);
            count.trace = mix(count.trace, u64::from(context.instruction) << 1 | u64::from(executed));
        }
        Interest::Stay
    }
}

/// A thread: its launch, and its number there.
pub type Thread = (u32, u64);

/// The threads of each kernel that execute as many instructions as each other, over all its launches; ascending.
#[must_use]
pub fn by_count(golden: &Golden) -> BTreeMap<(&str, u32), Vec<Thread>> {
    let mut classes: BTreeMap<(&str, u32), Vec<Thread>> = BTreeMap::new();
    for (number, launch) in (0..).zip(golden.launches()) {
        for (thread, count) in (0..).zip(launch.counts().iter()) {
            classes.entry((&launch.program.name, count)).or_default().push((number, thread));
        }
    }
    classes
}

/// One step of a hash: FNV's, on whole words, with a rotation so that high bits come down.
fn mix(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// The counts of every thread of a launch, linear in the launch.
#[must_use]
pub fn thread_counts(golden: &Golden, launch: &GoldenLaunch) -> Vec<ThreadCount> {
    let threads = golden.threads_per_block(launch);
    let fresh = || Counting(vec![[ThreadCount::default(); LANES]; threads.div_ceil(LANES)]);
    let mut all = Vec::with_capacity(launch.counts().threads() as usize);
    let (mut memory, mut executor) = (GlobalMemory::new(), Executor::new(golden.level));
    golden.rerun(launch, &mut memory, &mut executor, &mut fresh(), |counting, _, when| {
        if when == When::After {
            let counted = std::mem::replace(counting, fresh());
            all.extend(counted.0.iter().flatten().take(threads));
        }
        true
    });
    all
}
