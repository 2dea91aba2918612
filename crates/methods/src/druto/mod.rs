//! DRUTO (Rahman et al., IPDPS 2024): a search for the input that makes a kernel most vulnerable to silent data corruption.
//!
//! - `searcher`, `searchers`: searchers and their table; `genetic`: the search by generations; `tpe`, `parzen`, `axis`: the estimator;
//! - `fitness`: Equation 1, dynamic instructions of dominant threads; `executed`: the expected rate of PEPPA-X;
//! - `objective`, `halving`: measured values, with few runs for most inputs;
//! - `cells`: faults in static instructions or threads; `ends`: rates of runs;
//! - `bench`, `open_inputs`, `valuation`: inputs run, measured and valued; `search`: a search with a budget; `contest`, `comparison`: searches side by side;
//! - `command`, `show`: `beamline search`; `studies`: `beamline inputs`; `predict`: `beamline predict`, a model without injections.

mod axis;
mod bench;
mod cells;
mod command;
mod comparison;
mod contest;
mod ends;
mod executed;
mod fitness;
mod genetic;
mod halving;
mod method;
mod objective;
mod open_inputs;
mod parzen;
mod predict;
mod search;
mod searcher;
mod searchers;
mod show;
mod studies;
mod tpe;
mod valuation;

pub use method::DrutoMethod;
