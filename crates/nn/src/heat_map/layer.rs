//! Runs with the heat map of a layer.

use super::map::HeatMap;
use crate::forward::{forward, top_class};
use crate::gradient::{RealRun, Reverse};
use crate::hit::Hit;
use crate::network::Network;
use crate::observe::Task;

/// Makes heat maps of one layer of a network.
#[derive(Clone, Copy, Debug)]
pub struct HeatMapper<'n> {
    network: &'n Network,
    layer: usize,
}

/// A run, seen for one class.
#[derive(Clone, Debug, PartialEq)]
pub struct MappedRun {
    /// The class that the run says.
    pub class: usize,
    /// The logit of the class that it is seen for.
    pub score: f64,
    /// The softmax of that class.
    pub probability: f64,
    /// The mean size of the gradient of the score with respect to the neurons of each feature map of the layer.
    pub sensitivities: Vec<f64>,
    /// The heat map.
    pub map: HeatMap,
}

/// Why there are no heat maps of a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeatMapError {
    /// The network has no class for an image.
    #[error("make heat maps of `{network}`: it finds objects, and a heat map is that of the class of a classifier")]
    Detector {
        /// The network.
        network: String,
    },
    /// A layer that the network does not have, or that has one position.
    #[error("make heat maps of the layer `{layer}` of `{network}`: layers with rows and columns are {layers}")]
    Layer {
        /// The layer.
        layer: String,
        /// The network.
        network: String,
        /// The layers that could be chosen, as a list.
        layers: String,
    },
    /// No layer has more than one position.
    #[error("make heat maps of `{network}`: no layer has rows and columns")]
    Flat {
        /// The network.
        network: String,
    },
}

impl<'n> HeatMapper<'n> {
    /// Of the layer of this name; by default of the last one that has several positions before all of them are summed up.
    ///
    /// # Errors
    /// When the network is a detector, or has no such layer.
    pub fn new(network: &'n Network, task: Task, layer: Option<&str>) -> Result<Self, HeatMapError> {
        let name = || network.name().to_owned();
        if task != Task::Classification {
            return Err(HeatMapError::Detector { network: name() });
        }
        let is_wide = |&number: &usize| network.output(number).shape.positions() > 1;
        let Some(layer) = layer else {
            let layer = last_wide(network).ok_or_else(|| HeatMapError::Flat { network: name() })?;
            return Ok(Self { network, layer });
        };
        match network.layer_named(layer).filter(is_wide) {
            Some(layer) => Ok(Self { network, layer }),
            None => {
                let names = (0..network.layers().len()).filter(is_wide).map(|it| network.layers()[it].name.as_str());
                let layers = names.collect::<Vec<_>>().join(", ");
                Err(HeatMapError::Layer { layer: layer.to_owned(), network: name(), layers })
            }
        }
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &'n Network {
        self.network
    }

    /// The layer, by number.
    #[must_use]
    pub fn layer(&self) -> usize {
        self.layer
    }

    /// The run on the bytes of an image without a fault, seen for the class that it says.
    #[must_use]
    pub fn fault_free(&self, image: &[u8]) -> MappedRun {
        self.seen(image, None, None)
    }

    /// The run with a hit, seen for a class.
    #[must_use]
    pub fn faulty(&self, image: &[u8], hit: &Hit, class: usize) -> MappedRun {
        self.seen(image, Some(hit), Some(class))
    }

    fn seen(&self, image: &[u8], hit: Option<&Hit>, class: Option<usize>) -> MappedRun {
        let (network, shape) = (self.network, self.network.output(self.layer).shape);
        let run = forward(network, image, hit);
        let top = top_class(run.logits());
        let class = class.unwrap_or(top);
        let real = RealRun::of_bytes(network, &run, hit);
        let mut direction = vec![0.0; class + 1];
        direction[class] = 1.0;
        let gradients = Reverse::with_hit(network, hit).gradients(&real, &direction);
        let gradients = &gradients[self.layer + 1];
        let size = |channel: usize| {
            let of_map = gradients.iter().skip(channel).step_by(shape.channels);
            of_map.map(|by| by.abs()).sum::<f64>() / shape.positions() as f64
        };
        let score = real.logits().get(class).copied().unwrap_or_default();
        let all: f64 = real.logits().iter().map(|logit| (logit - score).exp()).sum();
        MappedRun {
            class: top,
            score,
            probability: 1.0 / all,
            sensitivities: (0..shape.channels).map(size).collect(),
            map: HeatMap::new(shape, &real.tensors[self.layer + 1], gradients),
        }
    }
}

/// The last layer with several positions on the way to the logits, unlike a duplicate that is compared with something; none if there is
/// none.
fn last_wide(network: &Network) -> Option<usize> {
    let layers = network.layers();
    let positions = |tensor: usize| network.tensors()[tensor].shape.positions();
    let mut tensor = layers.len();
    while tensor > 0 && positions(tensor) <= 1 {
        let read = &layers[tensor - 1].inputs;
        // Of a tensor and its gate, the gate is the narrow one.
        tensor = read.iter().copied().rev().max_by_key(|&input| positions(input))?;
    }
    tensor.checked_sub(1)
}
