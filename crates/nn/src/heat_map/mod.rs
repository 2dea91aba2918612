//! Heat maps: which parts of an image the score of a class comes from, in a run without a fault and in one with it.
//!
//! The technique is Grad-CAM (R. R. Selvaraju et al., *Grad-CAM: Visual explanations from deep networks via gradient-based
//! localization*, ICCV 2017). The weight of a feature map is the mean, over its positions, of the gradient of the score with respect
//! to it; the heat map is `max(0, Σ weight · feature map)`. Section 5.4.4 of the thesis of A. Mahmoud (University of Illinois, 2020)
//! makes heat maps of DenseNet while PyTorchFI hits the feature map to which the class is least sensitive, and the most sensitive one.
//!
//! # Invariants
//!
//! - Feature maps, scores and classes are those of [`forward`](mod@crate::forward), to the last bit, with a fault, too.
//! - Gradients are not of the staircase that bytes are, but of the network without rounding, at the values of that very run: its bounds, the largest of
//!   its windows, its faulty weights. An element that a fault replaces by a number hands nothing on to what stands before it; flips and
//!   stuck bits count as a summand.

mod contrast;
mod layer;
mod map;

pub use contrast::{SensitivityContrast, channel_fault};
pub use layer::{HeatMapError, HeatMapper, MappedRun};
pub use map::HeatMap;
