//! A capsule repeated on a real GPU as often as one likes, its modules in other words each time if need be.
//!
//! Every repetition begins with the memory that the recording began with: that of allocations is zero, variables of
//! modules have their initial values. What a kernel wrote elsewhere stays until the context goes.

use crate::error::GpuError;
use crate::gpu::Gpu;
use crate::module::{KernelResources, LaunchShape, LoadedModule};
use crate::stopwatch::Stopwatch;
use capsule::{AddressMap, Capsule, Content, Digest, Event, Launch, ModuleId, MovedRange, Position, Region, Replayer};
use std::collections::BTreeMap;

/// Where the memory of a capsule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Where the recording had it: whatever points to it, means the same there.
    Recorded,
    /// Where the driver puts it, as that of any program: what lies around it is what lies around a program's memory. Only
    /// addresses among the arguments of launches are put right.
    Driver,
}

/// Bytes that are written into a variable before a launch, and read again after it.
#[derive(Clone, Copy, Debug)]
pub struct Note<'a> {
    /// The launch, from 0.
    pub launch: usize,
    /// The module of the variable.
    pub module: ModuleId,
    /// Its name.
    pub variable: &'a str,
    /// What is written. After the launch as many zeros are.
    pub bytes: &'a [u8],
}

/// What came out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// The bytes of every copy to the host, in order.
    pub copies: Vec<Vec<u8>>,
    /// Kernels launched.
    pub launches: u64,
    /// What stood in the variable of the note after its launch.
    pub noted: Option<Vec<u8>>,
}

/// How long a kernel took on the GPU in one repetition.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LaunchTimes {
    /// How many launches it had.
    pub launches: u64,
    /// Seconds of all of them together.
    pub seconds: f64,
    /// The resources that the driver's compiler gave it.
    pub resources: KernelResources,
}

/// A variable of a module: where it is, and its first bytes.
#[derive(Debug)]
struct Variable {
    place: MovedRange,
    initial: Vec<u8>,
}

/// A module with its text.
#[derive(Debug)]
struct Held<'g> {
    text: String,
    module: LoadedModule<'g>,
    variables: Vec<Variable>,
}

/// A capsule on a GPU.
#[derive(Debug)]
pub struct Repeats<'g> {
    gpu: &'g Gpu,
    capsule: &'g Capsule,
    modules: BTreeMap<ModuleId, Held<'g>>,
    /// Where the driver has put the memory of each allocation, by its event.
    allocated: BTreeMap<usize, MovedRange>,
}

impl<'g> Repeats<'g> {
    /// A capsule on a GPU, whose allocations are made now, in their order. If they are to be where the recording had
    /// them, they have to be [mapped](Gpu::map) already.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(gpu: &'g Gpu, capsule: &'g Capsule, placement: Placement) -> Result<Self, GpuError> {
        let mut allocated: BTreeMap<usize, MovedRange> = BTreeMap::new();
        for (at, event) in capsule.events.iter().enumerate() {
            if let Event::Alloc { address: from, bytes, .. } = *event {
                // Memory that is given back and taken again holds what it held.
                let again = allocated.values().find(|range| (range.from, range.bytes) == (from, bytes)).copied();
                let to = match (placement, again) {
                    (Placement::Recorded, _) => from,
                    (Placement::Driver, Some(again)) => again.to,
                    (Placement::Driver, None) => gpu.allocate(bytes)?,
                };
                allocated.insert(at, MovedRange { from, to, bytes });
            }
        }
        Ok(Self { gpu, capsule, modules: BTreeMap::new(), allocated })
    }

    /// Where the allocations are, in their order.
    pub fn allocations(&self) -> impl Iterator<Item = MovedRange> {
        self.allocated.values().copied()
    }

    /// Compiles and loads what is not loaded yet, and takes other texts of a module in place of the old one.
    ///
    /// # Errors
    /// If the driver's compiler refuses one.
    pub fn load(&mut self, texts: &BTreeMap<ModuleId, String>) -> Result<(), GpuError> {
        for (&id, text) in texts {
            if self.modules.get(&id).is_none_or(|held| held.text != *text) {
                self.modules.remove(&id);
                let held = self.hold(id, text)?;
                self.modules.insert(id, held);
            }
        }
        Ok(())
    }

    fn hold(&self, id: ModuleId, text: &str) -> Result<Held<'g>, GpuError> {
        let module = self.gpu.load(text)?;
        let mut variables = Vec::new();
        for symbol in self.capsule.module(id).iter().flat_map(|module| &module.globals) {
            match module.global(&symbol.name) {
                Ok((to, bytes)) => {
                    let mut initial = vec![0; bytes as usize];
                    self.gpu.read(to, &mut initial)?;
                    let place = MovedRange { from: symbol.address, to, bytes: symbol.bytes };
                    variables.push(Variable { place, initial });
                }
                // The simulator's heap is a variable of its own, and the driver's compiler drops what is never used.
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Held { text: text.to_owned(), module, variables })
    }

    /// Repeats the capsule from its start.
    ///
    /// # Errors
    /// If the capsule does what cannot be repeated there, a kernel fails, or the driver does. After a kernel has failed
    /// the context is of no more use.
    pub fn repeat(&mut self, note: Option<&Note<'_>>) -> Result<Replayed, GpuError> {
        Ok(self.repetition(note, None)?.done)
    }

    /// Repeats the capsule once and measures how long each kernel takes, by its name. A launch begins when the one before is done.
    ///
    /// # Errors
    /// As [`repeat`](Self::repeat).
    pub fn time(&mut self) -> Result<BTreeMap<String, LaunchTimes>, GpuError> {
        let stopwatch = Stopwatch::new(self.gpu)?;
        Ok(self.repetition(None, Some(&stopwatch))?.times)
    }

    fn repetition<'r>(
        &'r mut self,
        note: Option<&'r Note<'r>>,
        stopwatch: Option<&'r Stopwatch<'r>>,
    ) -> Result<Repetition<'r, 'g>, GpuError> {
        for range in self.allocated.values().filter(|range| range.bytes > 0) {
            self.gpu.fill(range.to, range.bytes)?;
        }
        let (map, done, times) = (AddressMap::default(), Replayed::default(), BTreeMap::new());
        let mut repetition = Repetition { repeats: self, map, note, stopwatch, done, times };
        capsule::replay(repetition.repeats.capsule, Position::default(), &mut repetition)?;
        repetition.repeats.gpu.synchronize()?;
        Ok(repetition)
    }
}

