//! Which arrays differ within a launch, whenever the thread with the fault comes to a source line.
//!
//! The block of the thread is executed from memory as it is before it, until the thread has come to the line often enough: once
//! without the fault, and once with it. Before each instruction by which the thread comes to the line, the pages are kept that
//! have changed since the time before. Memory before a block is told by the golden index; where there is none, the blocks before
//! are executed.

use super::array::{Array, Change};
use super::bytes_of;
use super::measure::{self, Corruption};
use super::witness::differing;
use crate::golden::{Golden, GoldenLaunch};
use crate::index::Index;
use crate::run::{InjectError, fuel, locate};
use crate::target::CapsuleTarget;
use facts::{Facts, Space};
use fault::Fault;
use simt::memory::{Allocations, GlobalMemory, PAGE, Page, Pages, Version, address_of, page_of};
use simt::registers::{LANES, has};
use simt::{Executor, History, Hook, InstructionContext, Interest, NoHook, RunEnd, TrapKind};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;
use strike::Hit;

/// One time that the thread came to the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The instruction by which it came, as a place in the program.
    pub instruction: u32,
    /// How many instructions the thread had executed before it.
    pub executed: u64,
}

/// The arrivals of one run, and global memory right before each.
#[derive(Debug)]
struct LineRun {
    arrivals: Vec<Arrival>,
    /// By the number of the arrival, the pages that the launch has written until then.
    history: History,
    /// Whether the thread came there more often.
    is_cut: bool,
    /// Whether the block was stopped although its threads might have gone on.
    is_unfinished: bool,
}

/// Arrays at a source line within a launch, in the golden run and in a faulty one.
#[derive(Debug)]
pub struct LineSnapshots {
    start: Arc<BlockStart>,
    number: u32,
    expected: LineRun,
    found: LineRun,
    /// The addresses of the pages that either run has written, ascending.
    written: Vec<u64>,
}

/// Looks at memory within the launches of faults, one fault after the other.
#[derive(Debug)]
pub struct LineTracker<'g> {
    golden: &'g Golden,
    index: Option<Arc<Index>>,
    memory: GlobalMemory,
    executor: Executor,
}

/// Where the execution of a block begins. What runs commit stays in their memory, as if it were of this: it says not to be fixed,
/// so that the next run forgets that.
#[derive(Debug)]
struct BlockStart {
    /// Memory as it is then, at the version.
    pages: Arc<dyn Pages>,
    version: Version,
    /// The first block that is executed.
    block: u64,
}

impl Pages for BlockStart {
    fn page(&self, index: u32, _: Version) -> Option<Arc<Page>> {
        self.pages.page(index, self.version)
    }

    fn is_blank(&self, pages: RangeInclusive<u32>) -> bool {
        self.pages.is_blank(pages)
    }

    fn allocations(&self, _: Version) -> Arc<Allocations> {
        self.pages.allocations(self.version)
    }

    fn is_fixed(&self) -> bool {
        false
    }
}

impl CapsuleTarget {
    /// A tracker of many faults at lines: it has memory as it is before a block from the golden index.
    #[must_use]
    pub fn line_tracker(&self) -> LineTracker<'_> {
        let golden = self.golden_run();
        LineTracker::new(golden, (!golden.runs_whole()).then(|| Arc::clone(self.index())))
    }

    /// As [`LineTracker::snapshots`], for one fault: the blocks before its own are executed.
    ///
    /// # Errors
    /// As that.
    pub fn line_snapshots(
        &self,
        fault: &Fault,
        line: &BTreeSet<u32>,
        most: usize,
    ) -> Result<LineSnapshots, InjectError> {
        LineTracker::new(self.golden_run(), None).snapshots(fault, line, most)
    }
}

impl<'g> LineTracker<'g> {
    fn new(golden: &'g Golden, index: Option<Arc<Index>>) -> Self {
        Self { golden, index, memory: GlobalMemory::new(), executor: Executor::new(golden.level) }
    }

