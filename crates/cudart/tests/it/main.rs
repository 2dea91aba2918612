//! Applications that are linked as nvcc links them, run on our runtime. They are compiled here by the C compiler that
//! Rust links with: no CUDA is needed.

mod applications;
mod build;
mod conformance;
mod explanations;
mod symbols;
mod versions;
