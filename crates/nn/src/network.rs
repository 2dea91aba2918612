//! A network as data: tensors of bytes, and the layers that make one of others.
//!
//! Tensors lie position-major: row by row, column by column, the channels of a position side by side.

use std::collections::BTreeSet;

use crate::check::check;
use crate::hit::LayerOperand;

pub use crate::operator::{AveragePool, Conv, Layer, Operator, Shape, SumTable, Tensor, Window};

/// Layers in an order in which each follows what it reads. Tensor 0 is the input; layer i makes tensor i + 1, and the
/// last layer the logits.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    name: String,
    tensors: Vec<Tensor>,
    layers: Vec<Layer>,
}

/// Why layers are no network.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NetworkError {
    /// It does nothing, or a layer has no tensor.
    #[error("build the network `{name}`: {layers} layers need {expected} tensors (the input and one each), found {tensors}; there is at least one layer", expected = layers + 1)]
    Count {
        /// The network.
        name: String,
        /// Its layers.
        layers: usize,
        /// Its tensors.
        tensors: usize,
    },
    /// Something is wrong with a layer.
    #[error("build the layer `{layer}`: {what}")]
    Layer {
        /// The layer.
        layer: String,
        /// What is wrong, and what was expected.
        what: String,
    },
}

impl Network {
    /// Checks that the layers fit each other, and that no accumulator can overflow.
    ///
    /// # Errors
    /// At the first layer that does not fit.
    pub fn new(name: String, tensors: Vec<Tensor>, layers: Vec<Layer>) -> Result<Self, NetworkError> {
        if layers.is_empty() || tensors.len() != layers.len() + 1 {
            return Err(NetworkError::Count { name, layers: layers.len(), tensors: tensors.len() });
        }
        let mut names = BTreeSet::new();
        for (number, layer) in layers.iter().enumerate() {
            let wrong = |what| NetworkError::Layer { layer: layer.name.clone(), what };
            if layer.name.is_empty() || layer.name.contains([',', '=', ';', '+']) || !names.insert(&layer.name) {
                return Err(wrong("a name is not empty, has none of `,=;+`, and is unlike others".to_owned()));
            }
            if layer.inputs.iter().any(|&input| input > number) {
                return Err(wrong("it reads what is made after it".to_owned()));
            }
            let inputs: Vec<&Tensor> = layer.inputs.iter().filter_map(|&input| tensors.get(input)).collect();
            check(&layer.operator, &inputs, &tensors[number + 1]).map_err(wrong)?;
        }
        let network = Self { name, tensors, layers };
        let logits = network.tensors[network.layers.len()].shape;
        if logits.positions() != 1 || logits.channels < 2 {
            let layer = network.layers[network.layers.len() - 1].name.clone();
            let what = format!("the last layer makes logits, at least two and one position, found {logits:?}");
            return Err(NetworkError::Layer { layer, what });
        }
        Ok(network)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its layers, in the order of their execution.
    #[must_use]
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Its tensors: the input, and what each layer makes.
    #[must_use]
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// What a layer makes.
    #[must_use]
    pub fn output(&self, layer: usize) -> &Tensor {
        &self.tensors[layer + 1]
    }

    /// The tensor of the logits.
    #[must_use]
    pub fn logits(&self) -> &Tensor {
        self.output(self.layers.len() - 1)
    }

    /// The number of the layer with this name.
    #[must_use]
    pub fn layer_named(&self, name: &str) -> Option<usize> {
        self.layers.iter().position(|layer| layer.name == name)
    }

    /// Multiplications with a weight in one forward run of a layer.
    #[must_use]
    pub fn macs(&self, layer: usize) -> u64 {
        let window = |conv: &Conv| {
            conv.kernel[0] * conv.kernel[1] * self.tensors[self.layers[layer].inputs[0]].shape.channels / conv.groups
        };
        let each = self.layers[layer].conv().map_or(0, window);
        (each * self.output(layer).shape.elements()) as u64
    }

    /// Weights and biases of a layer.
    #[must_use]
    pub fn parameters(&self, layer: usize) -> usize {
        self.layers[layer].conv().map_or(0, |conv| conv.weights.len() + conv.bias.len())
    }

    /// How a number is stored in an element of an operand, as near as it can be; none if the element is missing.
    #[must_use]
    pub fn stored(&self, layer: usize, operand: LayerOperand, element: usize, number: f64) -> Option<u32> {
        let found = self.layers.get(layer)?;
        let byte = |tensor: usize| Some(u32::from(self.tensors.get(tensor)?.quantisation.stored(number as f32)));
        match operand {
            LayerOperand::Out => byte(layer + 1),
            LayerOperand::In(which) => byte(*found.inputs.get(which)?),
            LayerOperand::Weight => {
                let channels = self.tensors[found.inputs[0]].shape.channels;
                let conv = found.conv()?;
                let scale = conv.scales[conv.filter_of(element, channels)];
                Some(u32::from((number as f32 / scale).round_ties_even() as i8 as u8))
            }
            LayerOperand::Bias => {
                let step = self.tensors[found.inputs[0]].quantisation.scale * found.conv()?.scales.get(element)?;
                Some((number as f32 / step).round_ties_even() as i32 as u32)
            }
        }
    }

    /// Whether any later layer has a window that reads this position of a layer's output. Logits are read by all.
    #[must_use]
    pub fn is_read(&self, layer: usize, row: usize, column: usize) -> bool {
        let tensor = layer + 1;
        if tensor == self.layers.len() {
            return true;
        }
        let mut readers = self.layers.iter().enumerate().filter(|(_, reader)| reader.inputs.contains(&tensor));
        readers.any(|(number, reader)| {
            let Some(window) = reader.window() else { return true };
            let out = self.output(number).shape;
            let reached = |at: usize, axis: usize, size: usize| {
                (0..window.kernel[axis]).any(|tap| window.window_of(axis, at, tap, size).is_some())
            };
            reached(row, 0, out.height) && reached(column, 1, out.width)
        })
    }
}
