//! Tier 1: only the blocks that a fault can change are executed again.
//!
//! The faulty block runs in memory as it was before it. What it leaves behind is compared with what the golden run
//! leaves behind, and the difference is carried forward: a block that reads a differing byte runs again with the
//! difference in its memory; one that only overwrites such bytes takes them out of the difference; every other block
//! does what it did. Copies and fills between launches move the difference or end it. Exact, because blocks run one
//! after the other and a block is a function of the bytes it reads.

mod array_history;
mod difference;
mod follow;
mod overlay;
mod touch;
mod watch;
mod whole;

use crate::final_memory::FinalMemory;
use crate::full::Injector;
use crate::golden::Golden;
use crate::index::{Index, LaunchAccesses};
use crate::run::{InjectError, Progress, fuel, locate, observe};
use crate::tracking::{Array, Change, Keep};
use array_history::ArrayHistory;
use fault::{Fault, Target};
use outcome::{Observation, Tier};
use overlay::Overlay;
use simt::memory::{GlobalMemory, Pages, Version};
use simt::{Checkpoint, Executor, Hook, NoHook, RunEnd};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use strike::Hit;
use watch::Watch;

/// Runs faults by executing what they can change, one after the other.
#[derive(Debug)]
pub(crate) struct Delta<'g> {
    golden: &'g Golden,
    index: Arc<Index>,
    clean: Arc<dyn Pages>,
    overlay: Arc<Overlay>,
    /// The overlay again, as a source of pages.
    faulty: Arc<dyn Pages>,
    memory: GlobalMemory,
    executor: Executor,
    /// The launch that the executor is ready for.
    prepared: Option<usize>,
    /// By launch, how many blocks were executed in the run before: the one with the fault, and those that read differing
    /// bytes.
    executed: BTreeMap<usize, u64>,
    /// What is noted of arrays after launches, if something is.
    trail: Option<ArrayHistory>,
    /// Whether a block of the run before waits for others: such a run is executed as a whole, with `full`.
    waits: bool,
    /// The engine that executes such runs.
    full: Option<Box<Injector<'g>>>,
}

/// For every page that differs, the next block of a launch that reads or writes differing bytes of it.
#[derive(Default)]
struct Agenda {
    by_block: BTreeSet<(u32, u32)>,
    by_page: BTreeMap<u32, u32>,
}

impl Agenda {
    fn set(&mut self, page: u32, block: Option<u32>) {
        if let Some(old) = self.by_page.remove(&page) {
            self.by_block.remove(&(old, page));
        }
        if let Some(block) = block {
            self.by_page.insert(page, block);
            self.by_block.insert((block, page));
        }
    }

    /// The first block, and the pages that it is there for.
    fn first(&self) -> Option<(u32, Vec<u32>)> {
        let block = self.by_block.first()?.0;
        let pages = self.by_block.range((block, 0)..=(block, u32::MAX));
        Some((block, pages.map(|&(_, page)| page).collect()))
    }
}

impl<'g> Delta<'g> {
    /// A runner with memory of its own.
    pub(crate) fn new(golden: &'g Golden, index: &Arc<Index>) -> Self {
        let overlay = Arc::new(Overlay::new(Arc::clone(index)));
        Self {
            golden,
            index: Arc::clone(index),
            clean: Arc::clone(index) as Arc<dyn Pages>,
            faulty: Arc::clone(&overlay) as Arc<dyn Pages>,
            overlay,
            memory: GlobalMemory::new(),
            executor: Executor::new(golden.level),
            prepared: None,
            executed: BTreeMap::new(),
            trail: None,
            waits: false,
            full: None,
        }
    }

