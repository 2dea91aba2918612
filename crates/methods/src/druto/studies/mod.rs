//! Studies of the inputs of an application: `beamline inputs`.
//!
//! - `range`: rates over random inputs (Figure 1);
//! - `kernels`: whether dominant threads and instruction counts rank inputs as rates do (O1, Table III);
//! - `threads`: whether threads that execute more are more vulnerable (O2, Table IV);
//! - `instructions`: whether static instructions keep their ranks (Table II);
//! - `launches`: how alike the launches of a kernel are (Figure 5);
//! - `model`: whether the model without injections follows the input (case study 2);
//! - `pruning`: searches with one launch and with all (Tables VI and VII);
//! - `protection`: selective duplication for one input, met by another (case study 1, Figure 8);
//! - `correlation`: rank correlations as cells; `studied`, `subjects`: questions and inputs.

mod command;
mod correlation;
mod instructions;
mod kernels;
mod launches;
mod model;
mod protection;
mod pruning;
mod range;
mod studied;
mod subjects;
mod threads;

pub(super) use command::COMMAND;
