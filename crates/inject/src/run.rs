//! Tier 0: the whole program from the faulty launch on, executed again with the fault. The judge of faster paths.

use crate::compare::compare;
use crate::device::runnable;
use crate::error::DeviceError;
use crate::golden::{Golden, GoldenLaunch, ReplayError, apply};
use crate::hit::Hit;
use crate::modules::ModuleError;
use crate::region;
use campaign::{End, FirstUse, Observation, OutputDiff, Place, Tier, TrapKind};
use capsule::Event;
use fault::Fault;
use simt::memory::{GlobalMemory, Version};
use simt::{Executor, Fuel, Hook, NoHook, RunEnd, Trap};
use thiserror::Error;

/// A thread may execute this many times what it executed in the golden run,
pub const FUEL_FACTOR: u32 = 10;
/// plus this many instructions, before it counts as hanging.
pub const FUEL_CONSTANT: u32 = 10_000;

/// Why a fault could not be run.
#[derive(Debug, Error)]
pub enum RunError {
    /// The fault names a launch that does not exist.
    #[error("find launch {found} of the fault: the capsule has {count}, numbered from 0")]
    Launch {
        /// What the fault names.
        found: u32,
        /// How many there are.
        count: usize,
    },
    /// The fault names a block that does not exist.
    #[error("find block {found} of the fault: launch {launch} has {count}, numbered from 0")]
    Cta {
        /// The launch.
        launch: u32,
        /// What the fault names.
        found: u64,
        /// How many there are.
        count: u64,
    },
    /// The fault names a thread that does not exist.
    #[error("find thread {found} of the fault: a block of launch {launch} has {count}, numbered from 0")]
    Thread {
        /// The launch.
        launch: u32,
        /// What the fault names.
        found: u32,
        /// How many there are.
        count: u64,
    },
    /// An event could not be replayed.
    #[error("replay event {event}")]
    Replay {
        /// The event.
        event: usize,
        /// Why not.
        #[source]
        source: ReplayError,
    },
    /// A module is missing.
    #[error(transparent)]
    Module(#[from] ModuleError),
}

/// Checks that the place a fault names exists.
///
/// # Errors
/// If its launch, block or thread does not.
pub fn locate<'g>(golden: &'g Golden, fault: &Fault) -> Result<&'g GoldenLaunch, RunError> {
    let Fault { launch, cta, thread, .. } = *fault;
    let found = golden.launches.get(launch as usize);
    let found = found.ok_or(RunError::Launch { found: launch, count: golden.launches.len() })?;
    let recorded = golden.recorded(found);
    if cta >= recorded.blocks() {
        return Err(RunError::Cta { launch, found: cta, count: recorded.blocks() });
    }
    let count = recorded.threads_per_block();
    if u64::from(thread) >= count {
        return Err(RunError::Thread { launch, found: thread, count });
    }
    Ok(found)
}

/// Runs faults by full re-execution, one after the other.
#[derive(Debug)]
pub struct Injector<'g> {
    golden: &'g Golden,
    memory: GlobalMemory,
    executor: Executor,
}

/// How far a run has come.
#[derive(Default)]
struct Progress {
    outputs: Vec<OutputDiff>,
    /// A copy to the host differed.
    differs: bool,
    /// Work followed it.
    host_visible: bool,
    instructions: u64,
    /// The thread's instructions at the end of the faulty launch.
    thread_instructions: u64,
    trap: Option<(usize, Trap)>,
}

impl<'g> Injector<'g> {
    /// An injector with memory of its own.
    #[must_use]
    pub fn new(golden: &'g Golden) -> Self {
        Self { golden, memory: GlobalMemory::new(), executor: Executor::new(golden.level) }
    }

    /// The observation of one fault: a function of the golden run and the fault alone.
    ///
    /// # Errors
    /// If the fault names a place that does not exist, or the capsule cannot be replayed.
    pub fn run(&mut self, fault: &Fault) -> Result<Observation, RunError> {
        let launch = locate(self.golden, fault)?;
        let module = self.golden.modules.module(self.golden.recorded(launch).module)?;
        let mut hit = Hit::new(module, fault);
        let progress = self.replay(launch, fault, &mut hit)?;
        let used = match hit.first_use {
            FirstUse::Read { after } | FirstUse::Overwritten { after } => after,
            FirstUse::Never => 0,
        };
        let activated = fault.dynamic + 1 + used;
        let end = match progress.trap {
            None => End::Completed,
            Some((index, trap)) => self.end(index, trap, progress.thread_instructions.saturating_sub(activated)),
        };
        let completed = end == End::Completed;
        Ok(Observation {
            landed: hit.landed,
            first_use: hit.first_use,
            outputs: if completed { progress.outputs } else { Vec::new() },
            end,
            host_visible: progress.host_visible,
            strayed: self.memory.strayed(),
            instructions: progress.instructions,
            tier: Tier::Full,
        })
    }

