//! Tier 0: the whole program from the faulty launch on, executed again with the fault. The judge of faster paths.

use crate::compare::differing_bytes;
use crate::final_memory::FinalMemory;
use crate::golden::{Golden, GoldenLaunch};
use crate::replay::{ReplayError, reload, write};
use crate::run::{InjectError, Progress, fuel, locate, observe};
use crate::story::log::Log;
use capsule::{Content, Digest, Launch, ModuleId, Position, Region, Replayer, replay};
use device::{DeviceError, Probe, region, run};
use fault::Fault;
use outcome::{Observation, Tier};
use simt::memory::{GlobalMemory, Version};
use simt::{Executor, Hook, InstructionContext, Interest, RunEnd};
use strike::{Hit, first_touch, touch_by_host};

/// Sees what a run leaves behind.
pub(crate) trait Witness {
    /// A launch has ended.
    fn launched(&mut self, number: usize, memory: &mut GlobalMemory);
    /// Bytes were copied to the host, after so many launches.
    fn copied(&mut self, copy: usize, launches: usize, found: &[u8]);
}

/// No witness.
impl Witness for () {
    fn launched(&mut self, _: usize, _: &mut GlobalMemory) {}
    fn copied(&mut self, _: usize, _: usize, _: &[u8]) {}
}

/// The block with the fault, as a hook: the fault, and the log and witness that observe it.
struct FaultyBlock<'a, 'h> {
    hit: &'a mut Hit<'h>,
    log: Option<&'a mut dyn Hook>,
    witness: &'a mut dyn Witness,
}

impl Hook for FaultyBlock<'_, '_> {
    fn wants(&self, warp: u32) -> bool {
        self.log.is_some() || self.hit.wants(warp)
    }

    fn may_miss(&self) -> bool {
        self.hit.is_over() && self.log.as_ref().is_none_or(|log| log.may_miss())
    }

    fn before(&mut self, mut context: InstructionContext<'_>) -> Interest {
        let interest = self.hit.before(context.again());
        match &mut self.log {
            Some(log) => log.before(context),
            None => interest,
        }
    }

    fn after(&mut self, mut context: InstructionContext<'_>) -> Interest {
        let interest = self.hit.after(context.again());
        match &mut self.log {
            Some(log) => log.after(context),
            None => interest,
        }
    }
}

/// Runs faults by full re-execution, one after the other.
#[derive(Debug)]
pub(crate) struct Injector<'g> {
    golden: &'g Golden,
    memory: GlobalMemory,
    executor: Executor,
}

impl<'g> Injector<'g> {
    /// An injector with memory of its own.
    pub(crate) fn new(golden: &'g Golden) -> Self {
        Self { golden, memory: GlobalMemory::new(), executor: Executor::new(golden.level) }
    }

    /// The observation of one fault: a function of the golden run and the fault alone.
    ///
    /// # Errors
    /// If the fault names a place that does not exist, or the capsule cannot be replayed.
    pub(crate) fn run(&mut self, fault: &Fault) -> Result<Observation, InjectError> {
        self.witnessed(fault, &mut ())
    }

