//! The page about GPU-Qin: B. Fang, K. Pattabiraman, M. Ripeanu & S. Gurumurthi, *A Systematic Methodology for Evaluating the
//! Error Resilience of GPGPU Applications*, IEEE Transactions on Parallel and Distributed Systems 27(12), 2016.
//!
//! ```text
//! survey (campaigns of every kernel) ─▶ MeasuredKernel ─▶ errors (differences) ─▶ Questions (tests, corrected)
//!                                             └──────────┬───────────┘                  │
//!              paper (its numbers) ─▶ statements, sentences, tables ◀────────────────────┘
//! ```

mod among;
pub mod errors;
mod monte;
mod page;
pub mod paper;
pub mod questions;
mod sentences;
pub mod statements;
mod survey;
pub mod tables;
#[cfg(test)]
mod tests;

pub use page::PAGE;
pub use survey::{CAPPED, CAPS, MeasuredKernel, Variant};
