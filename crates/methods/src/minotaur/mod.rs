//! Minotaur (thesis, Chapter 3): a small input that executes what the reference does stands for it in an analysis.
//!
//! - `coverage`: the quality of an input: instructions, branch edges and def-use pairs that it executes;
//! - `minimise`: the smallest input with the wanted quality, one parameter after the other;
//! - `pilots`: pilots, how they end, and what that shows of their instructions; `times`: the time of their runs;
//! - `analysis`: the pilots of an input by [Approxilyzer](crate::approxilyzer), all or in rounds with early termination;
//! - `sdc_pcs`: the instructions whose faults corrupt outputs, by which input finds them;
//! - `priority`: orders of pilots with early termination, replayed; `time_show`: these and input priority as tables;
//! - `terminated`: early termination as it was run; `approximable`, `hot`: the extensions of Section 3.6;
//! - `request`, `command`, `show`: `beamline minotaur`.

mod analysis;
mod approximable;
mod command;
mod coverage;
mod hot;
mod method;
mod minimise;
mod pilots;
mod priority;
mod request;
mod sdc_pcs;
mod show;
mod terminated;
mod time_show;
mod times;

pub use method::MinotaurMethod;
