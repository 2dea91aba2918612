//! Networks of floating point: FP32, or FP16 and BF16, whose values are stored in 16 bits after each operator.
//!
//! A sum is added up in 32 bits, bias first, then row by row, column by column, channel by channel; products and sums are
//! rounded apart. Sums of floats are not associative, so that nothing is added to or taken from a sum: [`FloatDelta`] makes
//! the outputs again that a change touches, each whole and in the order of [`float_forward`], and is equal to it to the last bit.
//!
//! Each value is rounded to the format when it is stored, to nearest, ties to even, once after the [`Activation`]
//! that follows. NaN passes through activations and the largest of a window; a NaN that an operator makes is stored as the one quiet NaN.
//! Exponentials are our own ([`exponential`](crate::exponential)), so that results are the same on every machine.

mod activation;
mod format;
mod network;
mod rearrangement;
mod run;
mod step;
mod target;

pub use activation::{Activation, ActivationFunction};
pub use format::{BitField, ValueFormat};
pub(crate) use network::MOST;
pub use network::{FloatConv, FloatLayer, FloatNetwork, FloatOperator, FloatTensor, LayerNorm};
pub use rearrangement::{CONSTANT, Rearrangement};
pub use run::{FloatDelta, FloatRun, float_forward};
pub use target::{FloatTarget, FloatTargetError};
