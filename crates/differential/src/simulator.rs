//! The simulator as a machine that knows nothing of faults: what it does with a rewritten kernel must be what its own
//! injection does with the kernel as it was.

use crate::machine::{Armed, Ended, Machine, Next, Repeated, Session};
use crate::protocol::MachineInfo;
use crate::row::LATE;
use capsule::{Capsule, Content, Digest, Event, Launch, ModuleId, PlacedSymbol, Position, Region, Replayer, replay};
use device::{Device, DeviceError, Image, Modules, check_launch, region, run, runnable};
use inject::Golden;
use rewrite::{BYTES, VARIABLE};
use simt::memory::GlobalMemory;
use simt::memory::window::{ALLOCATION, MAPPING};
use simt::{Executor, Fuel, LevelName, RunEnd, TrapKind};
use std::collections::BTreeMap;
use strike::FUEL_FACTOR;

/// How many instructions a rewritten kernel executes at most for one of the original.
const GROWTH: u32 = 32;

/// A simulated GPU.
#[derive(Debug)]
pub struct Simulator<'g> {
    golden: &'g Golden,
    /// Kept from session to session.
    executor: Executor,
}

impl<'g> Simulator<'g> {
    /// A simulated GPU for the capsule of a golden run.
    #[must_use]
    pub fn new(golden: &'g Golden) -> Self {
        Self { golden, executor: Executor::new(LevelName::best()) }
    }

    /// More instructions than a thread of a rewritten kernel may execute before it is stopped.
    #[must_use]
    pub fn fuel(golden: &Golden) -> u32 {
        let most = golden.launches().iter().filter_map(|launch| launch.counts().most()).max().unwrap_or(0);
        let loops = u32::try_from(golden.loops()).unwrap_or(u32::MAX);
        let fuel = most.saturating_mul(FUEL_FACTOR).saturating_add(constant(golden));
        fuel.saturating_add(loops).saturating_mul(GROWTH)
    }
}

impl Machine for Simulator<'_> {
    fn session(&mut self, serve: &mut dyn FnMut(&MachineInfo, &mut dyn Session) -> Next) -> Result<Next, String> {
        let info = MachineInfo { name: "simulator".to_owned(), ..MachineInfo::default() };
        let (golden, executor) = (self.golden, &mut self.executor);
        Ok(serve(&info, &mut Simulation { golden, executor, modules: Modules::default() }))
    }
}

struct Simulation<'g, 'e> {
    golden: &'g Golden,
    executor: &'e mut Executor,
    modules: Modules,
}

impl Session for Simulation<'_, '_> {
    fn load(&mut self, texts: &BTreeMap<ModuleId, String>) -> Result<(), String> {
        let mut device = Device::new();
        for (&id, text) in texts {
            let capsule = self.golden.capsule();
            let module = capsule.module(id).ok_or_else(|| format!("find module {}", id.0))?;
            let record = PlacedSymbol { name: VARIABLE.to_owned(), address: record(capsule, id), bytes: BYTES };
            let places: Vec<PlacedSymbol> = module.globals.iter().cloned().chain([record]).collect();
            device.load_at(id, "rewritten", Image::ptx(text), &places).map_err(|error| error.to_string())?;
        }
        self.modules = device.into_parts().1;
        Ok(())
    }

    fn repeat(&mut self, armed: Option<&Armed<'_>>) -> Repeated {
        let mut walk = ModuleReplay {
            golden: self.golden,
            executor: self.executor,
            modules: &mut self.modules,
            memory: GlobalMemory::new(),
            armed,
            copies: Vec::new(),
            record: None,
        };
        let stopped = replay(self.golden.capsule(), Position::default(), &mut walk).err();
        let (copies, record) = (walk.copies, walk.record);
        let ended = match stopped {
            None => Ended::Completed(copies),
            Some(Stop::Hang) => Ended::Hang,
            Some(Stop::Failed(name)) => Ended::Failed(name),
        };
        Repeated { ended, record }
    }
}

/// Instructions beyond those of the golden run: what counts as late is not waited for.
fn constant(golden: &Golden) -> u32 {
    golden.fuel().min(LATE as u32)
}

