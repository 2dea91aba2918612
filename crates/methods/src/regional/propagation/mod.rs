//! Where errors go: which variables are corrupted after which launches, how many of their elements, how far.
//!
//! Section 3.3 of the paper stops the application at lines and dumps memory; here every launch of every run is looked at, while
//! only what a fault changes is executed, and also a line within the launches of faults.
//!
//! ```text
//! declared variables ─▶ arrays ─┐
//! sites or a fault map ─────────┴▶ follow (runs on all cores, kept) ─▶ Spread: by region and variable · by kernel (graph) · rows
//!     with a line ──────────────▶ LineSpread: by region and variable, when threads with faults come to the line
//! one fault ──┬──────────────────▶ course: launch by launch ─▶ pictures
//!             └──────────────────▶ line: each time that its thread comes to a line ─▶ pictures
//! ```

mod arrays;
mod command;
mod follow;
mod graph;
mod kept;
mod line;
mod line_spread;
mod picture;
mod place;
mod rows;
mod show;
mod spread;
mod timeline;

pub use arrays::{DeclaredVariable, FollowedArrays, arrays};
pub(super) use command::PROPAGATION;
pub use follow::{ArrayCorruption, TrackedRun, follow};
pub use graph::{Carrier, Edge, Graph, Origin};
pub use picture::worst_frames;
pub use spread::{Spread, VariableSpread};
pub use timeline::{FaultTimeline, Step};
