//! Minotaur (thesis, Chapter 3): a small input that executes what the reference does stands for it in an analysis.
//!
//! - `coverage`: the quality of an input: instructions, branch edges and def-use pairs that it executes;
//! - `minimise`: the smallest input with the wanted quality, one parameter after the other;
//! - `sdc_pcs`: the instructions whose faults corrupt outputs, found by [Approxilyzer](crate::approxilyzer);
//! - `command`: `beamline minotaur`.

mod command;
mod coverage;
mod method;
mod minimise;
mod sdc_pcs;

pub use method::MinotaurMethod;
