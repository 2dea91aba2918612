//! A running application as the target of a campaign: its host is in the loop.
//!
//! ```text
//! application ─▶ golden run, recorded ─▶ capsule ─▶ census, plan (as of any campaign)
//!                      │                    └─▶ tape of what its launches do
//!                      ▼                              │
//!                what it leaves ◀─ compared ─ one process for each fault
//! ```
//!
//! A [`Bench`] is an application whose golden run is done: its exit code, outputs and files are known, and its GPU work
//! is recorded. A [`LiveTarget`] offers the sites of the recorded work to a campaign and runs each fault as a process of
//! the application, or only those whose effect the host could have seen.
//!
//! What a live run promises, what is compared and how, is in `docs/live.md`; why it is so in `docs/design/live.md`.

mod bench;
mod elsewhere;
mod error;
mod judge;
mod left;
mod observe;
mod scratch;
mod tape;
mod target;

pub use bench::Bench;
pub use elsewhere::{Remains, Room};
pub use error::LiveError;
pub use judge::{FAULTY, GOLDEN};
pub use target::{ENGINES, LiveTarget, Which};
