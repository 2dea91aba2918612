//! Tier 2: many faults of one thread at once, each in a lane of one warp.
//!
//! One thread is run alone, in every lane of a warp ([`Replica`]): all lanes alike up to the instruction that is hit, then
//! each with a fault of its own. Where the threads of the block depend on no other, each goes its own way; elsewhere it
//! goes by the record of what the thread did, as long as others would notice nothing. What a lane leaves behind is
//! compared with what the thread left behind in the golden run, and the difference goes the way of every difference
//! ([`Delta`]). A lane that escapes is run again by that tier from the start.

mod block_replayer;
mod fate;
mod record;
mod sweep;
mod touches;

use crate::delta::Delta;
use crate::final_memory::FinalMemory;
use crate::golden::Golden;
use crate::index::Index;
use crate::run::{InjectError, Progress, locate, observe};
use block_replayer::{BlockReplayer, Independence};
use fault::{Fault, Scope, Target};
use outcome::{Landed, Observation, Tier};
use record::Recorder;
use simt::memory::GlobalMemory;
use simt::registers::LANES;
use simt::replica::guide::Ports;
use simt::replica::{LaneEnd, Write};
use simt::{Executor, Replica, Trap};
use std::collections::HashMap;
use std::sync::Arc;
use strike::Injected;
pub(crate) use touches::Touches;

/// Runs faults in lanes where that is exact, and by executing what they can change elsewhere.
#[derive(Debug)]
pub(crate) struct Lanes<'g> {
    golden: &'g Golden,
    delta: Delta<'g>,
    replayer: BlockReplayer<'g>,
    /// Goes along the golden path.
    guide: Replica,
    /// Carries the faults.
    carrier: Replica,
    /// What came of differences that a block left behind, and which block that was.
    remembered: HashMap<Vec<(u64, u8)>, (u8, bool)>,
    remembered_at: (u32, u64),
}

/// What a thread does without a fault.
struct GoldenThread {
    /// The instructions that it comes to, and whether it executes them.
    path: Vec<(u32, bool)>,
    /// What it writes to global memory, in order.
    writes: Vec<Write>,
}

/// The lane that a single fault is run in.
const LANE: usize = 0;

impl<'g> Lanes<'g> {
    /// A runner with memory of its own.
    pub(crate) fn new(golden: &'g Golden, index: &Arc<Index>) -> Self {
        Self {
            golden,
            delta: Delta::new(golden, index),
            replayer: BlockReplayer::new(golden, index),
            guide: Replica::new(golden.level),
            carrier: Replica::new(golden.level),
            remembered: HashMap::new(),
            remembered_at: (0, 0),
        }
    }

    /// How memory differs at the end of the run before, if that completed.
    pub(crate) fn final_memory(&mut self) -> FinalMemory {
        self.delta.final_memory()
    }

    /// The observation of one fault: equal to that of full re-execution.
    pub(crate) fn run(&mut self, fault: &Fault) -> Result<Observation, InjectError> {
        locate(self.golden, fault)?;
        match self.alone(fault) {
            Some(observation) => observation,
            None => self.delta.run(fault),
        }
    }

    /// The observation of a fault in a destination whose thread can be run alone.
    fn alone(&mut self, fault: &Fault) -> Option<Result<Observation, InjectError>> {
        let (launch, block) = (fault.launch as usize, fault.cta as u32);
        let (Target::Destination(position), Scope::Thread) = (fault.target, fault.scope) else { return None };
        if self.replayer.enter(launch, block) == Independence::None {
            return None;
        }
        let touches = self.replayer.touches(launch);
        let GoldenThread { path, writes } = self.golden_thread(fault.thread)?;
        self.replayer.start(&mut self.carrier, fault.thread);
        let reached = self.replayer.run(&mut self.carrier, fault.thread, Some(fault.dynamic + 1));
        let executed = path.iter().filter(|(_, executed)| *executed).nth(fault.dynamic as usize);
        let injected = executed.filter(|_| reached).and_then(|&(instruction, _)| {
            let at =
                touches.destinations(instruction).iter().position(|destination| destination.position == position)?;
            let slot = touches.destinations(instruction)[at].slot;
            fault.model.fits(slot.width.bits()).then_some((at, slot))
        });
        let Some((at, slot)) = injected else {
            // Nothing is hit, and nothing changes.
            self.replayer.run(&mut self.carrier, fault.thread, None);
            return Some(self.conclude_alone(fault, Injected::NOTHING, &writes));
        };
        let before = self.carrier.get(slot, LANE);
        let after = fault.model.apply(before);
        self.carrier.keep(1 << LANE);
        self.carrier.set(slot, LANE, after);
        self.replayer.run(&mut self.carrier, fault.thread, None);
        let first_use = touches.first_uses(&path)[fault.dynamic as usize][at];
        let injected = Injected { landed: Some(Landed { before, after, threads: 1 }), first_use };
        (self.carrier.end(LANE) != LaneEnd::Escaped).then(|| self.conclude_alone(fault, injected, &writes))
    }

    /// The path of a thread of the block, and what it writes; none if it does something that is not its own affair.
    fn golden_thread(&mut self, thread: u32) -> Option<GoldenThread> {
        self.replayer.start(&mut self.guide, thread);
        self.replayer.run(&mut self.guide, thread, Some(u64::MAX - 1));
        let alone = self.guide.end(LANE) == LaneEnd::Exited;
        let path = || self.guide.path().to_vec();
        alone.then(|| GoldenThread { path: path(), writes: self.guide.writes(LANE).collect() })
    }

    /// The observation of the fault that a lane of the carrier has run with, and has left this difference behind.
    fn conclude(
        &mut self,
        fault: &Fault,
        injected: Injected,
        lane: usize,
        difference: &[(u64, u8)],
    ) -> Result<Observation, InjectError> {
        let (number, block) = (fault.launch as usize, fault.cta as u32);
        let count = u64::from(self.carrier.count(lane));
        let mut progress = Progress { instructions: count, thread_instructions: count, ..Progress::default() };
        self.delta.count_strays(number, block, self.carrier.strayed(lane), &mut progress);
        if let LaneEnd::Trapped { kind, instruction, address } = self.carrier.end(lane) {
            let trap = Trap { kind, instruction, block: fault.cta, thread: fault.thread, address };
            progress.trap = Some((number, trap));
        } else {
            self.delta.spread(number, block, difference, &mut progress);
            if self.delta.has_waited() {
                return self.delta.run(fault);
            }
        }
        Ok(observe(self.golden, fault, injected, progress, Tier::Lanes))
    }

    /// Concludes a fault that is alone in the carrier.
    fn conclude_alone(
        &mut self,
        fault: &Fault,
        injected: Injected,
        golden: &[Write],
    ) -> Result<Observation, InjectError> {
        let difference = self.replayer.difference(golden, self.carrier.writes(LANE));
        self.conclude(fault, injected, LANE, &difference)
    }
}

/// The path of a thread, found by running its launch once more.
pub(crate) fn path(golden: &Golden, launch: u32, block: u64, thread: u32) -> Vec<(u32, bool)> {
    let golden_launch = &golden.launches[launch as usize];
    let ports = vec![Ports::default(); golden_launch.program.instructions.len()];
    let mut recorder = Recorder::new(&ports, thread / LANES as u32);
    let (mut memory, mut executor) = (GlobalMemory::new(), Executor::new(golden.level));
    golden.rerun(golden_launch, &mut memory, &mut executor, &mut recorder, |_, at, _| at == block);
    std::mem::take(&mut recorder.finish()[thread as usize % LANES].path)
}
