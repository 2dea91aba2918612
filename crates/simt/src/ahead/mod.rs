//! Looking ahead in loops.
//!
//! A thread that executes far more than it did without a fault is in a loop. Where nobody else in its block can run, what the
//! loop does depends on its own registers and on memory that it alone writes. Three iterations show by which step each register
//! grows; one more is executed while this is proven, instruction by instruction, and while it is found out for how many
//! iterations all comparisons come out the same, all loads find the same and all addresses stay where memory is mapped. By
//! induction the iterations up to the first that may be otherwise are known: they are skipped, and the rest is executed. If
//! there is no such iteration the loop never ends.
//!
//! What is skipped is what would have been executed: results do not depend on whether somebody looked ahead, but for the
//! word for a thread that is stopped. See docs/design/hangs.md.

mod abreast;
mod accesses;
mod linear;
mod loop_detector;
mod observer;
mod progression;
mod range;
mod steps;
mod sums;
mod touched;
mod trace;
mod value;

use crate::control::Executed;
use crate::exec::{Notes, Running};
use crate::launch::KernelLaunch;
use crate::memory::GlobalMemory;
use crate::state::BlockState;
use crate::trap::{Halt, Trap, TrapKind};
use ::lanes::level::LevelName;
use ::lanes::registers::LANES;
use abreast::{Abreast, independent};
use loop_detector::Loop;
pub(crate) use loop_detector::LoopDetector;
use observer::Observer;
use progression::FOREVER;
use steps::{Held, Steps};
use touched::{steady, store_all, strays};
use trace::{Trace, Unclear};

/// Instructions in which the loops of a warp are looked for, at most.
const LONGEST_SCOUT: u64 = 1 << 16;
/// The longest iteration that is looked at, in instructions.
const LONGEST_BODY: u64 = 1 << 14;
/// How often a loop must come round to be looked at.
const FEWEST_ROUNDS: usize = 4;
/// How many times what is supposed of registers is corrected.
const CORRECTIONS: usize = 6;
/// Instructions in which the data of a loop settle that do so at all, swept in records/hangs.md. A thread that has executed
/// more in a loop that is known to go on for longer than the rest of its fuel lasts is stopped then and there.
const SETTLING: u32 = 50_000;
/// The same where nothing is computed in floating point: whole numbers settle soon or never.
const SETTLING_WHOLE: u32 = 10_000;
/// The fewest iterations that are worth skipping.
const FEWEST: u64 = 4;
/// The most that are skipped: enough for any counter of 32 bits. A loop that goes on for longer (a 64-bit pointer on its way
/// through memory that never faults) would do so for hours: it hangs.
const MOST: u64 = 1 << 32;
/// Real instructions of a loop: one that needs more than this number, each of which would have to be executed, is a hang.
/// Swept in records/hangs.md.
pub const REACH: u64 = 1 << 33;

/// The block that a warp is alone in.
pub(crate) struct Ahead<'a, 'l> {
    pub(crate) level: LevelName,
    pub(crate) state: &'a mut BlockState,
    pub(crate) notes: &'a mut Notes,
    pub(crate) launch: &'a KernelLaunch<'l>,
    pub(crate) memory: &'a mut GlobalMemory,
    pub(crate) block: u64,
}

/// What came of running a warp while somebody observed it.
enum Ran {
    /// It is where it should come to.
    There,
    /// It has ended, waits, or went too far.
    Elsewhere,
}

/// What came of looking at a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    /// Iterations were skipped.
    Skipped,
    /// None could be.
    Nothing(Known),
    /// The loop was left meanwhile.
    Left,
}

/// What is known of a loop of which nothing is skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Known {
    /// The number of registers whose value in the next iteration is unknown.
    unknown: usize,
    /// Whether it is known for how many iterations it goes on as it does.
    is_clear: bool,
    /// Whether it loads from addresses that move.
    loads_move: bool,
}

impl Ahead<'_, '_> {
    /// Looks at the only warp that can run, if there is one, and skips iterations of the loop that it is in.
    ///
    /// # Errors
    /// What a lane does wrong meanwhile, or that it never ends.
    pub(crate) fn look(mut self) -> Result<(), Halt> {
        let Some(warp) = self.runner() else {
            self.state.lookout.postpone(self.issued());
            return Ok(());
        };
        let skipped = self.skip(warp)?;
        let issued = self.issued();
        self.state.lookout.looked(issued, skipped);
        Ok(())
    }

