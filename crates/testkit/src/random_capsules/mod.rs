//! Random capsules: small programs of several launches, for the equality of the tiers.
//!
//! Their kernels read and write a few buffers in place and out of place, exchange values through shared memory, race
//! with other blocks and update memory atomically; between launches memory is copied, filled, freed and allocated. They
//! always end, and never trap without a fault.

mod kernel;

use crate::fuzz::Dice;
use capsule::{AllocKind, Capsule, Digest, Event, Launch, ModuleId, Output, RecordedModule, Region};
use device::Image;
use device::{Device, DeviceError, LaunchEnd};

/// Elements of a buffer, of 32 bits each.
const ELEMENTS: u64 = 512;
const BYTES: u64 = 4 * ELEMENTS;
const BUFFERS: usize = 4;
const KERNELS: usize = 3;
const MODULE: ModuleId = ModuleId(0);

/// An application that makes a capsule as it runs.
struct Application {
    dice: Dice,
    device: Device,
    capsule: Capsule,
    buffers: Vec<u64>,
    copies: u32,
}

fn words(error: DeviceError) -> String {
    format!("failed to {error}")
}

/// The capsule with this number among those of a seed.
///
/// # Errors
/// If the device refuses what the capsule asks for, or a kernel does not come to its end.
pub fn random_capsule(seed: u64, number: u64) -> Result<Capsule, String> {
    let mut dice = Dice::new(seed, number);
    let ptx = kernel::module(&mut dice, KERNELS);
    let mut capsule = Capsule::new(format!("random {number} of seed {seed}"));
    let mut device = Device::new();
    let globals = device.load(MODULE, "random", Image::ptx(&ptx)).map_err(words)?;
    let text = capsule.blobs.add(&ptx);
    capsule.modules.push(RecordedModule {
        id: MODULE,
        ptx: Some(text),
        binaries: Vec::new(),
        globals,
        hardened: Vec::new(),
    });
    capsule.events.push(Event::Load { module: MODULE });
    let mut application = Application { dice, device, capsule, buffers: Vec::new(), copies: 0 };
    for _ in 0..BUFFERS {
        let buffer = application.allocate()?;
        application.buffers.push(buffer);
    }
    for _ in 0..2 + application.dice.below(5) {
        application.launch()?;
        for _ in 0..application.dice.below(3) {
            application.between()?;
        }
    }
    for at in 0..BUFFERS / 2 {
        let copy = application.copies;
        application.copy_out(Region::linear(application.buffers[at], BYTES))?;
        let output = Output { name: format!("buffer {at}"), element: "u32".parse().ok(), ..Output::untyped(copy) };
        application.capsule.outputs.push(output);
    }
    Ok(application.capsule)
}

impl Application {
    /// A buffer with random contents.
    fn allocate(&mut self) -> Result<u64, String> {
        let address = self.device.allocate(BYTES).map_err(words)?;
        self.capsule.events.push(Event::Alloc { address, bytes: BYTES, kind: AllocKind::Device });
        self.copy_in(Region::linear(address, BYTES))?;
        Ok(address)
    }

    fn copy_in(&mut self, to: Region) -> Result<(), String> {
        let count = to.bytes().unwrap_or(0) as usize / 4;
        let bytes: Vec<u8> = (0..count).flat_map(|_| (self.dice.bits() as u32).to_le_bytes()).collect();
        self.device.write(&to, &bytes).map_err(words)?;
        let data = self.capsule.blobs.add(&bytes);
        self.capsule.events.push(Event::CopyIn { to, data });
        Ok(())
    }

    fn copy_out(&mut self, from: Region) -> Result<(), String> {
        let digest = Digest::of(&self.device.read(&from).map_err(words)?);
        self.capsule.events.push(Event::CopyOut { from, digest, data: None });
        self.copies += 1;
        Ok(())
    }

    fn buffer(&mut self) -> u64 {
        self.buffers[self.dice.below(BUFFERS)]
    }

    /// Some elements of a buffer.
    fn part(&mut self) -> Region {
        let elements = self.dice.stretch(ELEMENTS as usize, ELEMENTS as usize / 2);
        Region::linear(self.buffer() + 4 * elements.start as u64, 4 * elements.len() as u64)
    }

    fn launch(&mut self) -> Result<(), String> {
        let buffers: [u64; kernel::BUFFERS] = std::array::from_fn(|_| self.buffer());
        let salt = self.dice.bits();
        let threads = [8, 32, 40, 64][self.dice.below(4)];
        let launch = Launch {
            module: MODULE,
            kernel: kernel::name(self.dice.below(KERNELS)),
            grid: [1 + self.dice.below(6) as u32, 1, 1],
            block: [threads, 1, 1],
            shared_bytes: 0,
            params: buffers.into_iter().chain([salt]).flat_map(u64::to_le_bytes).collect(),
            cooperative: false,
        };
        match self.device.launch(&launch).map_err(words)? {
            LaunchEnd::Completed { .. } => self.capsule.events.push(Event::Launch(launch)),
            LaunchEnd::Trapped(report) => return Err(report.to_string()),
        }
        Ok(())
    }

    /// What the host does between two launches.
    fn between(&mut self) -> Result<(), String> {
        match self.dice.below(6) {
            0 => {
                let from = self.part();
                self.copy_out(from)
            }
            1 => {
                let to = self.part();
                self.copy_in(to)
            }
            2 => {
                let (to, value) = (self.part(), self.dice.bits() as u32);
                self.device.fill(&to, value, 4).map_err(words)?;
                self.capsule.events.push(Event::Fill { to, value, width: 4 });
                Ok(())
            }
            3 => {
                let to = self.part();
                let from = Region::linear(self.buffer(), to.bytes().unwrap_or(0));
                self.device.copy(&to, &from).map_err(words)?;
                self.capsule.events.push(Event::CopyWithin { to, from });
                Ok(())
            }
            4 => {
                let at = self.dice.below(BUFFERS);
                let address = self.buffers[at];
                self.device.free(address).map_err(words)?;
                self.capsule.events.push(Event::Free { address });
                self.buffers[at] = self.allocate()?;
                Ok(())
            }
            _ => {
                self.capsule.events.push(Event::Synchronize);
                Ok(())
            }
        }
    }
}
