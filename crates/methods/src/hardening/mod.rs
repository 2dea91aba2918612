//! SInRG, software-managed instruction replication: a capsule whose kernels execute each instruction twice and compare.
//!
//! A. Mahmoud, S. K. S. Hari, M. B. Sullivan, T. Tsai, S. W. Keckler, *Optimizing Software-Directed Instruction
//! Replication for GPU Error Detection*, SC 2018; in full in chapter 4 of Mahmoud's thesis.
//!
//! [`harden()`] makes a capsule of another one: the same events with the same kernels, parameters and outputs, and PTX that
//! the room `rewrite::protect` has written protection into. What ends a launch of it at a failed comparison counts as
//! detected. A [`ProtectionChoice`] says which instructions are protected, if not all are: selected by words, or by
//! [what they are worth](ExecutedCode::worth) by the document of a campaign. [`harden_with_loads`] executes loads twice, too.

mod automatic;
mod choice;
mod code;
mod coverage;
mod detection;
mod dynamic;
mod geometry;
mod harden;
mod loads;
mod opened;
mod reading;
mod scheme;
mod tally;
mod values;

pub use automatic::{
    AutomaticChoice, CANDIDATES, ChoiceOutcome, ChosenScheme, HardenedTimes, HardenedTimesOfKernel, KernelFeatures,
    kernel_features,
};
pub use choice::{ProtectionChoice, ProtectionDemand, ProtectionForecast};
pub use code::{CodePlace, ExecutedCode, ExecutedInstruction};
pub use coverage::{Coverage, RefusedKernel};
pub use detection::{DetectionLatency, DetectionSummary};
pub use dynamic::DynamicCounts;
pub use harden::{HardenedCapsule, harden, harden_with_loads};
pub use loads::{LoadCoverage, RacingKernels, SingleLoads};
pub use opened::{harden_opened, harden_opened_with_loads};
pub use reading::HardenError;
pub use rewrite::{OriginCounts, Scheme};
pub use scheme::SchemeChoice;
pub use tally::{InstructionTally, tally_by_instruction};
