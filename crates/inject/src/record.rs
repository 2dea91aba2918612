//! The golden run is made: every event of the capsule executed, and what injection runs need kept.

use crate::golden::{Golden, GoldenCopy, GoldenError, GoldenLaunch, references};
use crate::machine::{Machine, Order};
use crate::replay::{ReplayError, write};
use capsule::{Capsule, Content, Digest, Launch, ModuleId, Output, Position, Region, Replayer, replay};
use counts::CountsWriter;
use device::{Contract, Device, DeviceError, Guests, RaceWatch, TrapReport, UNBOUNDED, check_launch, run, runnable};
use fault::Isa;
use simt::memory::History;
use simt::{Executor, Fuel, LevelName, RunEnd};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use strike::{FUEL_CONSTANT, loop_fuel};

impl Golden {
    /// Runs a capsule at the best instruction-set level of this host.
    ///
    /// # Errors
    /// If the capsule cannot be executed, traps, or does not reproduce its recording.
    pub fn run(capsule: Arc<Capsule>) -> Result<Self, GoldenError> {
        Self::run_on(capsule, Machine::default())
    }

    /// Runs a capsule on a machine.
    ///
    /// It has to reproduce the recording; where it does not, a machine has to that joins products otherwise with the sums
    /// that read them, or that executes warps in its own order, as the one did that the capsule was recorded on.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_on(capsule: Arc<Capsule>, machine: Machine) -> Result<Self, GoldenError> {
        let made = Self::make(Arc::clone(&capsule), machine.clone(), Expected::Recording);
        let Err(error @ GoldenError::Differs { .. }) = made else { return made };
        let with = |contract| Machine { contract, order: Order::AsRaces, ..machine.clone() };
        let is_other = |other: &Machine| (other.contract, other.order) != (machine.contract, machine.order);
        let mut others = Contract::ALL.into_iter().map(with).filter(is_other);
        let reproduces = |other| Self::make(Arc::clone(&capsule), other, Expected::Recording).is_ok();
        if others.any(reproduces) { Self::make(capsule, machine, Expected::Anything) } else { Err(error) }
    }

    fn make(capsule: Arc<Capsule>, machine: Machine, expected: Expected) -> Result<Self, GoldenError> {
        #[expect(clippy::disallowed_methods, reason = "the speed of the golden run is reported, never used")]
        let started = std::time::Instant::now();
        let Machine { level, guests, addresses, contract, order, looks_ahead } = machine;
        let watch = match order {
            Order::AsRaces => RaceWatch::default(),
            Order::Always(interleaving) => RaceWatch::always(interleaving),
        };
        let mut recorder = Recorder::new(&capsule, level, guests.contracting(contract), watch, expected);
        recorder.device.memory().set_profile(Arc::clone(&addresses));
        replay(&capsule, Position::default(), &mut recorder)?;
        let Recorder { mut device, mut history, launches, copies, outputs, watch, .. } = recorder;
        if launches.is_empty() {
            return Err(GoldenError::NoLaunch);
        }
        history.commit(device.memory(), capsule.events.len() as u32);
        let (_, modules) = device.into_parts();
        let references = references(&outputs, &copies);
        let race_seconds = watch.seconds();
        let seconds = started.elapsed().as_secs_f64() - race_seconds;
        let counts = launches.iter().map(|launch| launch.counts.bytes());
        let bytes = history.bytes() + copies.iter().map(|copy| copy.bytes.len()).chain(counts).sum::<usize>();
        let (written, history) = (history.written().collect(), Arc::new(history));
        let loops = loop_fuel(launches.iter().map(GoldenLaunch::thread_instructions).sum());
        let prints = launches.iter().any(|launch| launch.program.prints());
        let mut golden = Self {
            bytes: bytes as u64,
            modules,
            written,
            history,
            launches,
            prints,
            copies,
            acts_at_end: OnceLock::new(),
            outputs,
            references,
            level,
            addresses,
            contract,
            order,
            races: watch.races().to_vec(),
            race_search: watch.search(),
            seconds,
            race_seconds,
            fuel: FUEL_CONSTANT,
            loops,
            looks_ahead,
            capsule,
        };
        golden.name_outputs();
        Ok(golden)
    }
}

/// The source of the copies to the host that are expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// What the capsule says.
    Recording,
    /// What they are.
    Anything,
}

struct Recorder<'a> {
    capsule: &'a Capsule,
    device: Device,
    executor: Executor,
    history: History,
    launches: Vec<GoldenLaunch>,
    /// How often each kernel was launched.
    launched: BTreeMap<String, u32>,
    copies: Vec<GoldenCopy>,
    outputs: Vec<Output>,
    watch: RaceWatch,
    expected: Expected,
}

impl<'a> Recorder<'a> {
    fn new(capsule: &'a Capsule, level: LevelName, guests: Guests, watch: RaceWatch, expected: Expected) -> Self {
        Self {
            capsule,
            watch,
            expected,
            device: Device::with(level, guests),
            executor: Executor::new(level),
            history: History::default(),
            launches: Vec::new(),
            launched: BTreeMap::new(),
            copies: Vec::new(),
            outputs: capsule.effective_outputs(),
        }
    }

