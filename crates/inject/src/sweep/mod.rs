//! Exhaustive campaigns: every bit of every operand that is aimed at, of every dynamic instruction of a selection.
//!
//! A thread's faults are run in the order of its path. A value that is never read changes nothing, and what is known
//! without running is not run; the bits of one that is read are run in the lanes of a warp where that is exact
//! ([`crate::lanes`]), one by one elsewhere.

mod population;
mod tally;

use crate::full::Injector;
use crate::golden::Golden;
use crate::index::Index;
use crate::lanes::Lanes;
use crate::run::InjectError;
use campaign::{RunFailure, Sweeper, SweptUnit};
use fault::{Fault, Model, Scope};
use outcome::{Criteria, Observation, Outcome, Tier, classify};
pub(crate) use population::{Population, SweepOperand, UnitAt};
use simt::registers::LANES;
use std::sync::Arc;
pub(crate) use tally::UnitTally;

/// Runs the units of a population.
pub(crate) struct Sweeping<'g> {
    golden: &'g Golden,
    population: Arc<Population>,
    criteria: Criteria,
    tally: UnitTally,
    engine: SweepEngine<'g>,
}

/// How faults are run.
pub(crate) enum SweepEngine<'g> {
    /// By full re-execution.
    Full(Box<Injector<'g>>),
    /// By executing what they can change.
    Delta(Box<Lanes<'g>>),
    /// In lanes where that is exact.
    Lanes(Box<Lanes<'g>>),
}

impl<'g> SweepEngine<'g> {
    /// In lanes, or by executing what they can change only.
    pub(crate) fn indexed(golden: &'g Golden, index: &Arc<Index>, in_lanes: bool) -> Self {
        let lanes = Box::new(Lanes::new(golden, index));
        if in_lanes { Self::Lanes(lanes) } else { Self::Delta(lanes) }
    }
}

/// What a thread is swept with.
pub(crate) struct ThreadSweep<'a> {
    pub(crate) population: &'a Population,
    pub(crate) criteria: &'a Criteria,
    pub(crate) launch: u32,
    pub(crate) block: u64,
    pub(crate) thread: u32,
}

impl ThreadSweep<'_> {
    /// The fault in a bit of an operand.
    pub(crate) fn fault(&self, dynamic: u64, operand: SweepOperand, bit: u32) -> Fault {
        Fault {
            isa: self.population.isa(self.launch),
            launch: self.launch,
            cta: self.block,
            thread: self.thread,
            dynamic,
            target: operand.target,
            model: Model::single(bit),
            scope: Scope::Thread,
        }
    }

    /// Judges and counts what was observed of one.
    pub(crate) fn count(
        &self,
        operand: SweepOperand,
        bit: u32,
        observation: &Observation,
        tally: &mut UnitTally,
    ) -> Outcome {
        let outcome = classify(observation, self.criteria);
        match observation.tier {
            // Nothing that is swept runs live.
            Tier::Full | Tier::Live => tally.tiers().full += 1,
            Tier::Delta | Tier::Stopped => tally.tiers().delta += 1,
            Tier::Lanes => tally.tiers().lanes += 1,
        }
        tally.add(operand.number, bit, outcome.code(), observation.landed.is_some() && observation.host_visible);
        outcome
    }
}

/// Why a thread was not swept to its end.
pub(crate) enum Unfinished {
    /// Nobody wants it any more.
    Stopped,
    /// A fault could not be run.
    Failed(InjectError),
}

impl From<InjectError> for Unfinished {
    fn from(error: InjectError) -> Self {
        Self::Failed(error)
    }
}

impl<'g> Sweeping<'g> {
    pub(crate) fn new(
        golden: &'g Golden,
        population: &Arc<Population>,
        criteria: &Criteria,
        engine: SweepEngine<'g>,
    ) -> Self {
        let tally = UnitTally::new(population);
        Self { golden, population: Arc::clone(population), criteria: criteria.clone(), tally, engine }
    }

