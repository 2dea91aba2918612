//! The drop-in CUDA runtime: a shared library with the entry points of `libcudart.so` that runs the device code of
//! unmodified applications on the simulated GPU, and records what they ask of it.
//!
//! The crate has two faces. As a `cdylib` it is what applications load: nothing of it is meant to be called from
//! Rust, and nothing unwinds, exits or aborts in it. As a library for Beamline itself it has [`runner`], which starts
//! an application so that it loads the other face and can watch over it, [`live`], through which the two sides of a
//! live run speak, [`fatbin`], which reads the containers of device code, and [`executable`], which puts other code into programs.
//!
//! # What it promises to applications
//!
//! - The binary interface of CUDA 12 and 13 on x86-64 Linux, for applications linked with `nvcc -cudart shared`. What
//!   is missing returns `cudaErrorNotSupported` and is named once on stderr; no symbol is undefined.
//! - Errors as on a GPU: a kernel's error is reported by a later call and stays; others are reported at once and pass.
//! - Everything happens in the order in which it is asked for, whatever the stream. Events measure executed
//!   instructions, not time, so that an application that prints times prints the same ones everywhere.
//! - One device of compute capability 8.0 (`runtime/spec.rs` says why).
//!
//! # Reading order
//!
//! `runtime/mod.rs` (the state), `runtime/gpu.rs` (the one way to the device, where recording happens), then `api/`
//! in any order; `runner/mod.rs`; `fatbin/mod.rs`.

#[expect(unsafe_code, reason = "C structures and pointers of applications")]
mod abi;
#[expect(unsafe_code, reason = "exported C functions")]
mod api;
mod code;
pub mod executable;
pub mod fatbin;
pub mod live;
mod report;
pub mod runner;
#[expect(unsafe_code, reason = "memory of applications is read and written")]
mod runtime;
