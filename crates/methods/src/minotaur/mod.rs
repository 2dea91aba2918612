//! Minotaur (thesis, Chapter 3): a small input that executes what the reference does stands for it in an analysis.
//!
//! - `coverage`: the static instructions that an input executes;
//! - `minimise`: the smallest input with the wanted coverage, one parameter after the other;
//! - `sdc_pcs`: the instructions whose faults corrupt outputs, found by [Approxilyzer](crate::approxilyzer);
//! - `command`: `beamline minotaur`.

mod command;
mod coverage;
mod method;
mod minimise;
mod sdc_pcs;

pub use method::MinotaurMethod;