    fn unit(&mut self, at: UnitAt, stop: &dyn Fn() -> bool) -> Result<(), Unfinished> {
        let population = Arc::clone(&self.population);
        let launch = &self.golden.launches[at.launch as usize];
        let threads = self.golden.recorded(launch).threads_per_block() as u32;
        let first = at.warp * LANES as u32;
        for thread in first..threads.min(first + LANES as u32) {
            if !population.selection.threads.holds(u64::from(thread)) {
                continue;
            }
            let criteria = &self.criteria;
            let sweep = ThreadSweep { population: &population, criteria, launch: at.launch, block: at.block, thread };
            match &mut self.engine {
                SweepEngine::Lanes(lanes) => lanes.sweep(&sweep, true, &mut self.tally, stop)?,
                SweepEngine::Delta(lanes) => lanes.sweep(&sweep, false, &mut self.tally, stop)?,
                SweepEngine::Full(full) => {
                    let path = crate::lanes::path(self.golden, at.launch, at.block, thread);
                    one_by_one(&sweep, &path, &mut self.tally, stop, |fault| full.run(fault))?;
                }
            }
        }
        Ok(())
    }
}

/// The threads of a unit in their block, in the order of its outcomes.
pub(crate) fn threads(golden: &Golden, population: &Population, at: UnitAt) -> Vec<u32> {
    let threads = golden.recorded(&golden.launches[at.launch as usize]).threads_per_block() as u32;
    let first = at.warp * LANES as u32;
    let selected = |thread: &u32| population.selection.threads.holds(u64::from(*thread));
    (first..threads.min(first + LANES as u32)).filter(selected).collect()
}

/// The faults of a unit, in the order of its outcomes.
pub(crate) fn faults(golden: &Golden, population: &Population, at: UnitAt) -> Vec<Fault> {
    let of_thread = |thread: u32| {
        let path = crate::lanes::path(golden, at.launch, at.block, thread);
        let executed = path.into_iter().filter(|(_, executed)| *executed).zip(0..);
        executed.flat_map(move |((instruction, _), dynamic)| {
            let operands = population.operands(at.launch, instruction).iter();
            operands.flat_map(move |operand| {
                (0..operand.bits).map(move |bit| Fault {
                    isa: population.isa(at.launch),
                    launch: at.launch,
                    cta: at.block,
                    thread,
                    dynamic,
                    target: operand.target,
                    model: Model::single(bit),
                    scope: Scope::Thread,
                })
            })
        })
    };
    threads(golden, population, at).into_iter().flat_map(of_thread).collect()
}

/// Runs every fault of a thread by itself.
pub(crate) fn one_by_one(
    sweep: &ThreadSweep<'_>,
    path: &[(u32, bool)],
    tally: &mut UnitTally,
    stop: &dyn Fn() -> bool,
    mut run: impl FnMut(&Fault) -> Result<Observation, InjectError>,
) -> Result<(), Unfinished> {
    let executed = path.iter().filter(|(_, executed)| *executed);
    for (&(instruction, _), dynamic) in executed.zip(0..) {
        for &operand in sweep.population.operands(sweep.launch, instruction) {
            for bit in 0..operand.bits {
                if stop() {
                    return Err(Unfinished::Stopped);
                }
                let observation = run(&sweep.fault(dynamic, operand, bit))?;
                sweep.count(operand, bit, &observation, tally);
            }
        }
    }
    Ok(())
}

impl Sweeper for Sweeping<'_> {
    fn unit(&mut self, unit: u64, stop: &dyn Fn() -> bool) -> Result<Option<SweptUnit>, RunFailure> {
        let at = usize::try_from(unit).ok().and_then(|unit| self.population.units.get(unit).copied());
        let at = at.ok_or_else(|| RunFailure::new(format!("find unit {unit}: there is none")))?;
        let ended = Self::unit(self, at, stop);
        // Of a unit that did not come to its end nothing is kept.
        let swept = self.tally.take();
        match ended {
            Ok(()) => Ok(Some(swept)),
            Err(Unfinished::Stopped) => Ok(None),
            Err(Unfinished::Failed(error)) => Err(RunFailure::from_error(&error)),
        }
    }
}