    /// The observation of one fault: equal to that of full re-execution.
    pub(crate) fn run(&mut self, fault: &Fault) -> Result<Observation, InjectError> {
        let golden = self.golden;
        locate(golden, fault)?;
        let index = Arc::clone(&self.index);
        let number = fault.launch as usize;
        // Where the launch runs whole, it comes to its end.
        let liveness = index.launch(number).and_then(|_| index.liveness(number));
        let mut hit = Hit::new(fault).ending(liveness);
        let mut progress = Progress::default();
        self.memory.set_trace(None);
        self.replay(fault, &mut hit, &mut progress);
        if self.waits {
            // Which blocks a difference came into is not known.
            self.executed.clear();
            return self.full.get_or_insert_with(|| Box::new(Injector::new(golden))).run(fault);
        }
        self.find_touch(fault, &mut hit, progress.thread_instructions);
        Ok(observe(golden, fault, hit.injected, progress, Tier::Delta))
    }

    /// The same, and what differs of arrays after launches.
    pub(crate) fn tracked(
        &mut self,
        fault: &Fault,
        arrays: &Arc<[Array]>,
        keep: Keep,
    ) -> Result<(Observation, Vec<Change>), InjectError> {
        self.trail = Some(ArrayHistory::new(arrays, keep));
        let observation = self.run(fault);
        let changes = self.trail.take().map(|trail| trail.changes);
        Ok((observation?, changes.unwrap_or_default()))
    }

    /// A launch has ended.
    fn launched(&mut self, number: usize) {
        if let Some(trail) = &mut self.trail {
            self.overlay.write().settle();
            trail.after((number, self.golden.launches.len()), &self.overlay.read());
        }
    }

    /// How many blocks of each launch were executed in the run before, by number; of a launch that ran whole, all.
    pub(crate) fn executed(&self) -> &BTreeMap<usize, u64> {
        &self.executed
    }

    /// The golden index.
    pub(crate) fn index(&self) -> &Index {
        &self.index
    }

    /// Whether a block of the run before was found to wait for others.
    pub(crate) fn has_waited(&self) -> bool {
        self.waits
    }

    /// How memory differs at the end of the run before, if that completed.
    pub(crate) fn final_memory(&mut self) -> FinalMemory {
        if let Some(full) = self.full.as_mut().filter(|_| self.waits) {
            return full.final_memory();
        }
        let mut found = FinalMemory::default();
        self.overlay.write().settle();
        self.overlay.read().pages_with_values().for_each(|(page, differs, values)| found.add(page, differs, values));
        found
    }

    fn replay(&mut self, fault: &Fault, hit: &mut Hit<'_>, progress: &mut Progress) {
        let number = fault.launch as usize;
        self.overlay.write().clear();
        self.executed.clear();
        self.waits = false;
        if self.first_launch(number, fault, hit, progress) {
            self.launched(number);
            self.follow(number, progress);
        }
    }

    /// Counts the accesses outside every allocation up to the end of a block that made some.
    pub(crate) fn count_strays(&self, number: usize, block: u32, strayed: u64, progress: &mut Progress) {
        let before = self.index.launch(number).map_or(0, |launch| launch.strayed_before(block));
        progress.strayed = before + strayed;
    }

    /// Follows a difference in these bytes that a block left behind to the end of the program.
    pub(crate) fn spread(&mut self, number: usize, block: u32, bytes: &[(u64, u8)], progress: &mut Progress) {
        self.waits = false;
        self.overlay.write().set(bytes);
        if self.rest_of(number, block + 1, progress) {
            self.follow(number, progress);
        }
    }

    /// The launch with the fault; `false` where it does not complete.
    fn first_launch(&mut self, number: usize, fault: &Fault, hit: &mut Hit<'_>, progress: &mut Progress) -> bool {
        let index = Arc::clone(&self.index);
        let Some(launch) = index.launch(number) else { return self.faulty_launch(number, fault, hit, progress) };
        let block = fault.cta as u32;
        progress.strayed = launch.strayed_before(block);
        let completed = self.faulty_block(number, launch, fault, hit, progress);
        progress.thread_instructions = self.thread_instructions(fault);
        completed && self.rest_of(number, block + 1, progress)
    }

