//! Instruction-set levels of the host: the lane loops are compiled once for each and chosen at run time.
//!
//! Every level gives the same bits. The baseline has no fused multiply-add instruction and calls a library for it;
//! AVX2 and AVX-512 turn a loop over 32 lanes into a few vector instructions.

mod host;
mod vector;

pub use host::{LevelName, WithLevel, with_level};
pub use vector::{Baseline, Level};