    /// What faults are put into.
    pub(crate) fn golden(&self) -> &'g Golden {
        self.golden
    }

    /// As [`run`](Self::run), with a witness of what comes of it.
    pub(crate) fn witnessed(&mut self, fault: &Fault, witness: &mut dyn Witness) -> Result<Observation, InjectError> {
        let launch = locate(self.golden, fault)?;
        let mut hit = Hit::new(fault);
        self.memory.set_trace(None);
        let progress = self.replay(launch, fault, &mut FaultyBlock { hit: &mut hit, log: None, witness })?;
        self.see_touch(&mut hit, progress.thread_instructions);
        Ok(observe(self.golden, fault, hit.injected, progress, Tier::Full))
    }

    /// As [`run`](Self::run), with everything that the threads of the block with the fault do put down in a log, and a
    /// witness of what comes of it.
    pub(crate) fn tell(
        &mut self,
        fault: &Fault,
        log: &mut Log,
        witness: &mut dyn Witness,
    ) -> Result<Observation, InjectError> {
        let (observation, executed) = self.watched(fault, log, witness)?;
        log.executed = executed;
        Ok(observation)
    }

    /// As [`run`](Self::run), with a hook that sees what the block with the fault does, and a witness of what comes of it; and
    /// how many instructions the thread with the fault executed.
    pub(crate) fn watched(
        &mut self,
        fault: &Fault,
        log: &mut dyn Hook,
        witness: &mut dyn Witness,
    ) -> Result<(Observation, u64), InjectError> {
        let launch = locate(self.golden, fault)?;
        let mut hit = Hit::new(fault);
        self.memory.set_trace(None);
        let progress = self.replay(launch, fault, &mut FaultyBlock { hit: &mut hit, log: Some(log), witness })?;
        let executed = progress.thread_instructions;
        self.see_touch(&mut hit, executed);
        Ok((observe(self.golden, fault, hit.injected, progress, Tier::Full), executed))
    }

    /// How memory differs at the end of the run before, if that completed.
    pub(crate) fn final_memory(&mut self) -> FinalMemory {
        FinalMemory::of(self.golden, &mut self.memory)
    }

    /// Everything from the faulty launch on.
    fn replay(
        &mut self,
        launch: &GoldenLaunch,
        fault: &Fault,
        scene: &mut FaultyBlock<'_, '_>,
    ) -> Result<Progress, InjectError> {
        let golden = self.golden;
        self.memory.reset(&golden.history, Version::before(launch.event as u32));
        let mut rest = FullReplay { runs: self, fault, scene, progress: Progress::default() };
        match replay(&golden.capsule, golden.position(fault.launch as usize), &mut rest) {
            Ok(()) | Err(Stop::Trapped) => Ok(rest.progress),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    /// Notes what the launches so far have first done to the byte of global memory that was hit.
    fn see_touch(&mut self, hit: &mut Hit<'_>, executed: u64) {
        if let Some(touch) = hit.untouched().and_then(|_| first_touch(&mut self.memory)) {
            self.memory.set_trace(None);
            hit.touched(touch, executed);
        }
    }
}

/// The replay of a run from the faulty launch to the end of the program.
struct FullReplay<'r, 'g, 'a, 'h> {
    runs: &'r mut Injector<'g>,
    fault: &'r Fault,
    scene: &'r mut FaultyBlock<'a, 'h>,
    progress: Progress,
}

/// Why a run does not come to the end of the program.
enum Stop {
    /// A kernel did what no program may.
    Trapped,
    /// An event could not be replayed.
    Failed(InjectError),
}

impl FullReplay<'_, '_, '_, '_> {
    /// Notes what the host is about to do to the byte of global memory that was hit, while nothing has touched it.
    fn see_host(&mut self, at: Position) {
        let event = &self.runs.golden.capsule.events[at.event];
        if let Some(touch) = self.scene.hit.untouched().and_then(|address| touch_by_host(event, address)) {
            self.runs.memory.set_trace(None);
            self.scene.hit.touched(touch, self.progress.thread_instructions);
        }
    }

    fn failed(at: Position) -> impl FnOnce(ReplayError) -> Stop {
        move |source| Stop::Failed(InjectError::Replay { event: at.event, source })
    }
}

impl Replayer for FullReplay<'_, '_, '_, '_> {
    type Stop = Stop;

    fn load(&mut self, at: Position, module: ModuleId) -> Result<(), Stop> {
        reload(&mut self.runs.memory, &self.runs.golden.modules, module).map_err(Self::failed(at))
    }

    /// The hook looks into the block that the fault names.
    fn launch(&mut self, at: Position, _: &Launch) -> Result<(), Stop> {
        self.progress.host_visible |= self.progress.differs;
        let (golden, faulty) = (self.runs.golden, at.launches == self.fault.launch as usize);
        let launch = &golden.launches[at.launches];
        let (block, thread) = (self.fault.cta, self.fault.thread);
        let probe = faulty.then_some(Probe { block, thread, hook: &mut *self.scene });
        let (executor, memory) = (&mut self.runs.executor, &mut self.runs.memory);
        let (prints, mut printed) = (launch.program.prints(), Vec::new());
        let ran = run(executor, memory, &golden.runnable(launch), fuel(golden, launch), probe, |executor| {
            if prints {
                printed.extend(executor.take_printed());
            }
        });
        self.progress.add(&ran, faulty);
        self.progress.printed += if prints { differing_bytes(&launch.printed, &printed) } else { 0 };
        self.runs.see_touch(self.scene.hit, self.progress.thread_instructions);
        if let RunEnd::Trapped(trap) = ran.end {
            self.progress.trap = Some((at.launches, trap));
            return Err(Stop::Trapped);
        }
        self.scene.witness.launched(at.launches, &mut self.runs.memory);
        Ok(())
    }

    fn copy_out(&mut self, at: Position, from: &Region, _: Digest) -> Result<(), Stop> {
        self.see_host(at);
        let golden = self.runs.golden;
        let copy = &golden.copies[at.copies];
        let found = region::read(&mut self.runs.memory, from).map_err(|error| Self::failed(at)(error.into()))?;
        self.progress.differs |= !copy.scratch && found != copy.bytes;
        self.scene.witness.copied(at.copies, at.launches, &found);
        if let Some(output) = copy.output {
            self.progress.outputs.push(golden.references[output].compare(&copy.bytes, &found));
        }
        Ok(())
    }

    fn write(&mut self, at: Position, to: &Region, content: Content) -> Result<(), Stop> {
        self.see_host(at);
        write(&mut self.runs.memory, &self.runs.golden.capsule, to, content).map_err(Self::failed(at))
    }

    fn copy_within(&mut self, at: Position, to: &Region, from: &Region) -> Result<(), Stop> {
        self.see_host(at);
        region::copy(&mut self.runs.memory, to, from).map_err(|error| Self::failed(at)(error.into()))
    }

    fn allocate(&mut self, at: Position, address: u64, bytes: u64) -> Result<(), Stop> {
        let placed = self.runs.memory.place(address, bytes).map_err(DeviceError::from);
        placed.map_err(|error| Self::failed(at)(error.into()))
    }

    fn free(&mut self, at: Position, address: u64) -> Result<(), Stop> {
        let freed = self.runs.memory.free(address).map_err(DeviceError::from);
        freed.map_err(|error| Self::failed(at)(error.into()))
    }
}
