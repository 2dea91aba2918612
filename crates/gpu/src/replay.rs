//! A capsule repeated on a real GPU.
//!
//! Memory is mapped at the addresses that the recording names, so every pointer in arguments and memory means the same
//! there. A module's variables are where the driver puts them: copies to and from them are redirected, and arguments
//! that point into them too.

use crate::error::GpuError;
use crate::gpu::Gpu;
use crate::module::{LaunchShape, LoadedModule};
use capsule::{Capsule, Content, Digest, Event, Launch, ModuleId, PlacedSymbol, Position, Region, Replayer};
use isa::Op;
use std::collections::BTreeMap;

/// What came out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// The bytes of every copy to the host, in order.
    pub copies: Vec<Vec<u8>>,
    /// Kernels launched.
    pub launches: u64,
}

/// Repeats a capsule. The GPU's memory should be fresh: one replay for each [`Gpu`].
///
/// # Errors
/// If the capsule does what cannot be repeated there, a kernel fails, or the driver does.
pub fn replay(gpu: &mut Gpu, capsule: &Capsule) -> Result<Replayed, GpuError> {
    let allocated = capsule.events.iter().filter_map(|event| match event {
        Event::Alloc { address, bytes, .. } => Some((*address, *bytes)),
        _ => None,
    });
    gpu.map(&allocated.collect::<Vec<_>>())?;
    let mut replay = Replay { gpu, capsule, modules: BTreeMap::new(), moved: Vec::new(), done: Replayed::default() };
    capsule::replay(capsule, Position::default(), &mut replay)?;
    replay.gpu.synchronize()?;
    Ok(replay.done)
}

struct Replay<'g> {
    gpu: &'g Gpu,
    capsule: &'g Capsule,
    modules: BTreeMap<ModuleId, LoadedModule<'g>>,
    /// Variables of modules: where the recording had them, and where they are.
    moved: Vec<(PlacedSymbol, u64)>,
    done: Replayed,
}

/// Memory is mapped from the beginning, and kept.
impl Replayer for Replay<'_> {
    type Stop = GpuError;

    fn load(&mut self, at: Position, id: ModuleId) -> Result<(), GpuError> {
        let refuse = |what: String| GpuError::NotPortable { event: at.event, what };
        let module = self.capsule.module(id).ok_or_else(|| refuse(format!("there is no module {}", id.0)))?;
        let ptx = module.ptx.ok_or_else(|| refuse(format!("module {} has no PTX", id.0)))?;
        let bytes = self.capsule.blobs.get(ptx)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| refuse(format!("module {} is no text", id.0)))?;
        if let Some(op) = textures(text) {
            return Err(refuse(format!("{op} reads a texture or surface object, which another device has elsewhere")));
        }
        let loaded = self.gpu.load(text)?;
        for symbol in &module.globals {
            match loaded.global(&symbol.name) {
                Ok((address, _)) => self.moved.push((symbol.clone(), address)),
                // The simulator's heap is a variable of its own, and the driver's compiler drops what is never used.
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        self.modules.insert(id, loaded);
        Ok(())
    }

    fn launch(&mut self, at: Position, launch: &Launch) -> Result<(), GpuError> {
        let missing = || GpuError::NotPortable { event: at.event, what: format!("{} is not loaded", launch.module) };
        let module = self.modules.get(&launch.module).ok_or_else(missing)?;
        let Launch { grid, block, shared_bytes, cooperative, .. } = *launch;
        let shape = LaunchShape { grid, block, shared_bytes, cooperative };
        module.launch(&launch.kernel, shape, &self.arguments(&launch.params))?;
        self.done.launches += 1;
        // What a kernel does wrong is told here, and not by whatever comes later.
        self.gpu.synchronize()
    }

    fn copy_out(&mut self, _: Position, from: &Region, _: Digest) -> Result<(), GpuError> {
        let bytes = self.read(from)?;
        self.done.copies.push(bytes);
        Ok(())
    }

    fn write(&mut self, _: Position, to: &Region, content: Content) -> Result<(), GpuError> {
        match content {
            Content::Blob(blob) => self.put(to, &self.capsule.blobs.get(blob)?),
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
        self.gpu.synchronize()
    }
}

impl Replay<'_> {
    /// The arguments, with pointers into the modules' variables put right.
    fn arguments(&self, params: &[u8]) -> Vec<u8> {
        let mut params = params.to_vec();
        for word in params.chunks_exact_mut(8) {
            let pointer = u64::from_le_bytes(word.try_into().unwrap_or_default());
            word.copy_from_slice(&self.place(pointer).to_le_bytes());
        }
        params
    }

    /// Where something is that the recording had at an address.
    fn place(&self, address: u64) -> u64 {
        let inside = |(symbol, _): &&(PlacedSymbol, u64)| {
            address.checked_sub(symbol.address).is_some_and(|offset| offset < symbol.bytes.max(1))
        };
        self.moved.iter().find(inside).map_or(address, |(symbol, at)| at + (address - symbol.address))
    }

    fn put(&self, to: &Region, packed: &[u8]) -> Result<(), GpuError> {
        let mut rest = packed;
        for (address, bytes) in to.rows() {
            let (row, after) = rest.split_at_checked(bytes as usize).unwrap_or((rest, &[]));
            self.gpu.write(self.place(address), row)?;
            rest = after;
        }
        Ok(())
    }

    fn read(&self, from: &Region) -> Result<Vec<u8>, GpuError> {
        let mut packed = Vec::new();
        for (address, bytes) in from.rows() {
            let start = packed.len();
            packed.resize(start + bytes as usize, 0);
            self.gpu.read(self.place(address), &mut packed[start..])?;
        }
        Ok(packed)
    }
}

/// An instruction of a module that needs a texture or surface object.
fn textures(text: &str) -> Option<String> {
    let module = ptx::parse("module", text).ok()?;
    let ops = module.functions.iter().flat_map(|function| &function.body).map(|instruction| &instruction.op);
    ops.filter(|op| matches!(op, Op::Fetch(_) | Op::Surface(_))).map(ToString::to_string).next()
}
