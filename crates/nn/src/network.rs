//! A network as data: tensors of bytes, and the layers that make one of others.
//!
//! Tensors lie position-major: row by row, column by column, the channels of a position side by side.

use std::collections::BTreeSet;

use crate::check::check;
use crate::hit::LayerOperand;
use crate::protection::{Check, Protection};
use crate::topology::{LayerLayout, Topology, WeightLayout};

pub use crate::operator::{
    AveragePool, Axes, Conv, FunctionTable, Layer, Operator, ProductTable, Shape, SumTable, Tensor, Window,
};

/// Layers in an order in which each follows what it reads. Tensor 0 is the input; layer i makes tensor i + 1, and the
/// last layer the logits.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    name: String,
    tensors: Vec<Tensor>,
    layers: Vec<Layer>,
    protection: Protection,
    /// The stored byte of the input for each byte of an image, where they differ.
    stored: Option<Box<[u8; 256]>>,
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
    /// It does not fit into memory.
    #[error("build the network `{name}`: its tensors and weights take {}, and may take {most} bytes", bytes.map_or_else(|| "more bytes than can be counted".to_owned(), |bytes| format!("{bytes} bytes")))]
    Memory {
        /// The network.
        name: String,
        /// The bytes that it takes, if they can be counted.
        bytes: Option<usize>,
        /// The most that it may take.
        most: usize,
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
        Ok(Self { name, tensors, layers, protection: Protection::default(), stored: None })
    }

    /// The same for an input of floating point, which is quantised before it is stored: a byte of an image is its 255th part.
    #[must_use]
    pub fn with_float_input(self) -> Self {
        let quantisation = self.tensors[0].quantisation;
        let stored: [u8; 256] = std::array::from_fn(|byte| quantisation.stored(byte as f32 / 255.0));
        let differs = stored.iter().enumerate().any(|(byte, &stored)| byte != usize::from(stored));
        Self { stored: differs.then(|| stored.into()), ..self }
    }

    /// The stored byte of the input for a byte of an image.
    #[must_use]
    pub fn input_byte(&self, byte: u8) -> u8 {
        self.stored.as_ref().map_or(byte, |stored| stored[usize::from(byte)])
    }

    /// The same with protection.
    ///
    /// # Errors
    /// When a duplicate does not make as many feature maps as it is compared with, or of another size.
    pub fn with_protection(self, protection: Protection) -> Result<Self, NetworkError> {
        for Check { layer, duplicate, channels } in &protection.checks {
            let [original, copy] = [layer, duplicate].map(|&number| self.tensors.get(number + 1).map(|it| it.shape));
            let fits = original.zip(copy).is_some_and(|(original, copy)| {
                let same = [original.height, original.width] == [copy.height, copy.width];
                same && channels.len() == copy.channels && channels.iter().all(|&it| it < original.channels)
            });
            if !fits {
                let layer = self.layers.get(*duplicate).map_or_else(String::new, |found| found.name.clone());
                let what =
                    format!("it is compared with {} feature maps of {original:?}, and makes {copy:?}", channels.len());
                return Err(NetworkError::Layer { layer, what });
            }
        }
        Ok(Self { protection, ..self })
    }

    /// The protection that it carries.
    #[must_use]
    pub fn protection(&self) -> &Protection {
        &self.protection
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

    /// Its shape, without its numbers.
    #[must_use]
    pub fn topology(&self) -> &dyn Topology {
        self
    }

    /// The number of the layer with this name.
    #[must_use]
    pub fn layer_named(&self, name: &str) -> Option<usize> {
        self.topology().layer_named(name)
    }

    /// Multiplications with a weight in one forward run of a layer.
    #[must_use]
    pub fn macs(&self, layer: usize) -> u64 {
        self.topology().macs(layer)
    }

    /// Whether any later layer has a window that reads this position of a layer's output. Logits are read by all.
    #[must_use]
    pub fn is_read(&self, layer: usize, row: usize, column: usize) -> bool {
        self.topology().is_read(layer, row, column)
    }
}

impl Network {
    /// The number that a weight or a bias stands for; none where the layer lacks the element.
    pub(crate) fn parameter(&self, layer: usize, operand: LayerOperand, element: usize) -> Option<f64> {
        let found = self.layers.get(layer)?;
        let (conv, from) = (found.conv()?, self.tensors.get(*found.inputs.first()?)?);
        match operand {
            LayerOperand::Weight => {
                let scale = conv.scales.get(conv.filter_of(element, from.shape.channels))?;
                Some(f64::from(*conv.weights.get(element)?) * f64::from(*scale))
            }
            LayerOperand::Bias => {
                let step = from.quantisation.scale * conv.scales.get(element)?;
                Some(f64::from(*conv.bias.get(element)?) * f64::from(step))
            }
            LayerOperand::In(_) | LayerOperand::Out => None,
        }
    }
}

impl Topology for Network {
    fn name(&self) -> &str {
        &self.name
    }

    fn layer_count(&self) -> usize {
        self.layers.len()
    }

    fn layer(&self, number: usize) -> Option<LayerLayout<'_>> {
        let layer = self.layers.get(number)?;
        let weights = layer.conv().map(|conv| WeightLayout {
            kernel: conv.kernel,
            groups: conv.groups,
            filters: conv.bias.len(),
        });
        let (name, opcode, inputs) = (&layer.name, &layer.opcode, &layer.inputs);
        Some(LayerLayout { name, opcode, class: layer.class(), inputs, window: layer.window(), weights })
    }

    fn tensor(&self, number: usize) -> Option<(Shape, Axes)> {
        self.tensors.get(number).map(|tensor| (tensor.shape, if tensor.flat { Axes::Channels } else { Axes::Image }))
    }

    fn bits(&self, operand: LayerOperand) -> u32 {
        operand.bits()
    }

    fn is_compared(&self, layer: usize) -> bool {
        self.protection.checks.iter().any(|check| check.layer == layer || check.duplicate == layer)
    }

    fn stored(&self, layer: usize, operand: LayerOperand, element: usize, number: f64) -> Option<u32> {
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
}