    /// What the warp has issued that issued most.
    fn issued(&self) -> u64 {
        self.state.warps.iter().map(|warp| warp.control.issued).max().unwrap_or(0)
    }

    /// The only warp of the block of which something can run: one group of lanes.
    fn runner(&self) -> Option<usize> {
        let mut ready = self.state.warps.iter().enumerate().filter(|(_, warp)| warp.control.can_go());
        let (index, warp) = ready.next()?;
        let alone = ready.next().is_none();
        let groups = warp.control.groups.iter().filter(|group| group.state.is_ready()).count();
        (alone && groups == 1).then_some(index)
    }

    /// Runs the warp with an observer.
    fn run(&mut self, warp: usize, observer: &mut Observer) -> Result<Ran, Halt> {
        loop {
            let Self { level, state, notes, launch, memory, block } = self;
            let BlockState { warps, shared, .. } = &mut **state;
            let running = Running::new(launch, *block, &mut warps[warp], memory, shared, notes);
            let mut running = running.without_end();
            match observer.observe(*level, &mut running) {
                Err(Halt::Stop) if observer.arrived => return Ok(Ran::There),
                Err(Halt::Stop) => return Ok(Ran::Elsewhere),
                Err(halt) => return Err(halt),
                Ok(()) => {}
            }
            let completed = self.state.complete_barriers(self.notes.arrivals.drain(..));
            if !completed || self.runner() != Some(warp) {
                return Ok(Ran::Elsewhere);
            }
        }
    }

    /// Finds a loop and skips what is known of it; whether anything was skipped.
    fn skip(&mut self, warp: usize) -> Result<bool, Halt> {
        if let Some(last) = self.state.lookout.last.take() {
            match self.try_loop(warp, last, usize::MAX)? {
                Tried::Nothing(_) => {}
                tried => return Ok(tried == Tried::Skipped),
            }
        }
        let reach = self.state.lookout.pause.min(LONGEST_SCOUT);
        let mut scout = Observer::new(reach);
        self.run(warp, &mut scout)?;
        for head in heads(&scout.jumps) {
            let mut fewest = usize::MAX;
            for rounds in [1, 2, 4] {
                let looked = Loop { head, rounds, strict: false };
                let known = match self.try_loop(warp, looked, fewest)? {
                    Tried::Nothing(known) => known,
                    tried => return Ok(tried == Tried::Skipped),
                };
                if known.loads_move {
                    match self.try_loop(warp, Loop { strict: true, ..looked }, fewest)? {
                        Tried::Nothing(_) => {}
                        tried => return Ok(tried == Tried::Skipped),
                    }
                }
                fewest = if known.is_clear { known.unknown } else { fewest };
            }
        }
        Ok(false)
    }

