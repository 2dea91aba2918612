//! Every fault of a thread.

use super::fate::Fates;
use super::stand::Footing;
use super::touches::{Destination, Touches};
use super::{LANE, Lanes};
use crate::run::Struck;
use crate::sweep::{Aim, Operand, Tally, Unfinished, one_by_one};
use campaign::{FirstUse, Landed, Masked, Outcome};
use fault::Fault;
use simt::registers::{FULL, LANES, has, lanes};
use simt::replica::{Compared, LaneEnd, Write};

/// Differences whose end is remembered, at most.
const REMEMBERED: usize = 1 << 16;

/// A destination of a dynamic instruction, all of whose bits are hit.
struct Hit {
    dynamic: u64,
    operand: Operand,
    destination: Destination,
    first_use: FirstUse,
}

/// What a thread leaves behind, and what becomes of it.
struct GoldenThread<'a> {
    writes: &'a [Write],
    fates: Fates,
}

impl Lanes<'_> {
    /// Runs every fault of a thread, `in_lanes` where that is exact.
    pub(crate) fn sweep(
        &mut self,
        aim: &Aim<'_>,
        in_lanes: bool,
        tally: &mut Tally,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), Unfinished> {
        let block = aim.block as u32;
        let alone = self.stand.enter(aim.launch as usize, block) != Footing::None && in_lanes;
        let thread = alone.then(|| self.golden_thread(aim.thread)).flatten();
        let touches = self.stand.touches(aim.launch as usize);
        if let Some(((path, writes), touches)) = thread.zip(touches) {
            return self.sweep_alone(aim, &path, &writes, &touches, tally, stop);
        }
        let path = match self.delta.index().launch(aim.launch as usize) {
            Some(_) => self.stand.path(aim.thread),
            None => super::path(self.golden, aim.launch, aim.block, aim.thread),
        };
        one_by_one(aim, &path, tally, stop, |fault| self.delta.run(fault))
    }

    fn sweep_alone(
        &mut self,
        aim: &Aim<'_>,
        path: &[(u32, bool)],
        writes: &[Write],
        touches: &Touches,
        tally: &mut Tally,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), Unfinished> {
        if self.remembered_at != (aim.launch, aim.block) {
            self.remembered.clear();
            self.remembered_at = (aim.launch, aim.block);
        }
        let first_uses = touches.first_uses(path);
        let fates = Fates::of(self.golden, self.delta.index(), aim.launch as usize, aim.block as u32, writes);
        let mut golden = GoldenThread { writes, fates };
        self.stand.start(&mut self.guide, aim.thread);
        let mut stepped = 0;
        let executed = path.iter().filter(|(_, executed)| *executed);
        for ((&(site, _), uses), dynamic) in executed.zip(&first_uses).zip(0..) {
            for &operand in aim.population.operands(aim.launch, site) {
                if stop() {
                    return Err(Unfinished::Stopped);
                }
                let destinations = touches.destinations(site).iter().zip(uses);
                let found = destinations.clone().find(|(destination, _)| destination.position == operand.position);
                let Some((&destination, &first_use)) = found else {
                    // It has no row of its own: nothing can be hit.
                    (0..operand.bits).for_each(|bit| tally.add(operand.number, bit, Outcome::NotLanded.code(), false));
                    tally.tiers().decided += u64::from(operand.bits);
                    continue;
                };
                if let Some(masked) = touches.decided(first_use) {
                    let code = Outcome::Masked(masked).code();
                    (0..operand.bits).for_each(|bit| tally.add(operand.number, bit, code, false));
                    tally.tiers().decided += u64::from(operand.bits);
                    continue;
                }
                self.stand.run(&mut self.guide, aim.thread, Some(dynamic + 1 - stepped));
                stepped = dynamic + 1;
                let hit = Hit { dynamic, operand, destination, first_use };
                for first in (0..operand.bits).step_by(LANES) {
                    self.batch(aim, &hit, first, &mut golden, tally)?;
                }
            }
        }
        Ok(())
    }

    /// Runs up to 32 bits of a destination from one on.
    fn batch(
        &mut self,
        aim: &Aim<'_>,
        hit: &Hit,
        first: u32,
        golden: &mut GoldenThread<'_>,
        tally: &mut Tally,
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
        self.stand.run(&mut self.carrier, aim.thread, None);
        let Compared { same, alike } = self.carrier.compare(golden.writes);
        for lane in lanes(mask) {
            let bit = first + lane as u32;
            let end = self.carrier.end(lane);
            if end == LaneEnd::Exited && has(same, lane) {
                tally.tiers().lanes += 1;
                tally.add(hit.operand.number, bit, Outcome::Masked(Masked::by(hit.first_use)).code(), false);
                continue;
            }
            if end == LaneEnd::Exited && has(alike, lane) && matches!(hit.first_use, FirstUse::Read { .. }) {
                let writes = self.carrier.writes(lane).zip(golden.writes).enumerate();
                let differing = writes.filter(|(_, (found, expected))| found != *expected);
                let differing = differing.map(|(at, (found, _))| (at, found));
                if let Some((outcome, host_visible)) = golden.fates.judge(self.golden, aim.criteria, differing) {
                    tally.tiers().lanes += 1;
                    tally.add(hit.operand.number, bit, outcome.code(), host_visible);
                    continue;
                }
            }
            let fault = aim.fault(hit.dynamic, hit.operand, bit);
            if end == LaneEnd::Escaped {
                let observation = self.delta.run(&fault)?;
                aim.count(hit.operand, bit, &observation, tally);
                continue;
            }
            let after = before ^ (1 << bit);
            let struck = Struck { landed: Some(Landed { before, after }), first_use: hit.first_use };
            self.conclude_once(aim, hit, (lane, bit), &fault, struck, golden.writes, tally);
        }
        Ok(())
    }

    /// Concludes what a lane leaves behind, or remembers what came of it: the rest of the program is a function of
    /// memory after the block.
    fn conclude_once(
        &mut self,
        aim: &Aim<'_>,
        hit: &Hit,
        (lane, bit): (usize, u32),
        fault: &Fault,
        struck: Struck,
        writes: &[Write],
        tally: &mut Tally,
    ) {
        if self.carrier.end(lane) != LaneEnd::Exited {
            let observation = self.conclude(fault, struck, lane, &[]);
            aim.count(hit.operand, bit, &observation, tally);
            return;
        }
        let difference = self.stand.difference(writes, self.carrier.writes(lane));
        if let Some(&(code, host_visible)) = self.remembered.get(&difference) {
            tally.tiers().lanes += 1;
            tally.add(hit.operand.number, bit, code, host_visible);
            return;
        }
        let observation = self.conclude(fault, struck, lane, &difference);
        let outcome = aim.count(hit.operand, bit, &observation, tally);
        let read = matches!(hit.first_use, FirstUse::Read { .. });
        if read && self.remembered.len() < REMEMBERED {
            self.remembered.insert(difference, (outcome.code(), observation.host_visible));
        }
    }
}

impl Touches {
    /// Why a value changes nothing that is first used like this, if that is certain without running: it is not where a
    /// call may keep registers for its caller.
    fn decided(&self, first_use: FirstUse) -> Option<Masked> {
        let unread = !matches!(first_use, FirstUse::Read { .. });
        (unread && !self.keeps_registers()).then(|| Masked::by(first_use))
    }
}
