//! Gradients of logits with respect to neurons, in reverse mode.
//!
//! A quantised network is a staircase, whose gradient is nothing. Its [`RealRun`] computes the same in 64-bit numbers that are not
//! rounded to bytes: what bytes bound (Relu, and the largest byte) bounds these numbers, too. A [`Reverse`] walks back through such
//! a run from a direction over the logits. A run of bytes can stand in for it, with a fault or without: the way back then starts from
//! the values that these bytes store.
//!
//! # Invariants
//!
//! - A function of one number is lines between what it is at neighbouring bytes. At a byte its gradient is the mean of both sides.
//! - Gradients are exact up to rounding of 64 bits where the network is linear around a run; at the corner of a bound or of a
//!   maximum they are those of one side.

mod real;
mod reverse;
mod stored;

pub use real::{Nudge, RealRun};
pub use reverse::Reverse;