/// One repetition on its way.
struct Repetition<'r, 'g> {
    repeats: &'r Repeats<'g>,
    map: AddressMap,
    note: Option<&'r Note<'r>>,
    stopwatch: Option<&'r Stopwatch<'r>>,
    done: Replayed,
    times: BTreeMap<String, LaunchTimes>,
}

impl Replayer for Repetition<'_, '_> {
    type Stop = GpuError;

    fn load(&mut self, at: Position, id: ModuleId) -> Result<(), GpuError> {
        for variable in &self.held(at, id)?.variables {
            self.repeats.gpu.write(variable.place.to, &variable.initial)?;
            self.map.add(variable.place);
        }
        Ok(())
    }

    fn launch(&mut self, at: Position, launch: &Launch) -> Result<(), GpuError> {
        let held = self.held(at, launch.module)?;
        let note = self.note.filter(|note| note.launch == at.launches);
        let place = note.map(|note| self.held(at, note.module)?.module.global(note.variable)).transpose()?;
        let noted = note.zip(place.map(|(address, _)| address));
        noted.map_or(Ok(()), |(note, address)| self.repeats.gpu.write(address, note.bytes))?;
        let Launch { grid, block, shared_bytes, cooperative, .. } = *launch;
        let shape = LaunchShape { grid, block, shared_bytes, cooperative };
        self.stopwatch.map_or(Ok(()), Stopwatch::start)?;
        held.module.launch(&launch.kernel, shape, &self.map.arguments(&launch.params))?;
        self.done.launches += 1;
        // What a kernel does wrong is told here, and not by whatever comes later.
        match self.stopwatch {
            None => self.repeats.gpu.synchronize()?,
            Some(stopwatch) => {
                let seconds = stopwatch.stop()?;
                let resources = held.module.resources(&launch.kernel, shape)?;
                let times = self
                    .times
                    .entry(launch.kernel.clone())
                    .or_insert(LaunchTimes { resources, ..LaunchTimes::default() });
                (times.launches, times.seconds) = (times.launches + 1, times.seconds + seconds);
            }
        }
        if let Some((note, address)) = noted {
            let mut bytes = vec![0; note.bytes.len()];
            self.repeats.gpu.read(address, &mut bytes)?;
            self.repeats.gpu.fill(address, note.bytes.len() as u64)?;
            self.done.noted = Some(bytes);
        }
        Ok(())
    }

    fn copy_out(&mut self, _: Position, from: &Region, _: Digest) -> Result<(), GpuError> {
        let bytes = self.read(from)?;
        self.done.copies.push(bytes);
        Ok(())
    }

    fn write(&mut self, _: Position, to: &Region, content: Content) -> Result<(), GpuError> {
        match content {
            Content::Blob(blob) => self.put(to, &self.repeats.capsule.blobs.get(blob)?),
            Content::Repeated { value, width } => {
                let value = &value.to_le_bytes()[..usize::from(width).min(4)];
                let bytes: Vec<u8> = value.iter().copied().cycle().take(to.bytes().unwrap_or(0) as usize).collect();
                self.put(to, &bytes)
            }
        }
    }

    fn copy_within(&mut self, _: Position, to: &Region, from: &Region) -> Result<(), GpuError> {
        let bytes = self.read(from)?;
        self.put(to, &bytes)
    }

    fn synchronize(&mut self, _: Position) -> Result<(), GpuError> {
        self.repeats.gpu.synchronize()
    }

    fn allocate(&mut self, at: Position, _: u64, _: u64) -> Result<(), GpuError> {
        self.repeats.allocated.get(&at.event).into_iter().for_each(|place| self.map.add(*place));
        Ok(())
    }

    /// The memory stays: another repetition needs it.
    fn free(&mut self, _: Position, address: u64) -> Result<(), GpuError> {
        self.map.remove(address);
        Ok(())
    }
}

impl<'r, 'g> Repetition<'r, 'g> {
    fn held(&self, at: Position, id: ModuleId) -> Result<&'r Held<'g>, GpuError> {
        let missing = || GpuError::NotPortable { event: at.event, what: format!("{id} is not loaded") };
        self.repeats.modules.get(&id).ok_or_else(missing)
    }

    fn put(&self, to: &Region, packed: &[u8]) -> Result<(), GpuError> {
        let mut rest = packed;
        for (address, bytes) in to.rows() {
            let (row, after) = rest.split_at_checked(bytes as usize).unwrap_or((rest, &[]));
            self.repeats.gpu.write(self.map.place(address), row)?;
            rest = after;
        }
        Ok(())
    }

    fn read(&self, from: &Region) -> Result<Vec<u8>, GpuError> {
        let mut packed = Vec::new();
        for (address, bytes) in from.rows() {
            let start = packed.len();
            packed.resize(start + bytes as usize, 0);
            self.repeats.gpu.read(self.map.place(address), &mut packed[start..])?;
        }
        Ok(packed)
    }
}
