//! Tier 2: many faults of one thread at once, each in a lane of one warp.
//!
//! One thread is run alone, in every lane of a warp ([`Replica`]): all lanes alike up to the instruction that is hit, then
//! each with a fault of its own. Where the threads of the block depend on no other, each goes its own way; elsewhere it
//! goes by the record of what the thread did, as long as others would notice nothing. What a lane leaves behind is
//! compared with what the thread left behind in the golden run, and the difference goes the way of every difference
//! ([`Delta`]). A lane that escapes is run again by that tier from the start.

mod record;
mod stand;
mod touches;

use crate::delta::Delta;
use crate::final_memory::FinalMemory;
use crate::golden::Golden;
use crate::index::Index;
use crate::run::{Progress, RunError, Struck, locate, observe};
use campaign::{Landed, Observation, Tier};
use fault::{Fault, Target};
use simt::replica::{LaneEnd, Write};
use simt::{Replica, Trap};
use stand::{Footing, Stand};
use std::sync::Arc;

/// Runs faults in lanes where that is exact, and by executing what they can change elsewhere.
#[derive(Debug)]
pub(crate) struct Lanes<'g> {
    golden: &'g Golden,
    delta: Delta<'g>,
    stand: Stand<'g>,
    /// Goes along the golden path.
    guide: Replica,
    /// Carries the faults.
    carrier: Replica,
}

/// The lane that a single fault is run in.
const LANE: usize = 0;

impl<'g> Lanes<'g> {
    /// A runner with memory of its own.
    pub(crate) fn new(golden: &'g Golden, index: &Arc<Index>) -> Self {
        Self {
            golden,
            delta: Delta::new(golden, index),
            stand: Stand::new(golden, index),
            guide: Replica::new(golden.level),
            carrier: Replica::new(golden.level),
        }
    }

    /// How memory differs at the end of the run before, if that completed.
    pub(crate) fn final_memory(&self) -> FinalMemory {
        self.delta.final_memory()
    }

    /// The observation of one fault: equal to that of full re-execution.
    pub(crate) fn run(&mut self, fault: &Fault) -> Result<Observation, RunError> {
        locate(self.golden, fault)?;
        match self.alone(fault) {
            Some(observation) => Ok(observation),
            None => self.delta.run(fault),
        }
    }

    /// The observation of a fault whose thread can be run alone.
    fn alone(&mut self, fault: &Fault) -> Option<Observation> {
        let (launch, block) = (fault.launch as usize, fault.cta as u32);
        if self.stand.enter(launch, block) == Footing::None {
            return None;
        }
        let touches = self.stand.touches(launch)?;
        let (path, writes) = self.golden_thread(fault.thread)?;
        self.stand.start(&mut self.carrier, fault.thread);
        let reached = self.stand.run(&mut self.carrier, fault.thread, Some(fault.dynamic + 1));
        let executed = path.iter().filter(|(_, executed)| *executed).nth(fault.dynamic as usize);
        let struck = executed.filter(|_| reached).and_then(|&(site, _)| {
            let Target::Destination(position) = fault.target;
            let at = touches.destinations(site).iter().position(|destination| destination.position == position)?;
            let slot = touches.destinations(site)[at].slot;
            (fault.model.highest_bit() < slot.width.bits()).then_some((at, slot))
        });
        let Some((at, slot)) = struck else {
            // Nothing is hit, and nothing changes.
            self.stand.run(&mut self.carrier, fault.thread, None);
            return Some(self.conclude(fault, Struck::NOTHING, &writes));
        };
        let before = self.carrier.get(slot, LANE);
        let after = fault.model.apply(before);
        self.carrier.keep(1 << LANE);
        self.carrier.set(slot, LANE, after);
        self.stand.run(&mut self.carrier, fault.thread, None);
        let first_use = touches.first_uses(&path)[fault.dynamic as usize][at];
        let struck = Struck { landed: Some(Landed { before, after }), first_use };
        (self.carrier.end(LANE) != LaneEnd::Escaped).then(|| self.conclude(fault, struck, &writes))
    }

    /// The path of a thread of the block, and what it writes; none if it does something that is not its own affair.
    fn golden_thread(&mut self, thread: u32) -> Option<(Vec<(u32, bool)>, Vec<Write>)> {
        self.stand.start(&mut self.guide, thread);
        self.stand.run(&mut self.guide, thread, Some(u64::MAX - 1));
        let alone = self.guide.end(LANE) == LaneEnd::Exited;
        alone.then(|| (self.guide.path().to_vec(), self.guide.writes(LANE).collect()))
    }

    /// The observation of the fault that the carrier's lane has run with.
    fn conclude(&mut self, fault: &Fault, struck: Struck, golden: &[Write]) -> Observation {
        let number = fault.launch as usize;
        let mut progress = Progress {
            instructions: u64::from(self.carrier.count(LANE)),
            thread_instructions: u64::from(self.carrier.count(LANE)),
            ..Progress::default()
        };
        let strayed = self.carrier.strayed(LANE);
        match self.carrier.end(LANE) {
            LaneEnd::Trapped { kind, site } => {
                let trap = Trap { kind, site, block: fault.cta, thread: fault.thread, address: None };
                progress.trap = Some((number, trap));
                self.delta.count_strays(number, fault.cta as u32, strayed, &mut progress);
            }
            _ => {
                let difference = self.stand.difference(golden, self.carrier.writes(LANE));
                self.delta.count_strays(number, fault.cta as u32, strayed, &mut progress);
                self.delta.spread(number, fault.cta as u32, &difference, &mut progress);
            }
        }
        observe(self.golden, fault, struck, progress, Tier::Lanes)
    }
}
