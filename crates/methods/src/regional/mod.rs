//! Faults in regions of a program: source lines, kernels, iterations, registers, each with as many runs.
//!
//! I. Öz & Ö. F. Karadaş, *Regional soft error vulnerability and error propagation analysis for GPGPU applications*, The
//! Journal of Supercomputing 78, 2022, doi:10.1007/s11227-021-04026-6. Their injector stops at source lines in a debugger; here
//! a [`Region`] is a selection like that of any campaign, and the [`Regional`] method takes all of them in turn. Phases can
//! be apart: what faults are drawn from is a [`RegionProfile`], what is drawn is a [`FaultMap`], and both can be edited.
//!
//! ```text
//! regions (TOML) ─▶ profile (CSV) ─▶ fault map (CSV) ─▶ campaign ─▶ ends, corrupted elements and errors by region
//! ```

mod applied;
mod command;
mod condition;
mod copies;
mod diagnosis;
mod map;
mod method;
pub mod plots;
mod profile;
pub mod propagation;
mod region;
mod rows;
mod settings;
mod show;
mod tally;
mod target;
mod template;

pub use map::{FaultMap, MapRow};
pub use method::RegionalMethod;
pub use profile::{ProfileRow, RegionProfile};
pub use region::Region;
pub use settings::Settings;
pub use tally::{RegionTally, Tally, quartiles};
pub use target::{Regional, region_of};
