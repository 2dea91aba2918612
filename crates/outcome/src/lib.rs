//! What is seen of an injection run, and what it comes to.
//!
//! An [`Observation`] holds the facts of one run: what was hit, how the run ended, how its outputs differ from those of
//! the golden run. An [`Outcome`] is derived from it by [`classify`], one total function with a version; [`Criteria`]
//! say how bad a silent corruption is. Engines observe, campaigns keep and count, reports tell; all of them mean the
//! same by these words.
//!
//! # Invariants
//!
//! - An observation holds facts only: nothing in it depends on a criterion.
//! - Criteria never move an outcome from one class to another.
//! - A word that is written is read back: each enumeration of words comes from one table ([`words!`]).
//! - Nothing here reads files, and nothing knows how runs are planned or kept.

mod classify;
mod code;
mod criteria;
pub mod hex;
mod host;
mod observation;
mod outcome;
mod quality;
mod real;
mod words;

#[cfg(test)]
mod tests;

pub use classify::{CLASSIFIER_VERSION, RunFacts, classify};
pub use code::FAILED_CODE;
pub use criteria::{Criteria, Criterion};
pub use host::{Debugged, Host, HostSignal, Verdict};
pub use observation::{End, FirstUse, Landed, Observation, OutputDiff, ProgramPoint, Tier, TrapKind};
pub use outcome::{Class, Due, Masked, Outcome, Sdc};
pub use quality::{Element, Metric, QUALITY_KEYS, Quality, QualityError};
#[doc(hidden)]
pub use serde;
pub use words::{UnknownWord, nearest};
