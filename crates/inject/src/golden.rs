//! The golden run: a capsule executed without a fault, and what injection runs need to know of it.
//!
//! It keeps the memory at the start of every launch (as pages that changed), the bytes of every copy to the host,
//! and how many instructions each thread executed. It must reproduce the recording: a copy to the host with other
//! bytes than recorded is an error, because every outcome would be judged against the wrong thing.

use crate::compare::Reference;
use capsule::{Capsule, Digester, ElementType, Event, Launch, ModuleId, Output};
use device::{Device, DeviceError, Guests, Modules, TrapReport, check_launch, region, runnable};
use fault::Isa;
use simt::memory::{GlobalMemory, History, Pages};
use simt::{Executor, Fuel, LevelName, NoHook, Program, RunEnd};
use std::sync::Arc;
use strike::FUEL_CONSTANT;
use thiserror::Error;

/// Why there is no golden run.
#[derive(Debug, Error)]
pub enum GoldenError {
    /// The device could not do what the capsule asks for.
    #[error("replay event {event} of the capsule ({what})")]
    Event {
        /// The event, from 0.
        event: usize,
        /// What it is.
        what: &'static str,
        /// Why not.
        #[source]
        source: Box<DeviceError>,
    },
    /// Some of the capsule's contents cannot be read.
    #[error(transparent)]
    Capsule(#[from] capsule::Error),
    /// A module has no code that a guest reads.
    #[error(
        "load module {0}: the capsule holds no PTX for it; build the application with PTX embedded (-arch=sm_80 does)"
    )]
    NoCode(u32),
    /// The program traps without any fault.
    #[error("complete the fault-free run: {0}")]
    Trapped(Box<TrapReport>),
    /// The run differs from the recording.
    #[error("reproduce the recording: copy {copy} to the host (event {event}) gives other bytes than were recorded")]
    Differs {
        /// The copy among all copies to the host.
        copy: u32,
        /// The event.
        event: usize,
    },
    /// Nothing is launched.
    #[error("find work: the capsule launches no kernel")]
    NoLaunch,
}

/// One launch of the golden run.
#[derive(Debug)]
pub struct GoldenLaunch {
    /// Its event; also the version of memory at its start.
    pub event: usize,
    /// Its number among the launches of its kernel.
    pub number: u32,
    /// The kernel.
    pub program: Arc<Program>,
    /// Instructions that each thread executed, linear in the launch.
    pub counts: Vec<u32>,
    /// The pages that it wrote.
    pub(crate) written: Vec<u32>,
    /// Its accesses outside every allocation.
    pub(crate) strayed: u64,
    /// What it printed.
    pub printed: Vec<u8>,
}

impl GoldenLaunch {
    /// Instructions that the threads of one of its blocks executed, of which each has so many.
    pub(crate) fn instructions_of(&self, block: u64, threads: u32) -> u64 {
        let start = block as usize * threads as usize;
        self.counts.iter().skip(start).take(threads as usize).map(|&count| u64::from(count)).sum()
    }

    /// Instructions that all its threads executed.
    #[must_use]
    pub fn thread_instructions(&self) -> u64 {
        self.counts.iter().map(|&count| u64::from(count)).sum()
    }
}

/// One copy to the host.
#[derive(Debug)]
pub struct GoldenCopy {
    /// Its event.
    pub event: usize,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The output that it is, by position among the outputs.
    pub output: Option<usize>,
}

/// A fault-free run.
#[derive(Debug)]
pub struct Golden {
    pub(crate) capsule: Arc<Capsule>,
    pub(crate) modules: Modules,
    pub(crate) history: Arc<dyn Pages>,
    pub(crate) launches: Vec<GoldenLaunch>,
    pub(crate) copies: Vec<GoldenCopy>,
    pub(crate) outputs: Vec<Output>,
    /// What the outputs are compared with, in their order.
    pub(crate) references: Vec<Reference>,
    pub(crate) level: LevelName,
    /// No page from this one on was ever written.
    pub(crate) pages: u32,
    /// Bytes of memory and copies that are kept.
    pub(crate) bytes: u64,
    seconds: f64,
    fuel: u32,
}

/// What an event is, for messages.
pub(crate) fn describe(event: &Event) -> &'static str {
    match event {
        Event::Load { .. } => "load a module",
        Event::Alloc { .. } => "allocate",
        Event::Free { .. } => "free",
        Event::CopyIn { .. } => "copy to the device",
        Event::CopyOut { .. } => "copy to the host",
        Event::CopyWithin { .. } => "copy within the device",
        Event::Fill { .. } => "fill memory",
        Event::Launch(_) => "launch a kernel",
        Event::Synchronize => "synchronise",
    }
}

impl Golden {
    /// Runs a capsule at the best instruction-set level of this host.
    ///
    /// # Errors
    /// If the capsule cannot be executed, traps, or does not reproduce its recording.
    pub fn run(capsule: Arc<Capsule>) -> Result<Self, GoldenError> {
        Self::run_at(capsule, LevelName::best())
    }

