//! Making the index: every launch runs once more, with its accesses noted.

use super::budget::{DetailLevel, Pool};
use super::checkpoint_recorder::{CheckpointBudget, CheckpointRecorder};
use super::launch::LaunchAccesses;
use crate::golden::{Golden, GoldenLaunch};
use crate::run::fuel;
use simt::memory::{AccessTrace, ByteRun, GlobalMemory, Version};
use simt::{Executor, Liveness};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// What all launches are recorded with.
pub(super) struct Recording<'a> {
    pub(super) golden: &'a Golden,
    /// For each launch, what is live where in its program.
    pub(super) liveness: &'a [Option<std::sync::Arc<Liveness>>],
    pub(super) detail: DetailLevel,
    pub(super) pool: &'a Pool,
    /// Bytes that all checkpoints may take.
    pub(super) checkpoints: u64,
    /// Instructions from one checkpoint to the next, at least.
    pub(super) spacing: u64,
}

/// What one thread runs launches with.
struct Machine {
    memory: GlobalMemory,
    executor: Executor,
}

impl Recording<'_> {
    /// The index of every launch that fits; `None` if some does not and all must.
    pub(super) fn launches(&self, jobs: usize) -> Option<Vec<Option<LaunchAccesses>>> {
        let count = self.golden.launches.len();
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let work = || {
            let mut machine = Machine { memory: GlobalMemory::new(), executor: Executor::new(self.golden.level) };
            machine.memory.set_trace(Some(AccessTrace::default()));
            let mut done = Vec::new();
            while !failed.load(Ordering::Relaxed) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(launch) = self.golden.launches.get(number) else { break };
                let index = self.record(number, launch, &mut machine);
                failed.fetch_or(index.is_none() && !self.detail.partial, Ordering::Relaxed);
                done.push((number, index));
            }
            done
        };
        let mut found: Vec<Option<LaunchAccesses>> = Vec::new();
        found.resize_with(count, || None);
        thread::scope(|scope| {
            let helpers: Vec<_> = (1..jobs.min(count)).map(|_| scope.spawn(work)).collect();
            let mut all = work();
            // A helper that panics leaves its launches without an index, which is exact too.
            all.extend(helpers.into_iter().filter_map(|helper| helper.join().ok()).flatten());
            all.into_iter().for_each(|(number, index)| found[number] = index);
        });
        (!failed.into_inner()).then_some(found)
    }

    /// Runs a launch and notes what its blocks do; `None` if that does not fit.
    fn record(&self, number: usize, launch: &GoldenLaunch, machine: &mut Machine) -> Option<LaunchAccesses> {
        let Machine { memory, executor } = machine;
        let version = Version::before(launch.event as u32);
        memory.reset(&self.golden.history, version);
        let runnable = self.golden.runnable(launch);
        executor.prepare(&runnable);
        let mut index = LaunchAccesses::new(launch.event as u32);
        let mut budget = CheckpointBudget::new(launch, self.allowance(launch));
        let mut taken = 0;
        let mut fits = |index: &LaunchAccesses| {
            let bytes = index.bytes() as u64;
            let more = bytes - std::mem::replace(&mut taken, bytes);
            let fits = self.pool.take(more);
            if !fits {
                self.pool.give_back(taken);
            }
            fits
        };
        for block in 0..runnable.blocks() {
            let before = memory.strayed();
            let extent = (launch.instructions_of(block, runnable.threads()), self.spacing);
            let mut recorder = CheckpointRecorder::new(self.keeping(number), before, extent, &mut budget);
            if let Some(liveness) = self.keeping(number).filter(|_| recorder.keeps()) {
                executor.forget(liveness);
            }
            // With the fuel of faulty runs: it is part of what checkpoints keep.
            executor.run_block(&runnable, memory, block, fuel(self.golden, launch), &mut recorder);
            let (reads, writes, kept) = recorder.finish(memory);
            budget.has_executed(executor.counts().map(u64::from).sum());
            let strayed = memory.strayed() - before;
            let value = |run: ByteRun, values: &mut Vec<u8>| {
                if let Some(page) = memory.numbered(run.page) {
                    values.extend_from_slice(&page[run.range()]);
                }
            };
            index.push(&self.detail.reads.kept(reads), &writes, value, strayed);
            index.keep(block as u32, kept);
            if !fits(&index) {
                return None;
            }
        }
        index.finish(|page| self.golden.history.page(page, version));
        fits(&index).then_some(index)
    }

    /// What a launch may take for checkpoints: as much of all as it is of the program.
    fn allowance(&self, launch: &GoldenLaunch) -> u64 {
        let all = self.golden.thread_instructions().max(1);
        (u128::from(self.checkpoints) * u128::from(launch.thread_instructions()) / u128::from(all)) as u64
    }

    /// With what checkpoints of a launch are kept, if they are.
    fn keeping(&self, launch: usize) -> Option<&Liveness> {
        let liveness = self.liveness[launch].as_deref().filter(|_| self.detail.checkpoints);
        liveness.filter(|liveness| !liveness.is_recursive())
    }
}
