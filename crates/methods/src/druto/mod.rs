//! DRUTO (He et al., IPDPS 2024): a search for the input that makes a kernel most vulnerable to silent data corruption.
//!
//! - `searcher`: what chooses inputs; `genetic`: the search by generations;
//! - `fitness`: Equation 1, dynamic instructions of dominant threads;
//! - `search`: searches with a budget of inputs, random search beside that of the paper, and measured rates;
//! - `command`: `beamline search`.

mod command;
mod fitness;
mod genetic;
mod method;
mod search;
mod searcher;

pub use method::DrutoMethod;
