//! Quantised neural networks as data, exact runs of them, and one faulty neuron after the other.
//!
//! ```text
//! ONNX file ─▶ Network ─▶ forward (plain loops) ─▶ Run ─▶ Delta: what one hit changes ─▶ logits ─▶ observation
//! ```
//!
//! A fault hits the stored byte of one neuron: one element of what a layer makes, after requantisation and Relu. A
//! [`NetworkTarget`] is the target system of campaigns: it draws an image that the network gets right, one of its neurons and a
//! bit, each with the same chance, and runs the fault by one of two engines.
//!
//! [`filr`] chooses what to protect: feature maps that are made twice, and inferences that are run again.
//!
//! # Invariants
//!
//! - Everything that is compared is integers: the result of [`delta`] is that of [`forward`](mod@forward) to the last bit, in
//!   every tensor.
//! - The arithmetic is that of ONNX Runtime on x86 ([`arithmetic`]).
//! - What a file or an id says wrong is an error that names the place; nothing panics, and nothing here prints.

pub mod arithmetic;
pub mod bundled;
pub mod delta;
mod describe;
pub mod fault;
pub mod file;
pub mod filr;
pub mod forward;
pub mod hit;
pub mod images;
pub mod network;
pub mod observe;
mod population;
pub mod target;

pub use describe::describe;
pub use fault::{Coordinates, Fault, FaultError};
pub use hit::Model;
pub use network::Network;
pub use target::{Accuracy, ENGINES, LayerSize, NetworkTarget};
