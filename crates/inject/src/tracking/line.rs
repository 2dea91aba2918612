//! Which arrays differ within a launch, whenever the thread with the fault comes to a source line.
//!
//! The blocks before that of the thread are executed, then that block until the thread has come to the line often enough: once
//! without the fault, and once with it. Before each instruction by which the thread comes to the line, the pages are kept that
//! have changed since the time before.

use super::array::{Array, Change};
use super::bytes_of;
use super::measure::{self, Corruption};
use super::witness::differing;
use crate::golden::{Golden, GoldenLaunch};
use crate::run::{InjectError, fuel, locate};
use crate::target::CapsuleTarget;
use fault::Fault;
use simt::memory::{ByteRun, GlobalMemory, PAGE, Page, Pages, Version};
use simt::registers::{LANES, has};
use simt::{Executor, History, Hook, InstructionContext, Interest, NoHook, RunEnd, TrapKind};
use std::collections::BTreeSet;
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
pub struct LineSnapshots<'g> {
    golden: &'g Golden,
    launch: &'g GoldenLaunch,
    number: u32,
    expected: LineRun,
    found: LineRun,
}

impl CapsuleTarget {
    /// The arrivals at a line, which has these instructions, of the thread with the fault: from the instruction that is hit on and
    /// at most `most`, with global memory right before each. A thread comes to a line from another one, back to an earlier
    /// instruction of it, or on from a store of it; the instruction that is hit is the first arrival if it is of the line.
    ///
    /// # Errors
    /// If the fault names a place that does not exist, or the blocks of its launch take turns.
    pub fn line_snapshots(
        &self,
        fault: &Fault,
        line: &BTreeSet<u32>,
        most: usize,
    ) -> Result<LineSnapshots<'_>, InjectError> {
        let golden = self.golden_run();
        let launch = locate(golden, fault)?;
        if launch.waits || golden.runnable(launch).is_together() {
            return Err(InjectError::Together { launch: fault.launch });
        }
        let run = |hit| follow(golden, launch, fault, LineWatch::new(fault, line, most, hit));
        let (expected, found) = (run(None), run(Some(Hit::new(fault))));
        Ok(LineSnapshots { golden, launch, number: fault.launch, expected, found })
    }
}

/// Executes the launch up to the block of the fault, which the hook looks into.
fn follow(golden: &Golden, launch: &GoldenLaunch, fault: &Fault, mut watch: LineWatch<'_>) -> LineRun {
    let (mut memory, mut executor) = (GlobalMemory::new(), Executor::new(golden.level));
    memory.reset(&golden.history, Version::before(launch.event as u32));
    let runnable = golden.runnable(launch);
    executor.prepare(&runnable);
    for block in 0..fault.cta {
        executor.run_block(&runnable, &mut memory, block, fuel(golden, launch), &mut NoHook);
    }
    let end = executor.run_block(&runnable, &mut memory, fault.cta, fuel(golden, launch), &mut watch);
    watch.run.is_unfinished = match end {
        RunEnd::Waits => true,
        RunEnd::Trapped(trap) => trap.kind == TrapKind::OutOfFuel,
        RunEnd::Completed | RunEnd::Stopped => false,
    };
    watch.run
}

/// Sees when a thread comes to a line, while the fault happens if there is one.
struct LineWatch<'l> {
    line: &'l BTreeSet<u32>,
    fault: &'l Fault,
    most: usize,
    hit: Option<Hit<'l>>,
    /// Instructions of the thread that have begun.
    begun: u64,
    /// The instruction before, if it is of the line and does not store.
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
        let stores = context.program.facts(instruction).is_some_and(|facts| facts.stores);
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

impl LineSnapshots<'_> {
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
        let mut offset = 0;
        for part in ByteRun::of(array.address, array.bytes()) {
            let pages = [&self.expected, &self.found].map(|run| self.page(run, time, part.page));
            let [golden, found] = pages.each_ref().map(|page| page.as_deref().unwrap_or(&[0; PAGE]));
            runs.extend(differing(array, offset, part.range(), golden, found));
            offset += part.range().len();
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
        let begun = || self.golden.history.page(page, Version::before(self.launch.event as u32));
        run.history.page(page, Version::before(time as u32)).or_else(begun)
    }
}