    /// Looks at so many rounds of a loop as one iteration, if there are fewer registers than so many of which it does not seem
    /// to be known how they change.
    fn try_loop(&mut self, warp: usize, looked: Loop, fewest: usize) -> Result<Tried, Halt> {
        let Loop { head, rounds, strict } = looked;
        if self.runner() != Some(warp) {
            return Ok(Tried::Left);
        }
        if let Ran::Elsewhere = self.run(warp, &mut Observer::to(head, 0, LONGEST_BODY))? {
            return Ok(Tried::Left);
        }
        let round = |trace| Observer { trace, ..Observer::to(head, rounds, LONGEST_BODY) };
        let mut kept = [self.held(warp), Held::default(), Held::default()];
        for place in 1..3 {
            if let Ran::Elsewhere = self.run(warp, &mut round(None))? {
                return Ok(Tried::Left);
            }
            kept[place] = self.held(warp);
        }
        let lanes = self.lanes(warp);
        let alone = self.is_alone(warp, lanes);
        let Some(mut supposed) = Steps::guess([&kept[0], &kept[1], &kept[2]]) else { return Ok(Tried::Left) };
        let mut known = Known { unknown: supposed.unknown(), ..Known::default() };
        if known.unknown >= fewest {
            return Ok(Tried::Nothing(known));
        }
        let mut changing = Vec::new();
        let [.., mut before] = kept;
        for _ in 0..CORRECTIONS {
            let executed = self.state.warps[warp].control.executed();
            let mut observer = round(Some(Trace::new(supposed.clone(), changing.clone(), strict, alone)));
            if let Ran::Elsewhere = self.run(warp, &mut observer)? {
                return Ok(Tried::Left);
            }
            let Some(trace) = observer.trace else { return Ok(Tried::Left) };
            let after = self.held(warp);
            if self.lanes(warp) != lanes {
                return Ok(Tried::Left);
            }
            (known.is_clear, known.loads_move) = (trace.unclear.is_none(), trace.loads_move);
            let changes = trace.changes(&mut changing);
            if supposed.is_borne_out(&trace.steps, lanes, &before, &after) && changes {
                let unclear = trace.unclear == Some(Unclear::Control);
                if !(unclear && supposed.suppose_ranges(&trace.steps)) {
                    let iteration = self.state.warps[warp].control.since(&executed);
                    let skipped = self.conclude(warp, looked, &trace, &supposed, &iteration)?;
                    self.state.lookout.last = Some(looked).filter(|_| skipped > 0);
                    return Ok(if skipped > 0 { Tried::Skipped } else { Tried::Nothing(known) });
                }
            }
            before = after;
        }
        Ok(Tried::Nothing(known))
    }

    /// What the registers of the lanes that live hold.
    fn held(&self, warp: usize) -> Held {
        let warp = &self.state.warps[warp];
        Held::by(&warp.registers, warp.control.live)
    }

    /// The lanes of the group that can run.
    fn lanes(&self, warp: usize) -> u32 {
        let groups = self.state.warps[warp].control.groups.iter();
        groups.filter(|group| group.state.is_ready()).fold(0, |lanes, group| lanes | group.mask)
    }

    /// Whether no other thread of the block lives.
    fn is_alone(&self, warp: usize, lanes: u32) -> bool {
        let others = self.state.warps.iter().enumerate().filter(|(index, _)| *index != warp);
        self.state.warps[warp].control.live == lanes
            && others.map(|(_, other)| other.control.live).all(|live| live == 0)
    }

    /// Skips the iterations that are known; how many.
    fn conclude(
        &mut self,
        warp: usize,
        looked: Loop,
        trace: &Trace,
        steps: &Steps,
        iteration: &Executed,
    ) -> Result<u64, Halt> {
        let lanes = self.lanes(warp);
        let BlockState { warps, shared, .. } = &mut *self.state;
        let ends = trace.ends();
        // Loads that find the same do not help where something else is not known.
        if ends < FEWEST || (trace.strict && trace.is_carried) {
            return Ok(0);
        }
        let mut running = Running::new(self.launch, self.block, &mut warps[warp], self.memory, shared, self.notes);
        let memories = &mut running.executing.memories;
        let known = steady(&trace.touched, memories, ends);
        if known > MOST {
            let kind = if known == FOREVER { TrapKind::EndlessLoop } else { TrapKind::LongLoop };
            return Err(self.trap(warp, looked.head, kind).into());
        }
        let traps = known == trace.reach.traps && trace.reach.traps < trace.reach.limit;
        // This iteration has been executed. The last one that is known is executed, too: what it writes anew need not be known.
        let skipped = known.saturating_sub(2);
        if skipped < FEWEST {
            return Ok(0);
        }
        if (trace.is_carried || trace.is_unknown) && !traps {
            return self.execute_abreast(warp, looked, trace, (steps, iteration), skipped);
        }
        // Nobody reads what a launch has stored that traps.
        if !traps {
            store_all(&trace.touched, memories, skipped);
        }
        let strayed = memories.global.strayed() + strays(&trace.touched, memories.global, skipped);
        memories.global.set_strayed(strayed);
        steps.advance(running.executing.registers, lanes, skipped);
        running.control.skip(iteration, skipped);
        Ok(skipped)
    }

