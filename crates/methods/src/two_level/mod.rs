//! The two-level model: S. K. S. Hari et al., *Estimating Silent Data Corruption Rates Using a Two-Level Model*, 2020
//! (arXiv:2005.01445).
//!
//! ```text
//! IpaTable (rates of strikes: type × manifestation) ─▶ cells ─▶ TwoLevel plans runs of each ─▶ rows ─▶ Ends by kernel
//!                      │                                                                                │
//!                      └──────────────────────▶ Composition (Equation 1) ◀─ Shares (fractions) ◀────────┘
//!                                                     └─ × issue rate ─▶ rate of the application, of its kernels
//! ```
//!
//! The implementation level is data: a table that a beam, or a simulation of gates, has filled. The architecture level is a
//! campaign. Neither is invented: what a table has no rate for is listed with its share, and without an issue rate there
//! is no rate of an application, but one for each issued instruction.

mod applied;
mod beam_test;
mod bounded_view;
mod command;
mod compose;
pub mod events;
mod fleet;
mod ipa;
mod issue;
mod method;
mod protection;
mod rate_word;
mod settings;
mod shares;
mod show;
mod target;
mod units;

pub use command::runs_of_cell;
pub use compose::{CellPart, Composition, EndsByKernel, Missing, OutcomeCounts, TypePart, chance};
pub use ipa::{InstructionType, IpaTable, Manifestation, Microbenchmark, Unit};
pub use issue::{IssueOfWorkload, IssueProfile, KnownIssueRate, issue_rate};
pub use method::TwoLevelMethod;
pub use settings::{Cells, Grouping, SdcKind, Settings};
pub use shares::{Executed, Shares};
pub use show::exceeds_target;
pub use target::{Counted, TwoLevel};
pub use units::{Fraction, IssueRate, Probability, Rate, RatePerInstruction};
