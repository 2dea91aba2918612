//! Where a fault meets the machine.
//!
//! [`Device`] is one simulated GPU, driven by an application through the CUDA runtime or by a recording.
//! [`Golden`] is a capsule executed without a fault; a [`Runner`] repeats it with one; [`CapsuleTarget`] offers
//! both to a campaign. This is the only place that turns a fault into a hook of the machine.

mod compare;
mod delta;
pub mod device;
mod draw;
mod elements;
mod error;
mod explain;
mod final_memory;
mod full;
mod golden;
mod guests;
mod hit;
mod index;
mod judge;
mod lanes;
mod live;
mod means;
pub mod modules;
mod plan;
mod profile;
mod referee;
mod region;
mod rerun;
mod run;
mod sample;
mod story;
mod sweep;
mod target;
pub mod threads;

pub use device::{Device, LaunchEnd};
pub use elements::{Typed, Unclear, elements};
pub use error::{DeviceError, TrapReport};
pub use explain::{MemoryAccess, TrapDetail};
pub use final_memory::FinalMemory;
pub use golden::{Golden, GoldenCopy, GoldenError, GoldenLaunch, ReplayError};
pub use guests::Guests;
pub use live::{Launched, Strike};
pub use means::Means;
pub use modules::{ModuleError, Modules};
pub use profile::{LaunchProfile, SiteCount, profile};
pub use referee::Referee;
pub use rerun::When;
pub use run::{FUEL_CONSTANT, FUEL_FACTOR, RunError, locate};
pub use simt::guest::{Image, KernelInfo, Listed, ParamInfo};
pub use target::{CapsuleTarget, Runner};
