//! The drop-in CUDA runtime.
#[expect(dead_code, reason = "x")]
mod code;
pub mod fatbin;
pub mod runner;
