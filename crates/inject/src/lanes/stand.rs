//! A block whose threads depend on no other, ready for replicas of them.

use crate::device::runnable;
use crate::golden::{Golden, GoldenLaunch};
use crate::index::Index;
use crate::run::fuel;
use simt::memory::{GlobalMemory, Owners, Pages, Trace, Version};
use simt::replica::{Write, is_solitary};
use simt::{Executor, NoHook, Replica};
use std::sync::Arc;

/// One block, and memory as it was before it.
#[derive(Debug)]
pub(super) struct Stand<'g> {
    golden: &'g Golden,
    index: Arc<Index>,
    clean: Arc<dyn Pages>,
    memory: GlobalMemory,
    executor: Executor,
    owners: Owners,
    /// Launch and block, and whether its threads depend on no other.
    at: Option<(usize, u32, bool)>,
}

impl<'g> Stand<'g> {
    pub(super) fn new(golden: &'g Golden, index: &Arc<Index>) -> Self {
        Self {
            golden,
            index: Arc::clone(index),
            clean: Arc::clone(index) as Arc<dyn Pages>,
            memory: GlobalMemory::new(),
            executor: Executor::new(golden.level),
            owners: Owners::default(),
            at: None,
        }
    }

    fn launch(&self) -> &'g GoldenLaunch {
        &self.golden.launches[self.at.map_or(0, |(launch, _, _)| launch)]
    }

    /// Stands at a block; whether its threads depend on no other, which is found out and not assumed.
    pub(super) fn enter(&mut self, number: usize, block: u32) -> bool {
        if let Some((at, here, free)) = self.at
            && (at, here) == (number, block)
        {
            return free;
        }
        let entered = self.at.is_some_and(|(at, _, _)| at == number);
        self.at = Some((number, block, false));
        let launch = self.launch();
        let runnable = runnable(self.golden.recorded(launch), &launch.program);
        if runnable.is_together() || !is_solitary(&launch.program) {
            return false;
        }
        let version = Version { event: launch.event as u32, block };
        self.memory.reset(&self.clean, version);
        if !entered {
            self.executor.prepare(&runnable);
        }
        self.owners.clear();
        self.memory.set_trace(Some(Trace::by_thread(std::mem::take(&mut self.owners))));
        self.executor.run_block(&runnable, &mut self.memory, u64::from(block), fuel(launch), &mut NoHook);
        self.owners = self.memory.set_trace(None).and_then(Trace::into_owners).unwrap_or_default();
        let index = self.index.launch(number);
        let strays = index.strayed_before(block + 1) - index.strayed_before(block);
        let free = !self.owners.is_tangled() && strays == 0;
        if free {
            self.memory.reset(&self.clean, version);
            self.executor.stand_at(&runnable, u64::from(block), fuel(launch));
        }
        self.at = Some((number, block, free));
        free
    }

    /// Makes a replica of a thread of the block at its start.
    pub(super) fn start(&self, replica: &mut Replica, thread: u32) {
        let launch = self.launch();
        replica.start(&self.executor, &runnable(self.golden.recorded(launch), &launch.program), thread);
    }

    /// Runs every lane of a replica to its end.
    pub(super) fn run(&mut self, replica: &mut Replica) {
        let Some((number, block, _)) = self.at else { return };
        let launch = &self.golden.launches[number];
        let runnable = runnable(self.golden.recorded(launch), &launch.program);
        replica.run(&runnable, u64::from(block), &mut self.memory, &self.owners);
    }

    /// Runs a replica without faults for some instructions; whether the thread executes as many.
    pub(super) fn step(&mut self, replica: &mut Replica, instructions: u64) -> bool {
        let Some((number, block, _)) = self.at else { return false };
        let launch = &self.golden.launches[number];
        let runnable = runnable(self.golden.recorded(launch), &launch.program);
        replica.step(&runnable, u64::from(block), &mut self.memory, &self.owners, instructions)
    }

    /// The bytes that end otherwise if a thread writes this and not what it wrote in the golden run, with their values,
    /// ascending.
    pub(super) fn difference(&mut self, golden: &[Write], found: impl Iterator<Item = Write>) -> Vec<(u64, u8)> {
        let (golden, found) = (bytes(golden.iter().copied()), bytes(found));
        let mut golden = golden.into_iter().peekable();
        let mut differs = Vec::new();
        let before = |at: u64, memory: &mut GlobalMemory| {
            let mut byte = [0];
            let _ = memory.copy_out(at, &mut byte);
            byte[0]
        };
        for (at, value) in found {
            while let Some((missing, expected)) = golden.next_if(|(address, _)| *address < at) {
                let left = before(missing, &mut self.memory);
                differs.extend((left != expected).then_some((missing, left)));
            }
            let expected = golden.next_if(|(address, _)| *address == at).map(|(_, value)| value);
            let expected = expected.unwrap_or_else(|| before(at, &mut self.memory));
            differs.extend((value != expected).then_some((at, value)));
        }
        for (missing, expected) in golden {
            let left = before(missing, &mut self.memory);
            differs.extend((left != expected).then_some((missing, left)));
        }
        differs
    }
}

/// The bytes that writes leave behind, ascending.
fn bytes(writes: impl Iterator<Item = Write>) -> Vec<(u64, u8)> {
    let of = |write: Write| {
        (write.address..).zip(write.value.to_le_bytes()).take(usize::from(write.bytes)).collect::<Vec<_>>()
    };
    let mut bytes: Vec<(u64, u8)> = writes.flat_map(of).collect();
    // Of several writes to a byte the last one stays.
    bytes.reverse();
    bytes.sort_by_key(|(address, _)| *address);
    bytes.dedup_by_key(|(address, _)| *address);
    bytes
}
