//! A convolution of a network as a CUDA kernel: faults in the kernel, which neurons they leave changed, and what these do to
//! the class. It connects faults in instructions with models of neurons: the changed bytes are a fault of the network.
//!
//! Two kernels make the same bytes: `direct`, a thread for each neuron, and `tiled`, a product of matrices through shared memory.

mod kernel;
mod pattern;
mod show;
mod study;

pub use kernel::{KernelForm, kernel_capsule};
pub use pattern::NeuronPattern;
pub use show::{document, tables};
pub use study::{Convolution, Ends, LayerStudy};
