//! One simulated GPU, driven by an application through the CUDA runtime or by a recording.
//!
//! A [`Device`] has memory, loaded [`Modules`] and an executor; whoever drives it, the same launches do the same. It
//! knows no faults: a [`Probe`] lets somebody look into one block of a launch.

mod device;
mod error;
mod explain;
mod guests;
mod launch;
mod modules;
mod protection;
mod races;
pub mod region;
mod run;

pub use device::{Device, LaunchEnd, Launched, UNBOUNDED};
pub use error::{DeviceError, ModuleError, TrapReport};
pub use explain::{MemoryAccess, TrapDetail, coordinates};
pub use guests::{Guests, ModuleCode};
pub use launch::{MAX_SHARED, check_launch, runnable};
pub use lower::Contract;
pub use modules::Modules;
pub use protection::{PROTECTION_PREFIX, PROTECTION_SETS};
pub use races::{Interleavings, KernelRace, RaceSearch, RaceWatch};
pub use run::{LaunchStats, Probe, run};
pub use simt::guest::{GuestModule, Image, KernelInfo, Listed, ParamInfo};
pub use simt::memory::AddressProfile;
