//! FLR, ILR and FILR: which feature maps to make twice and which inferences to run again.
//!
//! ```text
//! NetworkTarget ─▶ divide ─▶ AnalysisSet ─▶ campaign ─▶ Table ─▶ FLR, ILR, FILR ─▶ Protection ─┐
//!                    └─────▶ DeploymentSet ───────────────────────── open ◀──────────────────┘ ─▶ Deployment
//! ```
//!
//! After the thesis that introduces FILR (its chapter 6; the part about feature maps is HarDNN, arXiv 2002.09786): a fault is
//! one bit of one neuron of what a convolution makes. The vulnerability of a feature map is its share in all multiplications,
//! where faults come from, times the share of its injections that change the class, which are SDCs. [`flr`] orders feature
//! maps by it, [`heuristics`] do so without injections, [`ilr`] runs inferences again that are uncertain, [`combine`] does both.
//!
//! [`exhaustive`] judges every fault of some images of the analysis set, and [`convergence`] holds estimates against that.
//!
//! # Invariants
//!
//! - What chooses sees an [`AnalysisSet`], or the [`Table`] that was made of it, and never the target; a [`DeploymentSet`] gives away
//!   nothing until it is opened with what was chosen.
//! - Results are a function of target and settings: threads change nothing.
//! - Coverage is a quotient of whole numbers: 1 means all SDCs that were seen.

pub mod agreement;
mod analyse;
pub mod certainty;
pub mod choice;
pub mod combine;
pub mod convergence;
pub mod deploy;
pub mod document;
pub mod error_models;
pub mod exhaustive;
pub mod flr;
pub mod heuristics;
pub mod ilr;
pub mod inject;
pub mod maps;
pub mod neuron_fault;
mod notes;
pub mod order;
mod part;
pub mod sampling;
pub mod sets;
mod settings;
pub mod share;
pub mod table;

pub use analyse::analyse;
pub use document::Filr;
pub use neuron_fault::{Injecting, NeuronFault};
pub use order::Order;
pub use sets::{AnalysisSet, DeploymentSet};
pub use settings::{FilrError, Settings};
pub use table::Table;
