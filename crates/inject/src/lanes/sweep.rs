//! Every fault of a thread.

use super::block_replayer::Independence;
use super::fate::WriteFates;
use super::touches::{Destination, Touches};
use super::{GoldenThread, LANE, Lanes};
use crate::sweep::{SweepOperand, ThreadSweep, Unfinished, UnitTally, one_by_one};
use fault::{Fault, Target};
use outcome::{FirstUse, Landed, Masked, Outcome};
use simt::registers::{FULL, LANES, has, lanes};
use simt::replica::{LaneEnd, Write, WriteMatch};
use strike::Injected;

/// Differences whose end is remembered, at most.
const REMEMBERED: usize = 1 << 16;

/// A destination of a dynamic instruction, all of whose bits are hit.
struct Hit<'a> {
    sweep: &'a ThreadSweep<'a>,
    dynamic: u64,
    operand: SweepOperand,
    destination: Destination,
    first_use: FirstUse,
    /// What the thread writes without a fault.
    writes: &'a [Write],
}

impl Hit<'_> {
    fn fault(&self, bit: u32) -> Fault {
        self.sweep.fault(self.dynamic, self.operand, bit)
    }

    fn is_read(&self) -> bool {
        matches!(self.first_use, FirstUse::Read { .. })
    }

    /// Counts what a lane came to.
    fn count(&self, bit: u32, code: u8, host_visible: bool, tally: &mut UnitTally) {
        tally.tiers().lanes += 1;
        tally.add(self.operand.number, bit, code, host_visible);
    }

    /// Counts all bits as what is known without running.
    fn decide(&self, outcome: Outcome, tally: &mut UnitTally) {
        decide(self.operand, outcome, tally);
    }
}

fn decide(operand: SweepOperand, outcome: Outcome, tally: &mut UnitTally) {
    (0..operand.bits).for_each(|bit| tally.add(operand.number, bit, outcome.code(), false));
    tally.tiers().decided += u64::from(operand.bits);
}

