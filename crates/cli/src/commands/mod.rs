//! One module for each command.

pub(crate) mod bounds;
pub(crate) mod campaign;
mod comparison;
pub(crate) mod docs;
pub(crate) mod generate;
pub(crate) mod harden;
pub(crate) mod harden_choice;
mod harden_executable;
mod harden_gpu;
pub(crate) mod info;
pub(crate) mod inject;
pub(crate) mod irradiate;
pub(crate) mod list;
mod listing;
pub(crate) mod live;
pub(crate) mod merge;
pub(crate) mod nn;
pub(crate) mod of_method;
mod parts;
pub(crate) mod profile;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod study;
mod trace;
pub(crate) mod verify;
pub(crate) mod worker;
mod written;
