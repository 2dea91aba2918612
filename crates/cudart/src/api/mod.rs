//! The entry points: what applications call.
//!
//! Each takes the parameters that CUDA documents, in the binary form of CUDA 12 and 13, and does its work through
//! [`crate::runtime`]. Entry points are grouped as in CUDA's reference manual. All of libcudart's symbols are here;
//! those that are not supported say so in `unsupported.rs`.
//!
//! Entry points are not declared `unsafe`, though they trust the pointers that they are given: nothing in Rust calls
//! them.
//!
//! Reference: CUDA Runtime API 12.9 and 13.0.

mod answers;
mod arrays;
mod batches;
mod captures;
mod copies;
mod devices;
mod entry;
mod errors;
mod functions;
mod graph_nodes;
mod graph_params;
mod graph_queries;
mod graphs;
mod launches;
mod leave;
mod libraries;
mod memory;
mod pools;
mod ranges;
mod registration;
mod streams;
mod symbols;
mod textures;
mod unsupported;
