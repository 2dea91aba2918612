//! A model of errors that injects none, in the manner of GPU-Trident: what a flipped bit comes to, by one golden run.
//!
//! - `evaluate`: an instruction computed again with a flipped source;
//! - `flow`, `follow`: who reads what in the golden run, and which bits of it matter; `owners`: who stored it;
//! - `strata`: the threads that are followed through registers;
//! - `strays`: accesses with a flipped address; `regions`: what branches decide; `checks`: what they skip;
//! - `model`: probabilities that follow; `command`: `beamline predict`.

mod checks;
mod command;
mod evaluate;
mod flow;
mod follow;
mod model;
mod owners;
mod regions;
mod strata;
mod strays;

pub(super) use command::{COMMAND, rate};