    /// Runs a capsule at a given level; the results are the same.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_at(capsule: Arc<Capsule>, level: LevelName) -> Result<Self, GoldenError> {
        Self::run_with(capsule, level, Guests::default())
    }

    /// Runs a capsule at a given level, whose modules these guests read.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_with(capsule: Arc<Capsule>, level: LevelName, guests: Guests) -> Result<Self, GoldenError> {
        #[expect(clippy::disallowed_methods, reason = "the speed of the golden run is reported, never used")]
        let started = std::time::Instant::now();
        let mut recorder = Recorder::new(&capsule, level, guests);
        for (index, event) in capsule.events.iter().enumerate() {
            recorder.event(index, event)?;
        }
        let Recorder { mut device, mut history, launches, copies, outputs, .. } = recorder;
        if launches.is_empty() {
            return Err(GoldenError::NoLaunch);
        }
        history.commit(device.memory(), capsule.events.len() as u32);
        let (_, modules) = device.into_parts();
        let references = references(&outputs, &copies);
        let seconds = started.elapsed().as_secs_f64();
        let bytes = history.bytes() + copies.iter().map(|copy| copy.bytes.len()).sum::<usize>();
        let (pages, history) = (history.pages(), Arc::new(history));
        Ok(Self {
            bytes: bytes as u64,
            modules,
            history,
            launches,
            copies,
            outputs,
            references,
            level,
            pages,
            seconds,
            fuel: FUEL_CONSTANT,
            capsule,
        })
    }

    /// The capsule.
    #[must_use]
    pub fn capsule(&self) -> &Arc<Capsule> {
        &self.capsule
    }

    /// The launches, in order.
    #[must_use]
    pub fn launches(&self) -> &[GoldenLaunch] {
        &self.launches
    }

    /// The outputs that runs are judged by.
    #[must_use]
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The copies to the host, in order.
    #[must_use]
    pub fn copies(&self) -> &[GoldenCopy] {
        &self.copies
    }

    /// How an output differs whose bytes are these.
    #[must_use]
    pub fn compare(&self, output: usize, found: &[u8]) -> outcome::OutputDiff {
        let copy = self.copies.iter().find(|copy| copy.output == Some(output));
        self.references[output].compare(copy.map_or(&[], |copy| &copy.bytes), found)
    }

    /// Compares outputs by these types and within these ranges from now on; in the order of the outputs.
    pub(crate) fn judge_by(&mut self, elements: &[Option<ElementType>], ranges: &[Option<[f64; 2]>]) {
        for (output, element) in self.outputs.iter_mut().zip(elements) {
            output.element = *element;
        }
        let made = references(&self.outputs, &self.copies).into_iter();
        self.references = made.zip(ranges).map(|(reference, range)| reference.within(*range)).collect();
    }

    /// How large the elements of an output are: the root mean square of its golden bytes.
    #[must_use]
    pub fn scale(&self, output: usize) -> f64 {
        self.references[output].scale()
    }

    /// Threads over all launches.
    #[must_use]
    pub fn threads(&self) -> u64 {
        self.launches.iter().map(|launch| launch.counts.len() as u64).sum()
    }

    /// Instructions executed by all threads.
    #[must_use]
    pub fn thread_instructions(&self) -> u64 {
        self.launches.iter().map(GoldenLaunch::thread_instructions).sum()
    }

    /// How long it took.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// The recorded launch behind a golden one.
    #[must_use]
    pub fn recorded(&self, launch: &GoldenLaunch) -> &Launch {
        match &self.capsule.events[launch.event] {
            Event::Launch(recorded) => recorded,
            _ => unreachable!("golden launches are made from launch events only"),
        }
    }

    /// The guests that read its modules.
    #[must_use]
    pub fn guests(&self) -> &Guests {
        self.modules.guests()
    }

    /// The instruction set of the kernel of a launch.
    #[must_use]
    pub fn isa(&self, launch: &GoldenLaunch) -> Isa {
        self.modules.guest_of(self.recorded(launch).module).and_then(Isa::new).unwrap_or_default()
    }

    /// How many instructions a thread may execute beyond ten times its own before it counts as hanging.
    #[must_use]
    pub fn fuel(&self) -> u32 {
        self.fuel
    }

    pub(crate) fn set_fuel(&mut self, fuel: u32) {
        self.fuel = fuel;
    }

    /// How many threads a block of a launch has.
    #[must_use]
    pub fn threads_per_block(&self, launch: &GoldenLaunch) -> usize {
        self.recorded(launch).threads_per_block() as usize
    }

    /// Whether blocks of some launch wait for each other.
    pub(crate) fn has_blocks_together(&self) -> bool {
        self.launches.iter().any(|launch| runnable(self.recorded(launch), &launch.program).is_together())
    }
}

/// The outputs with their golden bytes; one that is never copied has none.
fn references(outputs: &[Output], copies: &[GoldenCopy]) -> Vec<Reference> {
    let of = |(at, output): (usize, &Output)| {
        let copy = copies.iter().find(|copy| copy.output == Some(at));
        Reference::new(output.clone(), copy.map_or(&[], |copy| &copy.bytes))
    };
    outputs.iter().enumerate().map(of).collect()
}

