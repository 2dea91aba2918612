//! Approxilyzer (thesis, Chapter 2): error sites whose instructions go the same way are one class, of which one is run.
//!
//! The thesis studies programs on a processor. Here an error site is one bit of one register that one dynamic instruction of a
//! GPU thread writes or reads, and instances are joined across threads, blocks and launches of a kernel. A register that is
//! read is flipped before the instruction, and the flip stays. Guards of instructions that were executed are among the registers
//! that are read. A guard is read before its instruction begins, so that its flip is named by the instruction executed before;
//! where that one reads or writes the guard, and where the guard was false, the read is not a site and is counted apart.
//!
//! A definition and the first use of each of its bits are two sites that end alike: a pilot in the definition stands for both.
//! Where the first use is the base of a global access that the flip makes misaligned, or sends where the address profile maps
//! nothing in any thread of the path group, the outcome is a trap and known without a run.
//!
//! Instances are joined by their next branch decisions (control equivalence), or, where the value goes only to stores of global
//! memory in its block, by the loads that read these stores before they are overwritten (store equivalence), with copies to the host as
//! loads of their own. Accesses to memory that have no address in registers (surfaces, textures, tiles of matrices) are not seen.
//!
//! - [`Settings`]: the coverage, the depth of control equivalence, and what is kept apart;
//! - `sites`, `classes`, `join`, `operand`: path groups, def-use pruning, classes by control equivalence (`windows`);
//! - `traps`: flips in addresses whose access traps, known without a run;
//! - `feeds`, `lists`: store equivalence, for values that go only to stores of the basic block that makes them;
//! - `heuristics`: how many sites each heuristic takes away;
//! - [`Approxilyzer`]: the planner, a pilot for each studied class and bit, drawn uniformly from its members;
//! - `tally`, `show`: what pilots come to, each counted for all sites that it stands for;
//! - [`Truth`], [`Purity`]: how alike the sites of a class are where an exhaustive campaign has run all of them, by heuristic;
//! - [`SiteExamples`], [`LearningStudy`]: outcomes predicted from facts of sites (`site_facts`) by a model that learned from other workloads;
//! - `validation`: pilots held against random members of their classes, as in the thesis; `agreement`: when an outcome predicts
//!   another;
//! - `ends`, `instructions`, `quality`: the same by the thesis' classes of quality, for each static instruction and source
//!   line;
//! - `curves`: which instructions to protect, and at which cost; `approximable`: which ones may be approximated;
//! - `site_profile`, `site_rows`: where every site belongs and how it ends, as rows of a file or one by its fault (`path_walk`);
//! - `rows`: every class as a row of a file; `views`: all of these put together;
//! - `judge`: the criteria of the user, of a workload or of the capsule; `metric`: the number of a user's command instead.

mod accuracy;
mod agreement;
mod approximable;
mod claims;
mod classes;
mod command;
mod counts;
mod coverage;
mod curves;
mod ends;
mod examples;
mod feeds;
mod heuristics;
mod instructions;
mod join;
pub(crate) mod judge;
mod judgements;
mod learned;
mod learned_show;
mod lists;
mod method;
mod metric;
mod operand;
mod path_walk;
mod purity;
mod purity_heuristics;
mod purity_show;
mod quality;
mod ratio;
mod rows;
mod settings;
mod show;
mod site_facts;
mod site_profile;
mod site_rows;
mod sites;
mod tally;
mod target;
mod traps;
mod truth;
mod validation;
mod validation_show;
mod views;
mod walks;
mod windows;

pub use examples::{SiteExample, SiteExamples};
pub use learned::LearningStudy;
pub use method::ApproxilyzerMethod;
pub use purity::Purity;
pub use settings::{Apart, Settings, ValidationSize};
pub(crate) use target::MOST;
pub use target::{Approxilyzer, SiteCounts};
pub use truth::Truth;
