//! Where the faults of a network are drawn from.

use std::fmt;

use crate::hit::LayerOperand;
use crate::topology::Topology;

/// A network with the images that it is run on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NetworkSites<'t> {
    pub(crate) network: &'t dyn Topology,
    /// How many images there are.
    pub(crate) images: usize,
    /// The images whose class is right.
    pub(crate) right: &'t [usize],
    pub(crate) numbers: &'t dyn FaultFreeNumbers,
}

/// Elements that runs without a fault read, hold and make, as numbers.
pub(crate) trait FaultFreeNumbers: fmt::Debug {
    /// That of an element of an operand in the inference on an image; none where the layer lacks the element.
    fn fault_free(&self, image: usize, layer: usize, operand: LayerOperand, element: usize) -> Option<f64>;
}
