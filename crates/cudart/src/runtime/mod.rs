//! The simulated CUDA runtime of this process: its state, and what entry points do with it.

pub(crate) mod advice;
mod allocate;
mod array_memory;
pub(crate) mod arrays;
mod caller;
pub(crate) mod capture;
pub(crate) mod copy;
mod errors;
mod finish;
pub(crate) mod gpu;
mod graph_queries;
pub(crate) mod graphs;
mod host;
pub(crate) mod launch;
mod libraries;
mod live;
pub(crate) mod memory;
mod mirrors;
pub(crate) mod modules;
pub(crate) mod occupancy;
mod output;
mod pages;
mod perform;
mod recorder;
mod sources;
pub(crate) mod spec;
mod state;
pub(crate) mod streams;
mod texture_objects;
pub(crate) mod textures;
mod user_objects;
pub(crate) mod work;

pub(crate) use finish::write_recording;
pub(crate) use memory::is_device;
pub(crate) use recorder::is_recording;
pub(crate) use state::{Runtime, with};

#[cfg(test)]
mod tests;