    /// The arrivals at a line, which has these instructions, of the thread with the fault: from the instruction that is hit on and
    /// at most `most`, with global memory right before each. A thread comes to a line from another one, back to an earlier
    /// instruction of it, or on from a store of it to global memory; the instruction that is hit is the first arrival if it is of
    /// the line.
    ///
    /// # Errors
    /// If the fault names a place that does not exist, or the blocks of its launch take turns.
    pub fn snapshots(
        &mut self,
        fault: &Fault,
        line: &BTreeSet<u32>,
        most: usize,
    ) -> Result<LineSnapshots, InjectError> {
        let launch = locate(self.golden, fault)?;
        if launch.waits || self.golden.runnable(launch).is_together() {
            return Err(InjectError::Together { launch: fault.launch });
        }
        let start = Arc::new(self.start(launch, fault));
        let expected = self.follow(launch, &start, fault, LineWatch::new(fault, line, most, None));
        let found = self.follow(launch, &start, fault, LineWatch::new(fault, line, most, Some(Hit::new(fault))));
        let written = [&expected, &found].into_iter().flat_map(|run| run.history.written()).map(address_of);
        let written = written.collect::<BTreeSet<u64>>().into_iter().collect();
        Ok(LineSnapshots { start, number: fault.launch, expected, found, written })
    }

    /// Where the execution of the block of a fault begins.
    fn start(&self, launch: &GoldenLaunch, fault: &Fault) -> BlockStart {
        let event = launch.event as u32;
        match &self.index {
            Some(index) if index.launch(fault.launch as usize).is_some() => {
                let version = Version { event, block: fault.cta as u32 };
                BlockStart { pages: Arc::clone(index) as Arc<dyn Pages>, version, block: fault.cta }
            }
            _ => BlockStart { pages: Arc::clone(&self.golden.history), version: Version::before(event), block: 0 },
        }
    }

    /// Executes up to the block of the fault, which the hook looks into.
    fn follow(
        &mut self,
        launch: &GoldenLaunch,
        start: &Arc<BlockStart>,
        fault: &Fault,
        mut watch: LineWatch<'_>,
    ) -> LineRun {
        let Self { golden, memory, executor, .. } = self;
        let pages: Arc<dyn Pages> = Arc::<BlockStart>::clone(start);
        memory.reset(&pages, start.version);
        let runnable = golden.runnable(launch);
        executor.prepare(&runnable);
        for block in start.block..fault.cta {
            executor.run_block(&runnable, memory, block, fuel(golden, launch), &mut NoHook);
        }
        let end = executor.run_block(&runnable, memory, fault.cta, fuel(golden, launch), &mut watch);
        watch.run.is_unfinished = match end {
            RunEnd::Waits => true,
            RunEnd::Trapped(trap) => trap.kind == TrapKind::OutOfFuel,
            RunEnd::Completed | RunEnd::Stopped => false,
        };
        watch.run
    }
}

/// Whether an instruction may write global memory: arrays are in no other.
fn stores_globally(facts: &Facts) -> bool {
    facts.stores && facts.access.is_none_or(|access| matches!(access.space, Space::Global | Space::Generic))
}

/// Sees when a thread comes to a line, while the fault happens if there is one.
struct LineWatch<'l> {
    line: &'l BTreeSet<u32>,
    fault: &'l Fault,
    most: usize,
    hit: Option<Hit<'l>>,
    /// Instructions of the thread that have begun.
    begun: u64,
    /// The instruction before, if it is of the line and does not store to global memory.
    last: Option<u32>,
    run: LineRun,
}

impl<'l> LineWatch<'l> {
    fn new(fault: &'l Fault, line: &'l BTreeSet<u32>, most: usize, hit: Option<Hit<'l>>) -> Self {
        let run = LineRun { arrivals: Vec::new(), history: History::default(), is_cut: false, is_unfinished: false };
        Self { line, fault, most, hit, begun: 0, last: None, run }
    }

    fn warp(&self) -> u32 {
        self.fault.thread / LANES as u32
    }
}