    /// Follows the difference through the blocks of a launch from one on; `false` where a block did not complete.
    fn rest_of(&mut self, number: usize, from: u32, progress: &mut Progress) -> bool {
        let index = Arc::clone(&self.index);
        let Some(launch) = index.launch(number) else { return self.later_launch(number, progress) };
        let before = launch.strayed_before(from);
        let is_met = self.overlay.read().strewn().ranges().any(|pages| launch.touches(&pages));
        if is_met {
            self.overlay.write().settle();
        }
        if self.overlay.read().is_empty() {
            progress.strayed += launch.strayed_before(launch.blocks()) - before;
            return true;
        }
        let faulty = Arc::clone(&self.faulty);
        let mut agenda = Agenda::default();
        let pages: Vec<u32> = self.overlay.read().pages().collect();
        self.plan(&mut agenda, launch, &pages, from);
        let mut counted = from;
        while let Some((block, pages)) = agenda.first() {
            let reads = {
                let difference = self.overlay.read();
                pages.iter().any(|&page| difference.of_page(page).is_some_and(|set| launch.reads(page, set, block)))
            };
            let mut changed = pages;
            if reads {
                progress.strayed += launch.strayed_before(block) - launch.strayed_before(counted);
                counted = block + 1;
                if !self.block(&faulty, (number, launch), block, progress) {
                    return false;
                }
                changed.extend(self.memory.written().map(|(page, _)| page));
                changed.extend(launch.written(block));
            } else {
                let mut difference = self.overlay.write();
                for &page in &changed {
                    launch.writes(page, block).for_each(|bytes| difference.agree(page, bytes));
                }
            }
            self.plan(&mut agenda, launch, &changed, block + 1);
        }
        progress.strayed += launch.strayed_before(launch.blocks()) - launch.strayed_before(counted);
        true
    }

    /// Brings an agenda up to date for some pages.
    fn plan(&self, agenda: &mut Agenda, launch: &LaunchAccesses, pages: &[u32], from: u32) {
        let difference = self.overlay.read();
        for &page in pages {
            agenda.set(page, difference.of_page(page).and_then(|bytes| launch.next(page, bytes, from)));
        }
    }

    /// Runs the block with the fault, from the last checkpoint before it and until nothing of it is left; `false` where
    /// it does not complete.
    fn faulty_block(
        &mut self,
        number: usize,
        launch: &LaunchAccesses,
        fault: &Fault,
        hit: &mut Hit<'_>,
        progress: &mut Progress,
    ) -> bool {
        let (index, block) = (Arc::clone(&self.index), fault.cta as u32);
        let clean = Arc::clone(&self.clean);
        let checkpoints = launch.checkpoints(block);
        // A checkpoint keeps the registers that are live, and a fault in another one is told from what that held.
        let start = checkpoints.filter(|_| !matches!(fault.target, Target::Register(_)));
        let start = start.and_then(|kept| Some((kept, kept.before(fault.thread, fault.dynamic)?)));
        let event = launch.event;
        let mut watch = Watch::new(hit, &index, checkpoints, Version { event, block });
        self.memory.reset(&clean, Version { event, block });
        self.memory.defer();
        let from = start.map(|(kept, at)| {
            kept.restore(at, &mut self.memory);
            watch.begin_at(kept.state(at).executed(fault.thread));
            progress.strayed += kept.strayed(at);
            kept.state(at)
        });
        *self.executed.entry(number).or_default() += 1;
        self.prepare(number);
        if let Some(liveness) = checkpoints.and_then(|_| index.liveness(number)) {
            self.executor.forget(liveness);
        }
        let end = self.execute(number, block, from, &mut watch, progress);
        let agreed = watch.agreed();
        let executed = self.thread_instructions(fault);
        self.end_watch(hit, executed);
        match (end, agreed) {
            (RunEnd::Completed, _) => self.compare_strewn(launch, block),
            (RunEnd::Trapped(trap), _) => progress.trap = Some((number, trap)),
            // From here on the block does what its golden self does,
            (RunEnd::Stopped, Some(golden)) => progress.strayed += launch.strayed_in(block) - golden,
            // or has done nothing else up to here either.
            (RunEnd::Stopped, None) => progress.strayed = launch.strayed_before(block + 1),
            (RunEnd::Waits, _) => self.waits = true,
        }
        progress.trap.is_none() && !self.waits
    }

