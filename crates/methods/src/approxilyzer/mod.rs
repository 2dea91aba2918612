//! Approxilyzer (thesis, Chapter 2): error sites whose instructions go the same way are one class, of which one is run.
//!
//! The thesis studies programs on a processor. Here an error site is one bit of one destination of one dynamic instruction of
//! a GPU thread, and instances are joined across threads, blocks and launches of a kernel.
//!
//! - [`Settings`]: the coverage, the depth of control equivalence, and what is kept apart;
//! - `classes`: path groups, pruning of values that nobody reads, classes by control equivalence (`windows`);
//! - [`Approxilyzer`]: the planner, a pilot for each studied class and bit, drawn uniformly from its members;
//! - `tally`, `show`: what pilots come to, each counted for all sites that it stands for;
//! - [`Truth`], [`Purity`]: how alike the sites of a class are where an exhaustive campaign has run all of them.
//! - `ends`, `instructions`, `quality`: the same by the thesis' classes of quality, for each static instruction and source
//!   line;
//! - `curves`: which instructions to protect, and at which cost; `approximable`: which ones may be approximated;
//! - `rows`: every class as a row of a file; `views`: all of these put together; `judge`: criteria of the
//!   user.

mod approximable;
mod classes;
mod command;
mod counts;
mod coverage;
mod curves;
mod ends;
mod instructions;
mod judge;
mod method;
mod purity;
mod purity_show;
mod quality;
mod rows;
mod settings;
mod show;
mod tally;
mod target;
mod truth;
mod views;
mod walks;
mod windows;

pub use method::ApproxilyzerMethod;
pub use purity::Purity;
pub use settings::{Apart, Settings};
pub use target::{Approxilyzer, SiteCounts};
pub use truth::Truth;
