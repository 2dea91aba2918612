//! The binary interface between applications and the CUDA runtime: pointers and structures.

pub(crate) mod pointer;
pub(crate) mod properties;
pub(crate) mod types;
mod version;

#[cfg(test)]
pub(crate) mod layout;

pub(crate) use pointer::{Args, In, Out, Text};
pub(crate) use types::HostFunction;
pub(crate) use version::is_cuda_12;
