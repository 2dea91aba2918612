//! A real GPU, through NVIDIA's driver, which is loaded at run time.
//!
//! [`Gpu::open`] is the only door: on a machine without a driver or a device it is an ordinary, explained error, and
//! nothing else of this crate can be reached. [`replay`] repeats a capsule there once, [`Repeats`] as often as one likes.
//!
//! All `unsafe` is in [`driver`](self) (the functions of `libcuda.so.1`) and in the methods of [`Gpu`] and
//! [`LoadedModule`] that call them.

#[expect(unsafe_code, reason = "functions of the driver, found at run time")]
mod driver;
mod error;
#[expect(unsafe_code, reason = "calls of the driver")]
mod gpu;
#[expect(unsafe_code, reason = "calls of the driver")]
mod module;
mod repeats;
mod replay;
#[expect(unsafe_code, reason = "calls of the driver")]
mod stopwatch;
mod uncertain;

pub use error::GpuError;
pub use gpu::{Gpu, GpuProperties};
pub use module::{KernelResources, LaunchShape, LoadedModule};
pub use repeats::{LaunchTimes, Note, Placement, Repeats, Replayed};
pub use replay::{replay, texts};

pub use uncertain::uncertain;
