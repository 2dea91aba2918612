//! Why something did not work on a GPU.

use thiserror::Error;

/// Why something did not work on a GPU.
#[derive(Debug, Error)]
pub enum GpuError {
    /// There is no driver.
    #[error("find a GPU: the driver's library libcuda.so.1 cannot be loaded ({0})")]
    NoDriver(String),
    /// There is a driver, and no device.
    #[error("find a GPU: the driver knows none ({0})")]
    NoDevice(String),
    /// The driver has no such function.
    #[error("use the GPU's driver: it has no {0}; it may be older than CUDA 12")]
    Missing(&'static str),
    /// A call failed.
    #[error("{call} on the GPU: {name}")]
    Call {
        /// The function of the driver.
        call: &'static str,
        /// The code as the driver names it.
        name: String,
    },
    /// The driver's compiler does not take some PTX.
    #[error("load a module on the GPU: {name}: {said}")]
    Refused {
        /// The code as the driver names it.
        name: String,
        /// What its compiler said, in one line.
        said: String,
    },
    /// A range of addresses is not free on this machine.
    #[error("map {bytes} bytes at {address:#x} on the GPU: the driver gives {given:#x} instead")]
    Taken {
        /// Where.
        address: u64,
        /// The number of bytes.
        bytes: u64,
        /// What the driver offers.
        given: u64,
    },
    /// A capsule does something that no other GPU could repeat.
    #[error("repeat event {event} on the GPU: {what}")]
    NotPortable {
        /// The event, from 0.
        event: usize,
        /// What it does.
        what: String,
    },
    /// A part of the capsule cannot be read.
    #[error(transparent)]
    Capsule(#[from] capsule::Error),
}

impl GpuError {
    /// Whether it only says that a name is not known.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Call { name, .. } if name == "CUDA_ERROR_NOT_FOUND")
    }

    /// Whether it only says that there is no GPU here.
    #[must_use]
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::NoDriver(_) | Self::NoDevice(_))
    }
}