    /// Runs a block again with the difference in its memory; `false` where it does not complete.
    fn block(
        &mut self,
        source: &Arc<dyn Pages>,
        (number, launch): (usize, &LaunchAccesses),
        block: u32,
        progress: &mut Progress,
    ) -> bool {
        let event = launch.event;
        *self.executed.entry(number).or_default() += 1;
        // It may read and write anywhere.
        self.overlay.write().settle();
        self.memory.reset(source, Version { event, block });
        match self.execute(number, block, None, &mut NoHook, progress) {
            RunEnd::Trapped(trap) => progress.trap = Some((number, trap)),
            RunEnd::Waits => self.waits = true,
            RunEnd::Completed | RunEnd::Stopped => self.compare(launch, block),
        }
        progress.trap.is_none() && !self.waits
    }

    /// Makes the executor ready for the blocks of a launch.
    fn prepare(&mut self, number: usize) {
        if self.prepared != Some(number) {
            self.executor.prepare(&self.golden.runnable(&self.golden.launches[number]));
            self.prepared = Some(number);
        }
    }

    /// Runs a block in the memory as it stands.
    fn execute(
        &mut self,
        number: usize,
        block: u32,
        from: Option<&Checkpoint>,
        hook: &mut dyn Hook,
        progress: &mut Progress,
    ) -> RunEnd {
        self.prepare(number);
        let launch = &self.golden.launches[number];
        let runnable = self.golden.runnable(launch);
        let (memory, fuel) = (&mut self.memory, fuel(self.golden, launch));
        let end = self.executor.run_block_from(&runnable, memory, u64::from(block), fuel, from, hook);
        progress.instructions += self.executor.instructions();
        progress.instructions -= from.map_or(0, Checkpoint::executed_by_all);
        progress.strayed += self.memory.strayed();
        end
    }

    /// Takes the difference of what the block with the fault leaves behind; what it has strewn stays so, if it is not where the
    /// golden run writes.
    fn compare_strewn(&mut self, launch: &LaunchAccesses, block: u32) {
        if !self.memory.strewn().ranges().all(|pages| self.index.is_blank(pages)) {
            self.memory.settle();
        }
        let strewn = self.memory.take_strewn();
        self.compare(launch, block);
        self.overlay.write().strew(strewn);
    }

    /// Takes the difference of what a block leaves behind.
    fn compare(&mut self, launch: &LaunchAccesses, block: u32) {
        self.compare_with(Version { event: launch.event, block: block + 1 }, launch.written(block));
    }

    /// Compares the pages that were written, and those that the golden run wrote, with it at a version.
    fn compare_with(&mut self, version: Version, written: &[u32]) {
        // In other lines than these both runs hold what they held before.
        let memory = &self.memory;
        let mut pages: Vec<_> = memory.written().map(|(page, _)| (page, memory.written_lines(page))).collect();
        pages.extend(written.iter().map(|&page| (page, u64::MAX)));
        pages.sort_unstable();
        pages.dedup_by(|(page, lines), (kept, all)| {
            *all |= if page == kept { *lines } else { 0 };
            page == kept
        });
        for (page, lines) in pages {
            let golden = self.index.page(page, version);
            if let Some(found) = self.memory.numbered(page) {
                self.overlay.write().compare(page, lines, golden.as_deref(), found);
            }
        }
    }

    fn thread_instructions(&self, fault: &Fault) -> u64 {
        self.executor.executed().nth(fault.thread as usize).unwrap_or(0)
    }
}
