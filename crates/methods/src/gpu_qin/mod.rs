//! GPU-Qin: B. Fang, K. Pattabiraman, M. Ripeanu & S. Gurumurthi, *A Systematic Methodology for Evaluating the Error
//! Resilience of GPGPU Applications*, IEEE Transactions on Parallel and Distributed Systems 27(12), 2016.
//!
//! ```text
//! golden run ─▶ Grouping (threads by dynamic instructions) ─▶ Profile of a thread of each popular group
//!                   │                                              │
//!                   │         choose: profile ∝ popularity, instruction of the profile, any thread ─▶ Site
//!                   ▼                                                                                  │
//!               Estimates: equations 1 to 5 ◀─ activated trials, by group ◀─ rows of the campaign ◀────┘
//! ```
//!
//! [`Settings`] are the thresholds of the paper, each of which can be changed or turned off; with [`Choice::Unbiased`]
//! the same faults are drawn from all dynamic instructions of all threads instead. [`GpuQin`] offers the sites to a
//! campaign; [`GpuQinMethod`] is what the program knows of it. What every step means, and where it differs from a GPU
//! under a debugger, is in `docs/methods/gpu-qin.md`.

mod choose;
mod command;
mod crashes;
mod estimate;
mod grouping;
mod location;
mod lost;
mod measure;
mod method;
mod mix;
mod resilience;
mod settings;
mod show;
pub mod studies;
mod target;
mod trials;

pub use crashes::{Cause, causes};
pub use estimate::{Bounded, Estimated, GroupEstimate, KernelEstimate, Rates, Sample, estimates, of_ends, strata};
pub use grouping::{Category, GroupBy, Grouping, KernelGroups, ThreadGroup};
pub use location::Discard;
pub use lost::{Lost, Unread};
pub use measure::{Measured, choosing, measure, measure_by};
pub use method::GpuQinMethod;
pub use mix::{Mix, StateBits, mixes};
pub use resilience::{ResilienceClass, resilience_classes};
pub use settings::{Choice, Coverage, ITERATIONS, STEPS, Settings, WINDOW};
pub use target::GpuQin;
pub use trials::{ENDS, Endless, Grouped, Trial, TrialEnd, ends_by, trials};
