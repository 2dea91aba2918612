//! One simulated GPU: memory, loaded modules, and the executor that runs launches.
//!
//! Everything that happens to a device happens through these methods, whether an application calls them through the
//! CUDA runtime or a recording is replayed, so both do the same.

use crate::error::{DeviceError, TrapReport};
use crate::explain::{self, TrapDetail};
use crate::guests::Guests;
use crate::launch::{check_launch, runnable};
use crate::modules::Modules;
use crate::races::{Interleavings, KernelRace, RaceWatch};
use crate::region;
use crate::run::{LaunchStats, Probe, run};
use capsule::{HardenedFunction, Launch, ModuleId, PlacedSymbol, Region};
use lower::Contract;
use simt::guest::{GuestError, Image, KernelInfo};
use simt::memory::GlobalMemory;
use simt::{Executor, Fuel, LevelName, Program, RunEnd};
use std::sync::Arc;

/// Instructions that a thread may execute where no golden run says how many it needs.
pub const UNBOUNDED: u32 = u32::MAX;

/// How a launch ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaunchEnd {
    /// Every thread exited.
    Completed {
        /// Instructions executed by all threads.
        instructions: u64,
    },
    /// A thread did something wrong.
    Trapped(TrapReport),
}

/// What came of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// How it ended.
    pub end: LaunchEnd,
    /// Instructions executed by all threads.
    pub instructions: u64,
    /// Accesses to mapped pages outside every allocation.
    pub strayed: u64,
    /// Instructions that the thread of the probe had executed when its block ended; 0 without a probe.
    pub thread_instructions: u64,
}

/// A simulated GPU.
#[derive(Debug)]
pub struct Device {
    memory: GlobalMemory,
    modules: Modules,
    executor: Executor,
    printed: Vec<u8>,
    complaints: Vec<u8>,
    races: RaceWatch,
    /// How many of the races were asked for.
    told: usize,
}

impl Default for Device {
    fn default() -> Self {
        Self::new()
    }
}

impl Device {
    /// A device at the best instruction-set level of this host.
    #[must_use]
    pub fn new() -> Self {
        Self::at_level(LevelName::best())
    }

    /// A device at a given level; the results are the same.
    #[must_use]
    pub fn at_level(level: LevelName) -> Self {
        Self::with(level, Guests::default())
    }

    /// A device at a given level, whose modules these guests read.
    #[must_use]
    pub fn with(level: LevelName, guests: Guests) -> Self {
        Self {
            memory: GlobalMemory::new(),
            modules: Modules::of(guests),
            executor: Executor::new(level),
            printed: Vec::new(),
            complaints: Vec::new(),
            races: RaceWatch::default(),
            told: 0,
        }
    }

    /// Joins products with the sums that read them as said in modules that are loaded from now on.
    pub fn contract(&mut self, contract: Contract) {
        self.modules.contract(contract);
    }

    /// Its memory.
    pub fn memory(&mut self) -> &mut GlobalMemory {
        &mut self.memory
    }

    /// Its modules.
    #[must_use]
    pub fn modules(&self) -> &Modules {
        &self.modules
    }

    /// Loads a module, its variables placed where there is room; returns where they are.
    ///
    /// # Errors
    /// If the code is not accepted or there is no room.
    pub fn load(&mut self, id: ModuleId, name: &str, image: Image<'_>) -> Result<Vec<PlacedSymbol>, DeviceError> {
        Ok(self.modules.load(id, name, image, &mut self.memory)?)
    }

    /// Loads a module, its variables where a recording had them.
    ///
    /// # Errors
    /// If the code is not accepted or a place is missing or taken.
    pub fn load_at(
        &mut self,
        id: ModuleId,
        name: &str,
        image: Image<'_>,
        places: &[PlacedSymbol],
    ) -> Result<(), DeviceError> {
        Ok(self.modules.load_at(id, name, image, places, &mut self.memory)?)
    }

    /// Says which functions of a loaded module protection was written into: the instructions of its kernels are in
    /// [`PROTECTION_SETS`](crate::PROTECTION_SETS) from now on.
    pub fn protect(&mut self, id: ModuleId, functions: &[HardenedFunction]) {
        self.modules.protect(id, functions);
    }

    /// Allocates memory; its bytes are whatever was there, at first zero.
    ///
    /// # Errors
    /// If no room is left.
    pub fn allocate(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        Ok(self.memory.allocate(bytes)?)
    }

    /// Allocates a given range.
    ///
    /// # Errors
    /// If some of it is taken.
    pub fn place(&mut self, address: u64, bytes: u64) -> Result<(), DeviceError> {
        Ok(self.memory.place(address, bytes)?)
    }

    /// Gives memory back.
    ///
    /// # Errors
    /// If no allocation starts there.
    pub fn free(&mut self, address: u64) -> Result<(), DeviceError> {
        Ok(self.memory.free(address)?)
    }

    /// Writes the rows of a region from packed bytes.
    ///
    /// # Errors
    /// If the sizes differ or some of the region is not mapped.
    pub fn write(&mut self, to: &Region, packed: &[u8]) -> Result<(), DeviceError> {
        region::write(&mut self.memory, to, packed)
    }

    /// Reads the rows of a region, packed.
    ///
    /// # Errors
    /// If some of the region is not mapped.
    pub fn read(&mut self, from: &Region) -> Result<Vec<u8>, DeviceError> {
        region::read(&mut self.memory, from)
    }