struct Recorder<'a> {
    capsule: &'a Capsule,
    device: Device,
    executor: Executor,
    history: History,
    launches: Vec<GoldenLaunch>,
    copies: Vec<GoldenCopy>,
    outputs: Vec<Output>,
}

impl<'a> Recorder<'a> {
    fn new(capsule: &'a Capsule, level: LevelName, guests: Guests) -> Self {
        Self {
            capsule,
            device: Device::with(level, guests),
            executor: Executor::new(level),
            history: History::default(),
            launches: Vec::new(),
            copies: Vec::new(),
            outputs: capsule.effective_outputs(),
        }
    }

    fn event(&mut self, index: usize, event: &Event) -> Result<(), GoldenError> {
        let at = |source| GoldenError::Event { event: index, what: describe(event), source: Box::new(source) };
        match event {
            Event::Load { module } => self.load(index, *module),
            Event::Launch(launch) => self.launch(index, launch),
            Event::CopyOut { from, digest, .. } => {
                let bytes = self.device.read(from).map_err(at)?;
                let mut digester = Digester::new();
                digester.update(&bytes);
                let copy = self.copies.len() as u32;
                if digester.finish() != *digest {
                    return Err(GoldenError::Differs { copy, event: index });
                }
                let output = self.outputs.iter().position(|output| output.copy == copy);
                self.copies.push(GoldenCopy { event: index, bytes, output });
                Ok(())
            }
            other => apply(other, self.capsule, self.device.memory()).map_err(|error| error.at(index, other)),
        }
    }

    fn load(&mut self, index: usize, id: ModuleId) -> Result<(), GoldenError> {
        let module = self.capsule.module(id).ok_or(GoldenError::NoCode(id.0))?;
        let code = self.device.modules().guests().code(self.capsule, id).ok_or(GoldenError::NoCode(id.0))?;
        let (name, bytes) = (code.name(self.capsule, id), self.capsule.blobs.get(code.blob)?);
        let image = code.image(&bytes);
        let loaded = self.device.load_at(id, &name, image, &module.globals);
        loaded.map_err(|source| GoldenError::Event { event: index, what: "load a module", source: Box::new(source) })
    }

    fn launch(&mut self, index: usize, launch: &Launch) -> Result<(), GoldenError> {
        let at = |source| GoldenError::Event { event: index, what: "launch a kernel", source: Box::new(source) };
        let program = self.device.program(launch.module, &launch.kernel).map_err(at)?;
        check_launch(launch, &program).map_err(at)?;
        self.history.commit(self.device.memory(), index as u32);
        let runnable = runnable(launch, &program);
        self.executor.prepare(&runnable);
        let (mut counts, mut printed) = (Vec::with_capacity(launch.threads() as usize), Vec::new());
        let fuel = Fuel::Each(device::UNBOUNDED);
        let memory = self.device.memory();
        let before = memory.strayed();
        let end = self.executor.run(&runnable, memory, fuel, None, &mut NoHook, |executor, _, _| {
            counts.extend(executor.counts());
            printed.extend(executor.take_printed());
        });
        if let RunEnd::Trapped(trap) = end {
            return Err(GoldenError::Trapped(Box::new(TrapReport::new(trap, &program))));
        }
        let same = self.launches.iter().filter(|other| other.program.name == program.name);
        let number = same.count() as u32;
        let memory = self.device.memory();
        let (written, strayed) = (memory.written().map(|(page, _)| page).collect(), memory.strayed() - before);
        // Memory right after a launch is what it is judged by where it runs whole.
        self.history.commit(memory, index as u32 + 1);
        self.launches.push(GoldenLaunch { event: index, number, program, counts, written, strayed, printed });
        Ok(())
    }
}

/// Why an event could not be replayed.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The device could not do it.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// Its bytes cannot be read.
    #[error(transparent)]
    Capsule(#[from] capsule::Error),
}

impl ReplayError {
    fn at(self, index: usize, event: &Event) -> GoldenError {
        match self {
            Self::Device(source) => {
                GoldenError::Event { event: index, what: describe(event), source: Box::new(source) }
            }
            Self::Capsule(error) => GoldenError::Capsule(error),
        }
    }
}

/// Replays an event that only touches memory. Loads, launches and copies to the host are the caller's.
pub(crate) fn apply(event: &Event, capsule: &Capsule, memory: &mut GlobalMemory) -> Result<(), ReplayError> {
    match event {
        Event::Alloc { address, bytes, .. } => memory.place(*address, *bytes).map_err(DeviceError::from)?,
        Event::Free { address } => memory.free(*address).map_err(DeviceError::from)?,
        Event::CopyIn { to, data } => region::write(memory, to, &capsule.blobs.get(*data)?)?,
        Event::CopyWithin { to, from } => region::copy(memory, to, from)?,
        Event::Fill { to, value, width } => region::fill(memory, to, *value, *width)?,
        Event::Load { .. } | Event::Launch(_) | Event::CopyOut { .. } | Event::Synchronize => {}
    }
    Ok(())
}