    /// Why the golden run ends at an event that could not be replayed.
    fn failed(&self, at: Position, error: impl Into<ReplayError>) -> GoldenError {
        match error.into() {
            ReplayError::Device(source) => {
                let what = self.capsule.events[at.event].kind().name();
                GoldenError::Event { event: at.event, what, source: Box::new(source) }
            }
            ReplayError::Capsule(error) => GoldenError::Capsule(error),
        }
    }

    /// The instruction set of a module that is loaded.
    fn isa(&self, module: ModuleId) -> Result<Isa, GoldenError> {
        let guest = self.device.modules().guest_of(module).ok_or(GoldenError::NoCode(module.0))?;
        Isa::new(guest).ok_or(GoldenError::Guest(guest))
    }

    /// The number of a launch among those of its kernel.
    fn number(&mut self, kernel: &str) -> u32 {
        let next = self.launched.entry(kernel.to_owned()).or_default();
        *next += 1;
        *next - 1
    }
}

impl Replayer for Recorder<'_> {
    type Stop = GoldenError;

    fn load(&mut self, at: Position, id: ModuleId) -> Result<(), GoldenError> {
        let module = self.capsule.module(id).ok_or(GoldenError::NoCode(id.0))?;
        let code = self.device.modules().guests().code(self.capsule, id).ok_or(GoldenError::NoCode(id.0))?;
        let (name, bytes) = (code.name(self.capsule, id), self.capsule.blobs.get(code.blob)?);
        let image = code.image(&bytes);
        let loaded = self.device.load_at(id, &name, image, &module.globals);
        loaded.map_err(|error| self.failed(at, error))?;
        if self.capsule.provenance.hardening.is_some() {
            self.device.protect(id, &module.hardened);
        }
        Ok(())
    }

    fn launch(&mut self, at: Position, launch: &Launch) -> Result<(), GoldenError> {
        let program = self.device.program(launch.module, &launch.kernel).map_err(|error| self.failed(at, error))?;
        check_launch(launch, &program).map_err(|error| self.failed(at, error))?;
        let (event, isa) = (at.event as u32, self.isa(launch.module)?);
        self.history.commit(self.device.memory(), event);
        let (mut counts, mut printed) = (CountsWriter::default(), Vec::new());
        let looked = self.watch.look(&mut self.executor, launch, &program, self.device.memory());
        let interleaving = looked.map_err(|error| self.failed(at, DeviceError::from(error)))?;
        let runnable = simt::KernelLaunch { interleaving, ..runnable(launch, &program) };
        let fuel = Fuel::Each(UNBOUNDED);
        self.device.memory().expect_shortage();
        let ran = run(&mut self.executor, self.device.memory(), &runnable, fuel, None, |executor| {
            counts.extend(executor.counts());
            printed.extend(executor.take_printed());
        });
        self.device.memory().check_shortage().map_err(|error| self.failed(at, DeviceError::from(error)))?;
        if let RunEnd::Trapped(trap) = ran.end {
            return Err(GoldenError::Trapped(Box::new(TrapReport::new(trap, &program))));
        }
        let (number, memory) = (self.number(&program.name), self.device.memory());
        let written = memory.written().map(|(page, _)| page).collect();
        // Memory right after a launch is what it is judged by where it runs whole.
        self.history.commit(memory, event + 1);
        let (strayed, waits) = (ran.strayed, ran.waits);
        self.launches.push(GoldenLaunch {
            event: at.event,
            number,
            program,
            isa,
            interleaving,
            waits,
            counts: counts.finish(),
            written,
            strayed,
            printed,
        });
        Ok(())
    }

    fn copy_out(&mut self, at: Position, from: &Region, digest: Digest) -> Result<(), GoldenError> {
        let bytes = self.device.read(from).map_err(|error| self.failed(at, error))?;
        let copy = at.copies as u32;
        if self.expected == Expected::Recording && Digest::of(&bytes) != digest {
            return Err(GoldenError::Differs { copy, event: at.event });
        }
        let output = self.outputs.iter().position(|output| output.copy == copy);
        self.copies.push(GoldenCopy { event: at.event, bytes, output, scratch: false });
        Ok(())
    }

    fn write(&mut self, at: Position, to: &Region, content: Content) -> Result<(), GoldenError> {
        write(self.device.memory(), self.capsule, to, content).map_err(|error| self.failed(at, error))
    }

    fn copy_within(&mut self, at: Position, to: &Region, from: &Region) -> Result<(), GoldenError> {
        self.device.copy(to, from).map_err(|error| self.failed(at, error))
    }

    fn allocate(&mut self, at: Position, address: u64, bytes: u64) -> Result<(), GoldenError> {
        self.device.place(address, bytes).map_err(|error| self.failed(at, error))
    }

    fn free(&mut self, at: Position, address: u64) -> Result<(), GoldenError> {
        self.device.free(address).map_err(|error| self.failed(at, error))
    }
}
