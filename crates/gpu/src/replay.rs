//! A capsule repeated on a real GPU once, as it was recorded.
//!
//! Memory is mapped at the addresses that the recording names, so every pointer in arguments and memory means the same
//! there. A module's variables are where the driver puts them: copies to and from them are redirected, and arguments
//! that point into them too.

use crate::error::GpuError;
use crate::gpu::Gpu;
use crate::repeats::{Placement, Repeats, Replayed};
use capsule::{Capsule, Event, ModuleId};
use isa::Op;
use std::collections::BTreeMap;

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
    let mut repeats = Repeats::new(gpu, capsule, Placement::Recorded)?;
    repeats.load(&texts(capsule)?)?;
    repeats.repeat(None)
}

/// The texts of the modules that a capsule loads.
///
/// # Errors
/// If one has no text, or uses what another device has elsewhere.
pub fn texts(capsule: &Capsule) -> Result<BTreeMap<ModuleId, String>, GpuError> {
    let mut texts = BTreeMap::new();
    for (at, event) in capsule.events.iter().enumerate() {
        if let Event::Load { module } = *event {
            texts.insert(module, text(capsule, at, module)?);
        }
    }
    Ok(texts)
}

/// The text of a module, which an event loads.
fn text(capsule: &Capsule, event: usize, id: ModuleId) -> Result<String, GpuError> {
    let refuse = |what: String| GpuError::NotPortable { event, what };
    let module = capsule.module(id).ok_or_else(|| refuse(format!("there is no module {}", id.0)))?;
    let ptx = module.ptx.ok_or_else(|| refuse(format!("module {} has no PTX", id.0)))?;
    let bytes = capsule.blobs.get(ptx)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| refuse(format!("module {} is no text", id.0)))?;
    if let Some(op) = textures(text) {
        return Err(refuse(format!("{op} reads a texture or surface object, which another device has elsewhere")));
    }
    Ok(text.to_owned())
}

/// An instruction of a module that needs a texture or surface object.
fn textures(text: &str) -> Option<String> {
    let module = ptx::parse("module", text).ok()?;
    let ops = module.functions.iter().flat_map(|function| &function.body).map(|instruction| &instruction.op);
    ops.filter(|op| matches!(op, Op::Fetch(_) | Op::Surface(_))).map(ToString::to_string).next()
}
