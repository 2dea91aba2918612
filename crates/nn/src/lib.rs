//! Neural networks, quantised or of floating point, as data, exact runs of them, and one fault after the other.
//!
//! ```text
//! ONNX file ─▶ Network ─▶ forward (plain loops) ─▶ Run ─▶ Delta: what one hit changes ─▶ logits ─▶ observation
//! ```
//!
//! A fault hits stored elements of what a layer makes (neurons, after requantisation and Relu), of its weights, of its biases or
//! of what it reads. A [`NetworkTarget`] is the target system of campaigns: it draws an image that the network gets right, an
//! element and a bit, each with the same chance, and runs the fault by one of two engines.
//!
//! [`heat_map`] shows which parts of an image a class comes from, without a fault and with one.
//!
//! [`filr`] chooses what to protect: feature maps that are made twice, and inferences that are run again.
//!
//! # Invariants
//!
//! - Of a quantised network everything that is compared is integers: the result of [`delta`] is that of
//!   [`forward`](mod@forward) to the last bit, in every tensor. [`mod@float`] says how the same holds of floating point.
//! - The arithmetic of quantised networks is that of ONNX Runtime on x86 ([`arithmetic`]).
//! - What a file or an id says wrong is an error that names the place; nothing panics, and nothing here prints.

pub mod arithmetic;
pub mod bundled;
mod check;
pub mod delta;
mod describe;
pub mod detection;
pub mod exponential;
pub mod fault;
mod fault_free;
pub mod file;
pub mod filr;
pub mod float;
pub mod forward;
pub mod gradient;
pub mod heat_map;
pub mod hit;
pub mod idx;
pub mod images;
pub mod language;
mod level;
pub mod network;
mod network_sites;
mod notice;
pub mod observe;
mod operator;
mod population;
pub mod protection;
mod sites;
pub mod source;
mod space;
pub mod target;
mod topology;

pub use self::fault::{ElementRegion, Fault, FaultError, FaultPart, Span};
pub use describe::describe;
pub use float::{BitField, FloatTarget, ValueFormat};
pub use hit::{Hit, LayerOperand, Place};
pub use language::{LanguageSource, LanguageTarget};
pub use network::Network;
pub use source::{ImageFiles, NetworkSource, OpenedNetwork, SourceError};
pub use space::ElementSpace;
pub use target::{Accuracy, ENGINES, LayerSize, NetworkTarget};
pub use topology::{LayerLayout, Topology, WeightLayout};
