//! Events that only touch memory, repeated.

use capsule::{Capsule, Content, ModuleId, Region};
use device::{DeviceError, Modules, region};
use simt::memory::GlobalMemory;
use thiserror::Error;

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

/// The host writes to memory.
pub(crate) fn write(
    memory: &mut GlobalMemory,
    capsule: &Capsule,
    to: &Region,
    content: Content,
) -> Result<(), ReplayError> {
    match content {
        Content::Blob(blob) => region::write(memory, to, &capsule.blobs.get(blob)?)?,
        Content::Repeated { value, width } => region::fill(memory, to, value, width)?,
    }
    Ok(())
}

/// A module that was loaded gets its variables and their initial values.
pub(crate) fn reload(memory: &mut GlobalMemory, modules: &Modules, module: ModuleId) -> Result<(), ReplayError> {
    Ok(modules.reload(module, memory).map_err(DeviceError::from)?)
}
