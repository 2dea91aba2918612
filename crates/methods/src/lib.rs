//! Published methods of choosing injections and of reading their results, one module each.
//!
//! A method chooses sites where a campaign would draw uniformly, and turns rows into its authors' estimates. It runs on
//! the engine that any campaign runs on, so that what its shortcuts cost can be measured instead of trusted.
//!
//! ```text
//! registry ─▶ Method (its word, settings, studies, commands)
//!                └─ apply(capsule, selection) ─▶ Applied: plan of sites, estimates from rows
//! ```
//!
//! Whoever runs campaigns, shows them or has a command line asks the [`registry`] and names no method: a new one is a
//! module here and a line there. What methods share is the [`kit`].
//!
//! - [`left_open`]: no method, but studies of what the machine decides where the ISA leaves it open;
//! - [`approxilyzer`]: one pilot for each class of error sites whose threads go the same way;
//! - [`druto`]: the input that makes a kernel most vulnerable;
//! - [`gpu_qin`]: threads grouped by their dynamic instruction counts, one profile for each popular group;
//! - [`minotaur`]: small inputs that stand for large ones;
//! - [`regional`]: regions of the program, by source lines, kernels and iterations, compared;
//! - [`convolution`]: no method, but a layer of a network as a kernel: which neurons faults in it leave changed;
//! - [`decoding`]: no method, but which tokens of a language model faults change, and for how long;
//! - [`hardening`]: no method of choosing, but of protecting: instructions duplicated and compared;
//! - [`two_level`]: rates of strikes by instruction type, composed with what faults in such instructions come to.

pub mod approxilyzer;
pub mod convolution;
pub mod decoding;
pub mod druto;
pub mod gpu_qin;
pub mod hardening;
pub mod kit;
pub mod left_open;
mod method;
pub mod minotaur;
pub mod regional;
pub mod registry;
pub mod two_level;

pub use method::{
    Answer, Applied, Command, CommandOption, Estimates, ExhaustiveCampaign, FilesRequest, InputCommand, InputRequest,
    Method, OpeningCriteria, Options, OutcomeLearning, Reader, Request, StudyOffer,
};
