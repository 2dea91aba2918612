//! The shape of a network, whatever its numbers are: what faults are drawn from and named by.

use std::fmt::Debug;

use crate::hit::LayerOperand;
use crate::operator::{Axes, Shape, Window};

/// A layer without its numbers.
#[derive(Clone, Copy, Debug)]
pub struct LayerLayout<'n> {
    /// Its name, unlike those of others.
    pub name: &'n str,
    /// The operator's name in the file.
    pub opcode: &'n str,
    /// The class of its operator.
    pub class: &'static str,
    /// The tensors that it reads, by number.
    pub inputs: &'n [usize],
    /// Its windows, if it has some.
    pub window: Option<Window>,
    /// Its weights, if it has some.
    pub weights: Option<WeightLayout>,
}

/// How weights lie: by row, column, channel of the input, and channel of the output within its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightLayout {
    /// Rows and columns of a filter.
    pub kernel: [usize; 2],
    /// In how many parts the channels are divided.
    pub groups: usize,
    /// Filters, each of which has a bias.
    pub filters: usize,
}

/// Layers and tensors by number: tensor 0 is the input, and layer i makes tensor i + 1.
pub trait Topology: Debug {
    /// The name of the network.
    fn name(&self) -> &str;

    /// How many layers there are.
    fn layer_count(&self) -> usize;

    /// A layer; none beyond the last.
    fn layer(&self, number: usize) -> Option<LayerLayout<'_>>;

    /// The size of a tensor, and its coordinates; none beyond the last.
    fn tensor(&self, number: usize) -> Option<(Shape, Axes)>;

    /// How many bits a stored element of an operand has.
    fn bits(&self, operand: LayerOperand) -> u32;

    /// Whether protection compares feature maps of a layer.
    fn is_compared(&self, _layer: usize) -> bool {
        false
    }

    /// How a number is stored in an element of an operand, as near as it can be; none if the element is missing.
    fn stored(&self, layer: usize, operand: LayerOperand, element: usize, number: f64) -> Option<u32>;
}

impl dyn Topology + '_ {
    /// All layers, in the order of their execution.
    pub fn layouts(&self) -> impl Iterator<Item = LayerLayout<'_>> {
        (0..self.layer_count()).filter_map(|number| self.layer(number))
    }

    /// The number of the layer with this name.
    #[must_use]
    pub fn layer_named(&self, name: &str) -> Option<usize> {
        self.layouts().position(|layer| layer.name == name)
    }

    /// The size of what a layer makes.
    #[must_use]
    pub fn output_shape(&self, layer: usize) -> Shape {
        self.tensor(layer + 1).map_or(Shape { height: 0, width: 0, channels: 0 }, |(shape, _)| shape)
    }

    /// Weights and biases of a layer.
    #[must_use]
    pub fn parameters(&self, layer: usize) -> usize {
        self.taps(layer).map_or(0, |(taps, filters)| (taps + 1) * filters)
    }

    /// Multiplications in one forward run of a layer with weights, or of one that multiplies matrices.
    #[must_use]
    pub fn macs(&self, layer: usize) -> u64 {
        // A row of the first matrix is as long as its channels are many.
        let row = || {
            let found = self.layer(layer).filter(|found| found.class == "product")?;
            Some(self.tensor(*found.inputs.first()?)?.0.channels)
        };
        let each = self.taps(layer).map(|(taps, _)| taps).or_else(row);
        each.map_or(0, |each| (each * self.output_shape(layer).elements()) as u64)
    }

    /// The weights of a filter of a layer, and how many filters there are.
    fn taps(&self, layer: usize) -> Option<(usize, usize)> {
        let found = self.layer(layer)?;
        let weights = found.weights?;
        let (from, _) = self.tensor(*found.inputs.first()?)?;
        Some((weights.kernel[0] * weights.kernel[1] * from.channels / weights.groups.max(1), weights.filters))
    }

    /// Whether any later layer has a window that reads this position of a layer's output. Logits are read by all.
    #[must_use]
    pub fn is_read(&self, layer: usize, row: usize, column: usize) -> bool {
        let tensor = layer + 1;
        if tensor == self.layer_count() || self.is_compared(layer) {
            return true;
        }
        let mut readers = self.layouts().enumerate().filter(|(_, reader)| reader.inputs.contains(&tensor));
        readers.any(|(number, reader)| {
            let Some(window) = reader.window else { return true };
            let out = self.output_shape(number);
            let reached = |at: usize, axis: usize, size: usize| {
                (0..window.kernel[axis]).any(|tap| window.window_of(axis, at, tap, size).is_some())
            };
            reached(row, 0, out.height) && reached(column, 1, out.width)
        })
    }
}