impl Lanes<'_> {
    /// Runs every fault of a thread, `in_lanes` where that is exact; only faults of destinations can be.
    pub(crate) fn sweep(
        &mut self,
        sweep: &ThreadSweep<'_>,
        in_lanes: bool,
        tally: &mut UnitTally,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), Unfinished> {
        let block = sweep.block as u32;
        let destinations =
            matches!(sweep.population.selection.target, fault::TargetKind::Destination | fault::TargetKind::Predicate);
        let alone = self.replayer.enter(sweep.launch as usize, block) != Independence::None && in_lanes && destinations;
        let thread = alone.then(|| self.golden_thread(sweep.thread)).flatten();
        if let Some(thread) = thread {
            let touches = self.replayer.touches(sweep.launch as usize);
            return self.sweep_alone(sweep, &thread, &touches, tally, stop);
        }
        let path = match self.delta.index().launch(sweep.launch as usize) {
            Some(_) => self.replayer.path(sweep.thread),
            None => super::path(self.golden, sweep.launch, sweep.block, sweep.thread),
        };
        one_by_one(sweep, &path, tally, stop, |fault| self.delta.run(fault))
    }

    fn sweep_alone(
        &mut self,
        sweep: &ThreadSweep<'_>,
        thread: &GoldenThread,
        touches: &Touches,
        tally: &mut UnitTally,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), Unfinished> {
        if self.remembered_at != (sweep.launch, sweep.block) {
            self.remembered.clear();
            self.remembered_at = (sweep.launch, sweep.block);
        }
        let (path, writes) = (&thread.path, &thread.writes);
        let mut fates =
            WriteFates::of(self.golden, self.delta.index(), sweep.launch as usize, sweep.block as u32, writes);
        let first_uses = touches.first_uses(path);
        self.replayer.start(&mut self.guide, sweep.thread);
        let mut stepped = 0;
        let executed = path.iter().filter(|(_, executed)| *executed);
        for ((&(instruction, _), uses), dynamic) in executed.zip(&first_uses).zip(0..) {
            for &operand in sweep.population.operands(sweep.launch, instruction) {
                if stop() {
                    return Err(Unfinished::Stopped);
                }
                let mut destinations = touches.destinations(instruction).iter().zip(uses);
                let found =
                    destinations.find(|(destination, _)| Target::Destination(destination.position) == operand.target);
                let Some((&destination, &first_use)) = found else {
                    // It has no row of its own: nothing can be hit.
                    decide(operand, Outcome::NotLanded, tally);
                    continue;
                };
                let hit = Hit { sweep, dynamic, operand, destination, first_use, writes };
                if !hit.is_read() && self.is_private(sweep.launch, destination) {
                    hit.decide(Outcome::Masked(Masked::by(first_use)), tally);
                    continue;
                }
                self.replayer.run(&mut self.guide, sweep.thread, Some(dynamic + 1 - stepped));
                stepped = dynamic + 1;
                for first in (0..operand.bits).step_by(LANES) {
                    self.batch(&hit, first, &mut fates, tally)?;
                }
            }
        }
        Ok(())
    }

    /// Whether a value that its thread does not read is read by nobody, and does not come back once it is overwritten.
    fn is_private(&self, launch: u32, destination: Destination) -> bool {
        let liveness = self.delta.index().liveness(launch as usize);
        liveness.is_some_and(|liveness| liveness.is_private(destination.slot))
    }

    /// Runs up to 32 bits of a destination from one on.
    fn batch(
        &mut self,
        hit: &Hit<'_>,
        first: u32,
        fates: &mut WriteFates,
        tally: &mut UnitTally,
    ) -> Result<(), Unfinished> {
        let count = (hit.operand.bits - first).min(LANES as u32);
        let mask = FULL >> (LANES as u32 - count);
        let before = self.guide.get(hit.destination.slot, LANE);
        self.carrier.copy_from(&self.guide);
        if mask != FULL {
            self.carrier.keep(mask);
        }
        for lane in lanes(mask) {
            self.carrier.set(hit.destination.slot, lane, before ^ (1 << (first + lane as u32)));
        }
        self.replayer.run(&mut self.carrier, hit.sweep.thread, None);
        let compared = self.carrier.compare(hit.writes);
        for lane in lanes(mask) {
            let bit = first + lane as u32;
            match self.carrier.end(lane) {
                LaneEnd::Escaped => {
                    let observation = self.delta.run(&hit.fault(bit))?;
                    hit.sweep.count(hit.operand, bit, &observation, tally);
                }
                LaneEnd::Exited => self.exited(hit, (lane, bit), compared, fates, tally)?,
                LaneEnd::Trapped { .. } => self.follow(hit, (lane, bit), &[], tally)?,
            }
        }
        Ok(())
    }

    /// Counts a lane that ran to the end of the thread.
    fn exited(
        &mut self,
        hit: &Hit<'_>,
        (lane, bit): (usize, u32),
        compared: WriteMatch,
        fates: &mut WriteFates,
        tally: &mut UnitTally,
    ) -> Result<(), Unfinished> {
        if has(compared.same, lane) {
            hit.count(bit, Outcome::Masked(Masked::by(hit.first_use)).code(), false, tally);
            return Ok(());
        }
        if has(compared.alike, lane) && hit.is_read() {
            let writes = self.carrier.writes(lane).zip(hit.writes).enumerate();
            let differing = writes.filter(|(_, (found, expected))| found != *expected);
            let differing = differing.map(|(at, (found, _))| (at, found));
            if let Some((outcome, host_visible)) = fates.judge(self.golden, hit.sweep.criteria, differing) {
                hit.count(bit, outcome.code(), host_visible, tally);
                return Ok(());
            }
        }
        // The rest of the program is a function of memory after the block: the same difference has the same end.
        let difference = self.replayer.difference(hit.writes, self.carrier.writes(lane));
        match self.remembered.get(&difference) {
            Some(&(code, host_visible)) if hit.is_read() => hit.count(bit, code, host_visible, tally),
            _ => self.follow(hit, (lane, bit), &difference, tally)?,
        }
        Ok(())
    }

    /// Follows what a lane left behind to the end of the program, and remembers what came of it.
    fn follow(
        &mut self,
        hit: &Hit<'_>,
        (lane, bit): (usize, u32),
        difference: &[(u64, u8)],
        tally: &mut UnitTally,
    ) -> Result<(), Unfinished> {
        let before = self.guide.get(hit.destination.slot, LANE);
        let landed = Some(Landed { before, after: before ^ (1 << bit), threads: 1 });
        let injected = Injected { landed, first_use: hit.first_use };
        let observation = self.conclude(&hit.fault(bit), injected, lane, difference)?;
        let outcome = hit.sweep.count(hit.operand, bit, &observation, tally);
        let ended = self.carrier.end(lane) == LaneEnd::Exited;
        if ended && hit.is_read() && self.remembered.len() < REMEMBERED {
            self.remembered.insert(difference.to_vec(), (outcome.code(), observation.host_visible));
        }
        Ok(())
    }
}