    /// Everything from the faulty launch on.
    fn replay(&mut self, launch: &GoldenLaunch, fault: &Fault, hit: &mut Hit<'_>) -> Result<Progress, RunError> {
        let golden = self.golden;
        self.memory.reset(&golden.history, Version::before(launch.event as u32));
        let mut progress = Progress::default();
        let mut next_launch = fault.launch as usize;
        let mut next_copy = golden.copies.partition_point(|copy| copy.event < launch.event);
        for (index, event) in golden.capsule.events.iter().enumerate().skip(launch.event) {
            let replaying = |source| RunError::Replay { event: index, source };
            match event {
                Event::Launch(_) => {
                    progress.host_visible |= progress.differs;
                    let faulty = next_launch == fault.launch as usize;
                    if faulty {
                        self.launch(next_launch, Some(fault), hit, &mut progress);
                    } else {
                        self.launch(next_launch, None, &mut NoHook, &mut progress);
                    }
                    next_launch += 1;
                    if progress.trap.is_some() {
                        return Ok(progress);
                    }
                }
                Event::CopyOut { from, .. } => {
                    let copy = &golden.copies[next_copy];
                    next_copy += 1;
                    let found = region::read(&mut self.memory, from).map_err(|e| replaying(e.into()))?;
                    progress.differs |= found != copy.bytes;
                    if let Some(output) = copy.output {
                        progress.outputs.push(compare(&golden.outputs[output], &copy.bytes, &found));
                    }
                }
                Event::Load { module } => golden
                    .modules
                    .reload(*module, &mut self.memory)
                    .map_err(|error| replaying(ReplayError::Device(DeviceError::Module(error))))?,
                other => apply(other, &golden.capsule, &mut self.memory).map_err(replaying)?,
            }
        }
        Ok(progress)
    }

    /// One launch, with the hook in the block that the fault names.
    fn launch(&mut self, index: usize, fault: Option<&Fault>, hook: &mut dyn Hook, progress: &mut Progress) {
        let launch = &self.golden.launches[index];
        let runnable = runnable(self.golden.recorded(launch), &launch.program);
        let fuel = Fuel::Scaled { counts: &launch.counts, factor: FUEL_FACTOR, constant: FUEL_CONSTANT };
        self.executor.prepare(&runnable);
        for block in 0..runnable.blocks() {
            let here = fault.filter(|fault| fault.cta == block);
            let end = match here {
                Some(_) => self.executor.run_block(&runnable, &mut self.memory, block, fuel, hook),
                None => self.executor.run_block(&runnable, &mut self.memory, block, fuel, &mut NoHook),
            };
            progress.instructions += self.executor.counts().map(u64::from).sum::<u64>();
            if let Some(fault) = here {
                let count = self.executor.counts().nth(fault.thread as usize);
                progress.thread_instructions = count.map_or(0, u64::from);
            }
            if let RunEnd::Trapped(trap) = end {
                progress.trap = Some((index, trap));
                return;
            }
        }
    }

    fn end(&self, launch: usize, trap: Trap, after: u64) -> End {
        let program = &self.golden.launches[launch].program;
        let site = &program.sites[trap.site as usize];
        let line = site.loc.as_ref().map(|loc| loc.line);
        let at = Place { kernel: program.name.clone(), pc: site.pc.0, line, after };
        match trap_kind(trap.kind) {
            Some(trap) => End::Trapped { trap, at },
            None => End::Hang { at },
        }
    }
}

/// The name that results use; running out of fuel is a hang, not a trap.
fn trap_kind(kind: simt::TrapKind) -> Option<TrapKind> {
    Some(match kind {
        simt::TrapKind::IllegalAddress => TrapKind::IllegalAddress,
        simt::TrapKind::OutOfRangeAddress => TrapKind::OutOfRangeAddress,
        simt::TrapKind::MisalignedAddress => TrapKind::MisalignedAddress,
        simt::TrapKind::StackOverflow => TrapKind::StackOverflow,
        simt::TrapKind::IllegalInstruction => TrapKind::IllegalInstruction,
        simt::TrapKind::BarrierDeadlock => TrapKind::BarrierDeadlock,
        simt::TrapKind::Trap => TrapKind::Trap,
        simt::TrapKind::Assert => TrapKind::Assert,
        simt::TrapKind::OutOfFuel => return None,
    })
}
