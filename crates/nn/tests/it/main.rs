//! Tests of the crate through what it offers.

mod agreement;
mod bundled;
mod by_hand;
mod campaigns;
mod damaged;
mod detector;
mod exhaustive;
mod faults;
mod filr;
mod filr_by_hand;
mod filr_speed;
mod float_files;
mod float_operators;
mod floats;
mod formulas;
mod gradient;
mod heuristics;
mod kit;
mod language;
mod language_models;
mod protected;
mod pytorchfi;
mod qdq;
mod random_networks;
mod sources;
mod speed;
