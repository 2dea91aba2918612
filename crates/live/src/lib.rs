//! A running application as the target system of a campaign: its host is in the loop.
//!
//! ```text
//! application ─▶ golden run, recorded ─▶ capsule ─▶ census, plan (as of any campaign)
//!                      │                    └─▶ trace of what its launches do
//!                      ▼                              │
//!                what it leaves ◀─ compared ─ one process for each fault
//! ```
//!
//! A [`GoldenApplication`] is an application whose golden run is done: its exit code, outputs and files are known, and
//! its GPU work is recorded. A [`LiveTarget`] offers the sites of the recorded work to a campaign and runs each fault
//! as a process of the application, or only those whose effect the host could have seen.
//!
//! What a live run promises, what is compared and how, is in `docs/live.md`; why it is so in `docs/design/live.md`.

mod app_outputs;
mod application;
mod error;
mod golden_trace;
mod judge;
mod observe;
mod recorder;
mod scratch;
mod target;
mod varying;
mod workspace;

pub use application::GoldenApplication;
pub use error::LiveError;
pub use judge::{FAULTY, GOLDEN};
pub use recorder::{Recorder, Recording};
pub use target::{ENGINES, LiveRuns, LiveTarget};
pub use workspace::{RunOutputs, Workspace};