/// Where the record of a module is: at the end of the memory that is mapped for the capsule anyway, so that no access
/// finds more memory, or less, than without it.
fn record(capsule: &Capsule, id: ModuleId) -> u64 {
    let allocated = capsule.events.iter().filter_map(|event| match event {
        Event::Alloc { address, bytes, .. } => Some(address + bytes),
        _ => None,
    });
    let variables = capsule.modules.iter().flat_map(|module| &module.globals);
    let end = allocated.chain(variables.map(|symbol| symbol.address + symbol.bytes)).max().unwrap_or(0);
    let number = capsule.modules.iter().position(|module| module.id == id).unwrap_or(0) as u64;
    let all = ALLOCATION * capsule.modules.len() as u64;
    (end.next_multiple_of(ALLOCATION) + all).next_multiple_of(MAPPING) - all + ALLOCATION * number
}

/// The replay of a capsule with a rewritten module.
struct ModuleReplay<'w> {
    golden: &'w Golden,
    executor: &'w mut Executor,
    modules: &'w mut Modules,
    memory: GlobalMemory,
    armed: Option<&'w Armed<'w>>,
    copies: Vec<Vec<u8>>,
    record: Option<Vec<u8>>,
}

enum Stop {
    Hang,
    Failed(String),
}

impl From<DeviceError> for Stop {
    fn from(error: DeviceError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl ModuleReplay<'_> {
    fn capsule(&self) -> &Capsule {
        self.golden.capsule()
    }

    /// The record of the armed fault.
    fn place(&self, armed: &Armed<'_>) -> Region {
        Region::linear(record(self.capsule(), armed.module), BYTES)
    }
}

impl Replayer for ModuleReplay<'_> {
    type Stop = Stop;

    fn load(&mut self, _: Position, id: ModuleId) -> Result<(), Stop> {
        self.modules.reload(id, &mut self.memory).map_err(|error| DeviceError::from(error).into())
    }

    fn launch(&mut self, at: Position, launch: &Launch) -> Result<(), Stop> {
        let armed = self.armed.filter(|armed| armed.launch == at.launches);
        if let Some(armed) = armed {
            let place = self.place(armed);
            region::write(&mut self.memory, &place, armed.bytes)?;
        }
        let program = self.modules.program(launch.module, &launch.kernel).map_err(DeviceError::from)?;
        check_launch(launch, &program)?;
        let counts = self.golden.launches()[at.launches].counts();
        let (factor, constant) = (FUEL_FACTOR * GROWTH, constant(self.golden).saturating_mul(GROWTH));
        let loops = self.golden.loops().saturating_mul(GROWTH.into());
        let fuel = Fuel::Scaled { counts, factor, constant, loops, looks_ahead: true };
        let ran = run(self.executor, &mut self.memory, &runnable(launch, &program), fuel, None, |_| {});
        if let RunEnd::Trapped(trap) = ran.end {
            return Err(match trap.kind {
                TrapKind::EndlessLoop | TrapKind::LongLoop | TrapKind::OutOfFuel => Stop::Hang,
                kind => Stop::Failed(kind.name().to_owned()),
            });
        }
        if let Some(armed) = armed {
            let place = self.place(armed);
            self.record = Some(region::read(&mut self.memory, &place)?);
            region::fill(&mut self.memory, &place, 0, 1)?;
        }
        Ok(())
    }

    fn copy_out(&mut self, _: Position, from: &Region, _: Digest) -> Result<(), Stop> {
        self.copies.push(region::read(&mut self.memory, from)?);
        Ok(())
    }

    fn write(&mut self, _: Position, to: &Region, content: Content) -> Result<(), Stop> {
        match content {
            Content::Blob(blob) => {
                let bytes = self.capsule().blobs.get(blob).map_err(|error| Stop::Failed(error.to_string()))?;
                region::write(&mut self.memory, to, &bytes)?;
            }
            Content::Repeated { value, width } => region::fill(&mut self.memory, to, value, width)?,
        }
        Ok(())
    }

    fn copy_within(&mut self, _: Position, to: &Region, from: &Region) -> Result<(), Stop> {
        Ok(region::copy(&mut self.memory, to, from)?)
    }

    fn allocate(&mut self, _: Position, address: u64, bytes: u64) -> Result<(), Stop> {
        self.memory.place(address, bytes).map_err(|error| DeviceError::from(error).into())
    }

    fn free(&mut self, _: Position, address: u64) -> Result<(), Stop> {
        self.memory.free(address).map_err(|error| DeviceError::from(error).into())
    }
}
