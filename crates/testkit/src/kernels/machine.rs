//! A kernel test on the machine: buffers in memory, launches, and what they leave behind.

use super::directive::{Argument, Directive, LaunchDirective};
use super::script::Script;
use capsule::{Launch, ModuleId, PlacedSymbol};
use device::Image;
use device::{Modules, RaceWatch, TrapReport, check_launch, runnable};
use simt::memory::GlobalMemory;
use simt::{Executor, Fuel, KernelLaunch, LevelName, NoHook, Program, RunEnd};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The only module of a test.
pub(super) const MODULE: ModuleId = ModuleId(0);

/// What a test did at one level.
#[derive(Debug)]
pub(super) struct Outcome {
    /// Where variables of the module are.
    pub(super) symbols: Vec<PlacedSymbol>,
    /// Addresses and sizes of buffers and variables.
    pub(super) places: BTreeMap<String, (u64, u64)>,
    /// The launches, with the arguments that they had.
    pub(super) launches: Vec<Launch>,
    /// Instructions of every thread, by launch.
    pub(super) counts: Vec<Vec<u32>>,
    /// What each `read` found, in order, then every buffer at the end.
    pub(super) copies: Vec<(String, Vec<u8>)>,
    /// How it ended, if a thread did something wrong.
    pub(super) trap: Option<TrapReport>,
    /// What the launches printed.
    pub(super) printed: Vec<u8>,
    /// Strayed accesses.
    pub(super) strayed: u64,
}

/// Runs a test.
pub(super) fn execute(script: &Script, level: LevelName) -> Result<Outcome, String> {
    let mut machine = Machine::new(script, level)?;
    for directive in &script.directives {
        match directive {
            Directive::Run(run) if machine.outcome.trap.is_none() => machine.run(run)?,
            Directive::Read(name) if machine.outcome.trap.is_none() => machine.read(name)?,
            _ => {}
        }
    }
    let names: Vec<String> = machine.outcome.places.keys().cloned().collect();
    names.iter().try_for_each(|name| machine.read(name))?;
    machine.outcome.strayed = machine.memory.strayed();
    Ok(machine.outcome)
}

/// What loading a test, or making its kernel ready, fails with.
pub(super) fn refusal(script: &Script, kernel: &str) -> Result<String, String> {
    let (mut memory, mut modules) = (GlobalMemory::new(), Modules::default());
    let ready = modules.load(MODULE, &script.name, Image::ptx(&script.text), &mut memory);
    match ready.and_then(|_| modules.program(MODULE, kernel)) {
        Ok(_) => Err(format!("kernel {kernel} was accepted")),
        Err(error) => Ok(format!("failed to {error}\n")),
    }
}

struct Machine {
    memory: GlobalMemory,
    modules: Modules,
    executor: Executor,
    races: RaceWatch,
    outcome: Outcome,
}

impl Machine {
    fn new(script: &Script, level: LevelName) -> Result<Self, String> {
        let (mut memory, mut modules) = (GlobalMemory::new(), Modules::default());
        let loaded = modules.load(MODULE, &script.name, Image::ptx(&script.text), &mut memory);
        let symbols = loaded.map_err(|error| format!("failed to {error}"))?;
        let variables = symbols.iter().map(|symbol| (symbol.name.clone(), (symbol.address, symbol.bytes)));
        let mut places: BTreeMap<String, (u64, u64)> = variables.collect();
        for buffer in script.buffers() {
            let bytes = buffer.values.bytes.len() as u64;
            let at = memory.allocate(bytes).map_err(|error| format!("failed to {error}"))?;
            let mapped = memory.copy_in(at, &buffer.values.bytes);
            if !mapped || places.insert(buffer.name.clone(), (at, bytes)).is_some() {
                return Err(format!("buffer {} is there twice", buffer.name));
            }
        }
        let (launches, counts, copies) = (Vec::new(), Vec::new(), Vec::new());
        let outcome =
            Outcome { symbols, places, launches, counts, copies, trap: None, printed: Vec::new(), strayed: 0 };
        Ok(Self { memory, modules, executor: Executor::new(level), races: RaceWatch::default(), outcome })
    }

    fn read(&mut self, name: &str) -> Result<(), String> {
        let (at, bytes) = place(&self.outcome.places, name)?;
        let mut found = vec![0; bytes as usize];
        if !self.memory.copy_out(at, &mut found) {
            return Err(format!("{name} is not mapped"));
        }
        self.outcome.copies.push((name.to_owned(), found));
        Ok(())
    }

    fn run(&mut self, run: &LaunchDirective) -> Result<(), String> {
        let words = |error: &dyn std::fmt::Display| format!("failed to {error}");
        let program = self.modules.program(MODULE, &run.kernel).map_err(|error| words(&error))?;
        let launch = self.launch(run, &program)?;
        check_launch(&launch, &program).map_err(|error| words(&error))?;
        let looked = self.races.look(&mut self.executor, &launch, &program, &mut self.memory);
        let interleaving = looked.map_err(|error| words(&error))?;
        let ready = KernelLaunch { interleaving, ..runnable(&launch, &program) };
        self.executor.prepare(&ready);
        let mut counts = Vec::new();
        let count = |executor: &mut Executor, _: &mut GlobalMemory, _| counts.extend(executor.counts());
        let end = self.executor.run(&ready, &mut self.memory, Fuel::Each(run.fuel), None, &mut NoHook, count);
        if let RunEnd::Trapped(trap) = end {
            self.outcome.trap = Some(TrapReport::new(trap, &program));
        }
        self.outcome.printed.extend(self.executor.take_printed());
        self.outcome.launches.push(launch);
        self.outcome.counts.push(counts);
        Ok(())
    }

    fn launch(&self, run: &LaunchDirective, program: &Arc<Program>) -> Result<Launch, String> {
        let module = self.modules.module(MODULE).map_err(|error| format!("failed to {error}"))?;
        let kernel = module.kernel(&program.name).ok_or_else(|| format!("there is no kernel {}", run.kernel))?;
        if kernel.params.len() != run.arguments.len() {
            return Err(format!("{} arguments, {} has {}", run.arguments.len(), run.kernel, kernel.params.len()));
        }
        let mut params = vec![0; kernel.param_bytes as usize];
        for (number, (argument, param)) in run.arguments.iter().zip(&kernel.params).enumerate() {
            let bytes = bytes_of(argument, &self.outcome.places)?;
            if bytes.len() != param.bytes as usize {
                return Err(format!("argument {number} of {} bytes, it has {}", bytes.len(), param.bytes));
            }
            params[param.offset as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
        let (kernel, shared_bytes) = (run.kernel.clone(), run.shared);
        let LaunchDirective { grid, block, .. } = *run;
        Ok(Launch { module: MODULE, kernel, grid, block, shared_bytes, params, cooperative: false })
    }
}

pub(super) fn place(places: &BTreeMap<String, (u64, u64)>, name: &str) -> Result<(u64, u64), String> {
    places.get(name).copied().ok_or_else(|| format!("there is no buffer or variable {name}"))
}

/// The bytes of an argument.
pub(super) fn bytes_of(argument: &Argument, places: &BTreeMap<String, (u64, u64)>) -> Result<Vec<u8>, String> {
    match argument {
        Argument::Bytes(bytes) => Ok(bytes.clone()),
        Argument::Address(name, offset) => {
            Ok(place(places, name)?.0.wrapping_add_signed(*offset).to_le_bytes().to_vec())
        }
    }
}