impl Hook for LineWatch<'_> {
    fn wants(&self, warp: u32) -> bool {
        warp == self.warp() || self.hit.as_ref().is_some_and(|hit| hit.wants(warp))
    }

    fn before(&mut self, mut context: InstructionContext<'_>) -> Interest {
        if let Some(hit) = &mut self.hit {
            hit.before(context.again());
        }
        let lane = self.fault.thread as usize % LANES;
        if context.warp != self.warp() || !has(context.active, lane) {
            return Interest::Stay;
        }
        let executed = self.begun;
        self.begun += u64::from(has(context.executing, lane));
        if self.begun <= self.fault.dynamic {
            return Interest::Stay;
        }
        let instruction = context.instruction;
        let is_here = self.line.contains(&instruction);
        let stores = context.program.facts(instruction).is_some_and(stores_globally);
        let last = std::mem::replace(&mut self.last, (is_here && !stores).then_some(instruction));
        if !is_here || last.is_some_and(|last| last < instruction) {
            return Interest::Stay;
        }
        let number = self.run.arrivals.len();
        if number == self.most {
            self.run.is_cut = true;
            return Interest::Stop;
        }
        self.run.history.commit(context.global, number as u32);
        self.run.arrivals.push(Arrival { instruction, executed });
        Interest::Stay
    }

    fn after(&mut self, context: InstructionContext<'_>) -> Interest {
        if let Some(hit) = &mut self.hit {
            hit.after(context);
        }
        Interest::Stay
    }
}

impl LineSnapshots {
    /// The arrivals in the run with the fault.
    #[must_use]
    pub fn arrivals(&self) -> &[Arrival] {
        &self.found.arrivals
    }

    /// The arrivals in the golden run: those with the same numbers are compared.
    #[must_use]
    pub fn golden_arrivals(&self) -> &[Arrival] {
        &self.expected.arrivals
    }

    /// Whether the thread comes to the line more often, in either run.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.expected.is_cut || self.found.is_cut
    }

    /// Whether the block with the fault was stopped although its threads might have gone on: it waits for another block, or
    /// executes more than is waited for.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        self.found.is_unfinished
    }

    /// How bad an array is corrupted at a time that both runs have, if it is.
    #[must_use]
    pub fn corruption(&self, time: usize, array: &Array) -> Option<Corruption> {
        let mut runs = Vec::new();
        // What neither run has written is the same in both.
        let end = array.address + array.bytes();
        let first = self.written.partition_point(|page| page + PAGE as u64 <= array.address);
        for &page in self.written[first..].iter().take_while(|page| **page < end) {
            let (from, to) = (array.address.max(page), end.min(page + PAGE as u64));
            let pages = [&self.expected, &self.found].map(|run| self.page(run, time, page_of(page)));
            let [golden, found] = pages.each_ref().map(|page| page.as_deref().unwrap_or(&[0; PAGE]));
            let (offset, part) = ((from - array.address) as usize, (from - page) as usize..(to - page) as usize);
            runs.extend(differing(array, offset, part, golden, found));
        }
        let change = Change { launch: self.number, array: 0, runs };
        let golden = |offset, bytes| self.bytes(&self.expected, time, array.address + offset, bytes);
        (!change.runs.is_empty()).then(|| measure::corruption(array, &change, golden))
    }

    /// The values of an array at a time that both runs have, in the golden run and in the one with the fault.
    #[must_use]
    pub fn values(&self, time: usize, array: &Array) -> (Vec<f64>, Vec<f64>) {
        let of = |run| array.values(&self.bytes(run, time, array.address, array.bytes()));
        (of(&self.expected), of(&self.found))
    }

    fn bytes(&self, run: &LineRun, time: usize, address: u64, bytes: u64) -> Vec<u8> {
        bytes_of(address, bytes, |page| self.page(run, time, page))
    }

    fn page(&self, run: &LineRun, time: usize, page: u32) -> Option<Arc<Page>> {
        let begun = || self.start.page(page, self.start.version);
        run.history.page(page, Version::before(time as u32)).or_else(begun)
    }
}