    /// Copies from one region to another of as many bytes; they may overlap.
    ///
    /// # Errors
    /// If the sizes differ or some of either is not mapped.
    pub fn copy(&mut self, to: &Region, from: &Region) -> Result<(), DeviceError> {
        region::copy(&mut self.memory, to, from)
    }

    /// Fills the rows of a region with a value of 1, 2 or 4 bytes.
    ///
    /// # Errors
    /// If the width is another, or some of the region is not mapped.
    pub fn fill(&mut self, to: &Region, value: u32, width: u8) -> Result<(), DeviceError> {
        region::fill(&mut self.memory, to, value, width)
    }

    /// What a launch needs to know about a kernel, if there is one of this name.
    #[must_use]
    pub fn kernel(&self, id: ModuleId, name: &str) -> Option<KernelInfo> {
        self.modules.module(id).ok()?.kernel(name)
    }

    /// Why a kernel cannot run, as far as its code alone says.
    #[must_use]
    pub fn refusal(&self, id: ModuleId, name: &str) -> Option<GuestError> {
        self.modules.module(id).ok()?.refusal(name)
    }

    /// The names of a module's kernels, in order.
    #[must_use]
    pub fn kernels(&self, id: ModuleId) -> Vec<String> {
        self.modules.module(id).map(|module| module.kernels()).unwrap_or_default()
    }

    /// Runs a launch to its end.
    ///
    /// # Errors
    /// If the kernel does not exist or cannot be run, the launch asks for what no device has, or the host has no memory for what it
    /// touches: memory is then as the launch left it.
    pub fn launch(&mut self, launch: &Launch) -> Result<LaunchEnd, DeviceError> {
        Ok(self.launch_with(launch, Fuel::Each(UNBOUNDED), None)?.end)
    }

    /// As [`launch`](Self::launch), each thread with so much fuel, and a probe in one block if one is given. Running
    /// out of fuel is the trap of that name.
    ///
    /// # Errors
    /// As [`launch`](Self::launch).
    pub fn launch_with(
        &mut self,
        launch: &Launch,
        fuel: Fuel<'_>,
        probe: Option<Probe<'_>>,
    ) -> Result<Launched, DeviceError> {
        let program = self.modules.program(launch.module, &launch.kernel)?;
        check_launch(launch, &program)?;
        let interleaving = self.races.look(&mut self.executor, launch, &program, &mut self.memory)?;
        let runnable = simt::KernelLaunch { interleaving, ..runnable(launch, &program) };
        let (printed, complaints) = (&mut self.printed, &mut self.complaints);
        self.memory.expect_shortage();
        let ran = run(&mut self.executor, &mut self.memory, &runnable, fuel, probe, |executor| {
            printed.extend(executor.take_printed());
            let assertions = executor.take_assertions();
            complaints.extend(assertions.iter().flat_map(|assertion| explain::complaint(assertion, launch)));
        });
        self.memory.check_shortage()?;
        let LaunchStats { end, instructions, strayed, thread_instructions, .. } = ran;
        let end = match end {
            RunEnd::Trapped(trap) => LaunchEnd::Trapped(TrapReport::new(trap, &program)),
            RunEnd::Completed | RunEnd::Stopped | RunEnd::Waits => LaunchEnd::Completed { instructions },
        };
        Ok(Launched { end, instructions, strayed, thread_instructions })
    }

    /// What launches have printed since this was last asked.
    pub fn take_printed(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.printed)
    }

    /// What failed assertions have to say since this was last asked, as CUDA writes it to standard error.
    pub fn take_complaints(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.complaints)
    }

    /// Says which kernels have data races, and that nobody has to look for more.
    pub fn interleave(&mut self, kernels: Interleavings) {
        self.races = RaceWatch::knowing(kernels);
    }

    /// The first kernel of whose launches not all was looked at for data races.
    #[must_use]
    pub fn first_unsearched(&self) -> Option<&str> {
        self.races.first_unsearched()
    }

    /// The data races that were found since this was last asked.
    pub fn take_races(&mut self) -> Vec<KernelRace> {
        let told = std::mem::replace(&mut self.told, self.races.races().len());
        self.races.races()[told..].to_vec()
    }

    /// More about a trap of a launch.
    #[must_use]
    pub fn explain(&self, launch: &Launch, report: &TrapReport) -> TrapDetail {
        let instruction = report.trap.instruction;
        let program = self.modules.launched(launch.module, &launch.kernel);
        let module = self.modules.module(launch.module).ok();
        let written = program.zip(module).and_then(|(program, module)| {
            let at = program.instructions.get(instruction as usize)?;
            Some(module.text(at.function, at.pc))
        });
        TrapDetail::new(
            program.and_then(|program| program.facts(instruction)),
            written.unwrap_or_default(),
            launch,
            report,
        )
    }

    /// Whether a module that is loaded has a heap of device code.
    #[must_use]
    pub fn has_heap(&self) -> bool {
        self.modules.have_heap()
    }

    /// How large the heap of device code is in modules that are loaded from now on.
    pub fn set_heap_bytes(&mut self, bytes: u64) {
        self.modules.set_heap_bytes(bytes);
    }

    /// A kernel ready to run.
    ///
    /// # Errors
    /// If the module or kernel does not exist, or does what the machine cannot do.
    pub fn program(&mut self, id: ModuleId, kernel: &str) -> Result<Arc<Program>, DeviceError> {
        Ok(self.modules.program(id, kernel)?)
    }

    /// Takes the device apart, to share its modules with others.
    #[must_use]
    pub fn into_parts(self) -> (GlobalMemory, Modules) {
        (self.memory, self.modules)
    }
}
