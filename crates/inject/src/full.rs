//! Tier 0: the whole program from the faulty launch on, executed again with the fault. The judge of faster paths.

use crate::final_memory::FinalMemory;
use crate::golden::{Golden, GoldenLaunch, ReplayError, apply};
use crate::run::{Progress, RunError, fuel, locate, observe};
use crate::story::Log;
use capsule::Event;
use device::DeviceError;
use device::region;
use device::runnable;
use fault::Fault;
use outcome::{Observation, Tier};
use simt::memory::{GlobalMemory, Version};
use simt::{Executor, Hook, Interest, Moment, NoHook, RunEnd};
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

/// What happens in the block with the fault, and who looks on.
struct Scene<'a, 'h> {
    hit: &'a mut Hit<'h>,
    log: Option<&'a mut Log>,
    witness: &'a mut dyn Witness,
}

impl Hook for Scene<'_, '_> {
    fn wants(&self, warp: u32) -> bool {
        self.log.is_some() || self.hit.wants(warp)
    }

    fn before(&mut self, mut moment: Moment<'_>) -> Interest {
        let interest = self.hit.before(moment.again());
        match &mut self.log {
            Some(log) => log.before(moment),
            None => interest,
        }
    }

    fn after(&mut self, mut moment: Moment<'_>) -> Interest {
        let interest = self.hit.after(moment.again());
        match &mut self.log {
            Some(log) => log.after(moment),
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
    pub(crate) fn run(&mut self, fault: &Fault) -> Result<Observation, RunError> {
        let launch = locate(self.golden, fault)?;
        let mut hit = Hit::new(fault);
        self.memory.set_trace(None);
        let progress = self.replay(launch, fault, &mut Scene { hit: &mut hit, log: None, witness: &mut () })?;
        self.see_touch(&mut hit, progress.thread_instructions);
        Ok(observe(self.golden, fault, hit.struck, progress, Tier::Full))
    }

    /// As [`run`](Self::run), with everything that the threads of the block with the fault do put down in a log, and a
    /// witness of what comes of it.
    pub(crate) fn tell(
        &mut self,
        fault: &Fault,
        log: &mut Log,
        witness: &mut dyn Witness,
    ) -> Result<Observation, RunError> {
        let launch = locate(self.golden, fault)?;
        let mut hit = Hit::new(fault);
        self.memory.set_trace(None);
        let progress = self.replay(launch, fault, &mut Scene { hit: &mut hit, log: Some(log), witness })?;
        self.see_touch(&mut hit, progress.thread_instructions);
        Ok(observe(self.golden, fault, hit.struck, progress, Tier::Full))
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
        scene: &mut Scene<'_, '_>,
    ) -> Result<Progress, RunError> {
        let golden = self.golden;
        self.memory.reset(&golden.history, Version::before(launch.event as u32));
        let mut progress = Progress::default();
        let mut next_launch = fault.launch as usize;
        let mut next_copy = golden.copies.partition_point(|copy| copy.event < launch.event);
        for (index, event) in golden.capsule.events.iter().enumerate().skip(launch.event) {
            if let Some(touch) = scene.hit.untouched().and_then(|address| touch_by_host(event, address)) {
                self.memory.set_trace(None);
                scene.hit.touched(touch, progress.thread_instructions);
            }
            let replaying = |source| RunError::Replay { event: index, source };
            match event {
                Event::Launch(_) => {
                    progress.host_visible |= progress.differs;
                    let faulty = next_launch == fault.launch as usize;
                    if faulty {
                        self.launch(next_launch, Some(fault), &mut *scene, &mut progress);
                    } else {
                        self.launch(next_launch, None, &mut NoHook, &mut progress);
                    }
                    self.see_touch(scene.hit, progress.thread_instructions);
                    if progress.trap.is_some() {
                        return Ok(progress);
                    }
                    scene.witness.launched(next_launch, &mut self.memory);
                    next_launch += 1;
                }
                Event::CopyOut { from, .. } => {
                    let copy = &golden.copies[next_copy];
                    next_copy += 1;
                    let found = region::read(&mut self.memory, from).map_err(|e| replaying(e.into()))?;
                    progress.differs |= found != copy.bytes;
                    scene.witness.copied(next_copy - 1, next_launch, &found);
                    if let Some(output) = copy.output {
                        progress.outputs.push(golden.references[output].compare(&copy.bytes, &found));
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

    /// Notes what the launches so far have first done to the byte of global memory that was hit.
    fn see_touch(&mut self, hit: &mut Hit<'_>, executed: u64) {
        if let Some(touch) = hit.untouched().and_then(|_| first_touch(&mut self.memory)) {
            self.memory.set_trace(None);
            hit.touched(touch, executed);
        }
    }

    /// One launch, with the hook in the block that the fault names.
    fn launch(&mut self, index: usize, fault: Option<&Fault>, hook: &mut dyn Hook, progress: &mut Progress) {
        let launch = &self.golden.launches[index];
        let runnable = runnable(self.golden.recorded(launch), &launch.program);
        self.executor.prepare(&runnable);
        let threads = runnable.threads() as u64;
        let hooked = fault.map(|fault| fault.cta);
        let end = self.executor.run(
            &runnable,
            &mut self.memory,
            fuel(self.golden, launch),
            hooked,
            hook,
            |executor, memory, blocks| {
                progress.strayed = memory.strayed();
                progress.instructions += executor.counts().map(u64::from).sum::<u64>();
                if let Some(fault) = fault.filter(|fault| blocks.contains(&fault.cta)) {
                    let place = (fault.cta - blocks.start) * threads + u64::from(fault.thread);
                    progress.thread_instructions = executor.counts().nth(place as usize).map_or(0, u64::from);
                }
            },
        );
        if let RunEnd::Trapped(trap) = end {
            progress.trap = Some((index, trap));
        }
    }
}
