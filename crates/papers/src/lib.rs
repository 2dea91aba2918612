//! Pages about published methods: their papers' figures and tables made again with our workloads, and what they say judged.
//!
//! A page is a template with names in it, and the pieces that stand there: numbers, sentences, tables, plots. All of them come from
//! campaigns; nobody writes a number by hand. The methods themselves, which this only calls, are in the crate `methods`.
//!
//! ```text
//! registry ─▶ MethodPage (template, kinds of campaigns)
//!                └─ make(PageContext: workloads, campaigns) ─▶ survey ─▶ statements · sentences · tables · plots ─▶ Pieces
//! ```
//!
//! A new page is a module here and a line of the [`registry`]. What pages share: [`statements`] with rules and verdicts.

pub mod approxilyzer;
#[cfg(test)]
mod checks;
mod documents;
pub mod druto;
pub mod filr;
pub mod gpu_qin;
mod mean;
pub mod minotaur;
mod page;
pub mod pytorchfi;
pub mod regional;
pub mod registry;
pub mod sinrg;
pub mod statements;
pub mod two_level;
mod words;

pub use page::{MethodPage, PageCampaign, PageContext, Piece, Pieces, Workloads};
