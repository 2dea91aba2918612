//! What a fault does to a capsule's work.
//!
//! [`Golden`] is a capsule executed without a fault; a [`Runner`] repeats it with one; [`CapsuleTarget`] offers
//! both to a campaign. How a fault becomes a hook of the machine is in [`strike`].

mod compare;
mod criteria;
mod delta;
mod describe;
mod detection;
mod draw;
mod elements;
mod executions;
mod final_memory;
mod float_sums;
mod full;
mod golden;
mod index;
mod judge;
mod lanes;
mod live;
mod machine;
mod named;
mod nothing_selected;
mod plan;
mod profile;
mod races;
mod reach;
mod record;
mod registers;
mod replay;
mod rerun;
mod resolve;
mod resources;
mod run;
mod runner;
mod sample;
mod selection_cycle;
pub mod site;
mod story;
mod strategy;
mod sweep;
mod target;
pub mod threads;
mod tier_check;
mod tracking;
mod variables;

pub use compare::PRINTED;
pub use describe::describe;
pub use detection::Detection;
pub use elements::{Typed, Unclear, buffer_elements, elements};
pub use final_memory::FinalMemory;
pub use golden::{Golden, GoldenCopy, GoldenError, GoldenLaunch};
pub use judge::{CopyWatch, OutputJudge};
pub use machine::{Machine, MachineWords, Order};
pub use profile::{InstructionCount, LaunchProfile, profile};
pub use replay::ReplayError;
pub use rerun::When;
pub use resources::Resources;
pub use run::{InjectError, locate};
pub use runner::Runner;
pub use selection_cycle::{NarrowedWords, SelectionCycle};
pub use strategy::{ENGINES, Strategy};
pub use target::{CapsuleTarget, Setup, check_words};
pub use tier_check::TierCheck;
pub use tracking::{
    Array, ArrayAccesses, Arrival, Change, Corruption, Extent, Keep, LineSnapshots, LineTracker, Tracked, Tracker,
};
pub use variables::{CopiedBuffer, Variable, copied_buffers, pointed_at, variables};
