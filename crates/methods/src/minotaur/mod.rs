//! Minotaur (thesis, Chapter 3): a small input that executes what the reference does stands for it in an analysis.
//!
//! - `coverage`: the quality of an input: instructions, branch edges and def-use pairs that it executes;
//! - `minimise`: the smallest input with the wanted quality, one parameter after the other;
//! - `analysis`: the pilots of an input by [Approxilyzer](crate::approxilyzer), how they end, and the time that they take;
//! - `sdc_pcs`: the instructions whose faults corrupt outputs, by which input finds them;
//! - `priority`: orders of pilots with early termination, replayed; `time_show`: these and input priority as tables;
//! - `command`: `beamline minotaur`.

mod analysis;
mod command;
mod coverage;
mod method;
mod minimise;
mod priority;
mod sdc_pcs;
mod time_show;

pub use method::MinotaurMethod;
