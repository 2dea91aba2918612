//! What the golden run executed: counts by instruction and by thread.

use crate::golden::{Golden, GoldenLaunch};
use facts::Facts;
use simt::memory::GlobalMemory;
use simt::{Executor, Hook, InstructionContext, Interest};

/// Counts of one architectural instruction in one launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstructionCount {
    /// Threads that executed it, summed over time.
    pub executed: u64,
    /// Threads that came to it with a false guard.
    pub guarded_off: u64,
    /// How often a warp came to it.
    pub warps: u64,
}

/// One launch, counted.
#[derive(Debug)]
pub struct LaunchProfile<'g> {
    /// The launch.
    pub launch: &'g GoldenLaunch,
    /// Counts by instruction of the program.
    pub instructions: Vec<InstructionCount>,
}

impl LaunchProfile<'_> {
    /// Executed instructions with their counts, in program order.
    pub fn instructions(&self) -> impl Iterator<Item = (&Facts, InstructionCount)> {
        let counted = self.launch.program.instructions.iter().zip(&self.instructions);
        let counted = counted.filter(|(_, count)| **count != InstructionCount::default());
        counted.filter_map(|(instruction, &count)| Some((instruction.facts.as_ref()?, count)))
    }
}

struct Counting(Vec<InstructionCount>);

impl Hook for Counting {
    fn wants(&self, _: u32) -> bool {
        true
    }

    fn before(&mut self, context: InstructionContext<'_>) -> Interest {
        let count = &mut self.0[context.instruction as usize];
        count.executed += u64::from(context.executing.count_ones());
        count.guarded_off += u64::from((context.active & !context.executing).count_ones());
        count.warps += 1;
        Interest::Stay
    }
}

/// Counts every launch of a golden run by running it again.
#[must_use]
pub fn profile(golden: &Golden) -> Vec<LaunchProfile<'_>> {
    let mut memory = GlobalMemory::new();
    let mut executor = Executor::new(golden.level);
    let launches = golden.launches().iter().map(|launch| {
        let mut counting = Counting(vec![InstructionCount::default(); launch.program.instructions.len()]);
        golden.rerun(launch, &mut memory, &mut executor, &mut counting, |_, _, _| true);
        LaunchProfile { launch, instructions: counting.0 }
    });
    launches.collect()
}
