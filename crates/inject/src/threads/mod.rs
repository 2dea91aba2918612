//! Threads of the golden run one by one: how much each did, the whole trace of one, and where in a thread something is.
//!
//! Everything here looks at launches that run again. Instructions that a thread comes to with a false guard are told
//! apart everywhere: they are no dynamic instructions of ours, but some published methods count them.

mod addresses;
mod counts;
mod find;
mod path;
mod stores;
mod trace;

pub use addresses::{AddressTraps, BasedAccess};
pub use counts::{Thread, ThreadCount, by_count, thread_counts};
pub use find::{FoundInstruction, Query, Wanted, find};
pub use path::{PathDestination, PathDestinations, PathSites, PathUse};
pub use stores::{StoreLists, ThreadLists};
pub use trace::{TraceStep, trace, traces};