    /// Executes iterations side by side if they depend on nothing that others compute, of at most so many; how many were.
    /// Others are left to be executed one by one, if it is worth while.
    fn execute_abreast(
        &mut self,
        warp: usize,
        looked: Loop,
        trace: &Trace,
        (steps, iteration): (&Steps, &Executed),
        most: u64,
    ) -> Result<u64, Halt> {
        let lanes = self.lanes(warp);
        let lane = lanes.trailing_zeros() as usize % LANES;
        let control = &self.state.warps[warp].control;
        let is_called = control.groups.iter().any(|group| group.state.is_ready() && group.frame != 0);
        let body = u64::from(iteration.counts[lane]).max(1);
        let abreast = if is_called { 0 } else { independent(trace, lanes, most) / LANES as u64 };
        let is_abreast = abreast >= FEWEST;
        // What has to be executed before the loop may come to its end.
        let needed = match trace.reach.leaves() {
            FOREVER => None,
            leaves => Some(body.saturating_mul(leaves / if is_abreast { LANES as u64 } else { 1 })),
        };
        let settling = if trace.is_whole { SETTLING_WHOLE } else { SETTLING };
        if is_abreast || control.counts[lane] >= settling {
            self.allow(warp, looked.head, needed)?;
        }
        let left = self.left(warp, lane);
        let times = abreast.min(u64::from(left) / body);
        if times < FEWEST {
            return Ok(0);
        }
        let BlockState { warps, shared, .. } = &mut *self.state;
        let (level, launch, block) = (self.level, self.launch, self.block);
        let (memory, notes) = (&mut *self.memory, &mut *self.notes);
        let warp = &mut warps[warp];
        let Loop { head, rounds, .. } = looked;
        let mut abreast = Abreast { level, launch, block, memory, shared, notes, warp, lane, head, rounds };
        abreast.run(steps, times, LONGEST_BODY)?;
        let done = times * LANES as u64;
        steps.advance(&mut warp.registers, lanes, done);
        warp.control.skip(iteration, done);
        // Executing them took fuel.
        let spent = (body * times) as u32;
        warp.control.fuel[lane] -= spent;
        warp.control.move_fuel_check();
        self.state.lookout.spend(spent);
        Ok(done)
    }

    /// Gives a loop as much fuel as it takes until it may come to its end, if it ever does and has not got it.
    ///
    /// # Errors
    /// If it never ends or nothing in reach ends it, or there is not as much fuel.
    fn allow(&mut self, warp: usize, head: u32, needed: Option<u64>) -> Result<(), Halt> {
        let Some(needed) = needed else { return Err(self.trap(warp, head, TrapKind::EndlessLoop).into()) };
        let lanes = self.lanes(warp);
        let lane = lanes.trailing_zeros() as usize % LANES;
        let (left, executed) = (self.left(warp, lane), self.state.warps[warp].control.counts[lane]);
        if needed <= left.into() {
            return Ok(());
        }
        match self.state.lookout.take(needed, left, executed) {
            Some(more) => self.state.warps[warp].control.refuel(lanes, more),
            None if needed >= REACH => return Err(self.trap(warp, head, TrapKind::LongLoop).into()),
            None => return Err(self.trap(warp, head, TrapKind::OutOfFuel).into()),
        }
        Ok(())
    }

    /// How many instructions a thread may still execute.
    fn left(&self, warp: usize, lane: usize) -> u32 {
        let control = &self.state.warps[warp].control;
        control.fuel[lane].saturating_sub(control.counts[lane])
    }

    /// What is wrong with the lanes that are in a loop.
    fn trap(&self, warp: usize, head: u32, kind: TrapKind) -> Trap {
        let thread = (warp * LANES) as u32 + self.lanes(warp).trailing_zeros();
        let instruction = self.launch.program.micros[head as usize].instruction;
        Trap { kind, instruction, block: self.block, thread, address: None }
    }
}

/// Where loops begin that came round often enough: the longest first.
fn heads(jumps: &[u32]) -> Vec<u32> {
    let mut heads: Vec<u32> = jumps.to_vec();
    heads.sort_unstable();
    heads.dedup();
    let rounds = |head: u32| jumps.iter().filter(|&&other| other == head).count();
    heads.retain(|&head| rounds(head) >= FEWEST_ROUNDS);
    heads.sort_by_key(|&head| rounds(head));
    heads
}
