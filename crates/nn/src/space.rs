//! The elements of an operand by their coordinates, in ONNX' order without the batch.

use crate::hit::LayerOperand;
use crate::operator::{Axes, Shape};
use crate::topology::{Topology, WeightLayout};

/// How many coordinates the elements of an operand have, and where each element lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementSpace {
    sizes: Vec<usize>,
    order: Order,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Order {
    /// Channel, row, column.
    Tensor(Shape),
    /// Filter, channel within the group, row, column.
    Filters {
        /// Channels of the input.
        channels: usize,
        groups: usize,
    },
    /// Output, and input as it is flattened: channel, row, column.
    Dense(Shape),
    /// One after the other, the last coordinate first.
    Line,
}

impl ElementSpace {
    /// The elements of an operand of a layer; none if the layer has no such operand.
    #[must_use]
    pub fn of(network: &dyn Topology, layer: usize, operand: LayerOperand) -> Option<Self> {
        let found = network.layer(layer)?;
        let tensor = |number: usize| {
            let (shape, axes) = network.tensor(number)?;
            let Shape { height, width, channels } = shape;
            let (sizes, order) = match axes {
                Axes::Channels => (vec![channels], Order::Line),
                Axes::Image => (vec![channels, height, width], Order::Tensor(shape)),
                Axes::Matrix => (vec![width, channels], Order::Line),
                Axes::Matrices => (vec![height, width, channels], Order::Line),
            };
            Some(Self { sizes, order })
        };
        match operand {
            LayerOperand::Out => tensor(layer + 1),
            LayerOperand::In(which) => tensor(*found.inputs.get(which)?),
            LayerOperand::Bias => Some(Self { sizes: vec![found.weights?.filters], order: Order::Line }),
            LayerOperand::Weight => {
                let (from, _) = network.tensor(*found.inputs.first()?)?;
                Some(Self::of_weights(found.weights?, from, found.class == "dense"))
            }
        }
    }

    fn of_weights(weights: WeightLayout, from: Shape, dense: bool) -> Self {
        let (filters, [rows, columns]) = (weights.filters, weights.kernel);
        if dense {
            let window = Shape { height: rows, width: columns, ..from };
            return Self { sizes: vec![filters, window.elements()], order: Order::Dense(window) };
        }
        let sizes = vec![filters, from.channels / weights.groups, rows, columns];
        Self { sizes, order: Order::Filters { channels: from.channels, groups: weights.groups } }
    }

    /// How many values each coordinate takes.
    #[must_use]
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// How many elements there are.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.sizes.iter().product()
    }

    /// The element at coordinates; none if they are too many, too few or outside.
    #[must_use]
    pub fn element(&self, at: &[usize]) -> Option<usize> {
        if at.len() != self.sizes.len() || at.iter().zip(&self.sizes).any(|(at, size)| at >= size) {
            return None;
        }
        Some(match (&self.order, at) {
            (Order::Tensor(shape), &[channel, row, column]) => (row * shape.width + column) * shape.channels + channel,
            (Order::Filters { channels, groups }, &[filter, channel, row, column]) => {
                let per_group = self.sizes[0] / groups;
                let channel = filter / per_group * self.sizes[1] + channel;
                ((row * self.sizes[3] + column) * channels + channel) * per_group + filter % per_group
            }
            (Order::Dense(from), &[output, input]) => {
                let (channel, position) = (input / from.positions(), input % from.positions());
                (position * from.channels + channel) * self.sizes[0] + output
            }
            _ => at.iter().zip(&self.sizes).fold(0, |element, (at, size)| element * size + at),
        })
    }

    /// The coordinates of an element by its number: of a tensor position-major, of weights in ONNX' order.
    #[must_use]
    pub fn coordinates(&self, number: usize) -> Vec<usize> {
        if let (Order::Tensor(shape), [_, _, _]) = (&self.order, &self.sizes[..]) {
            let position = number / shape.channels;
            return vec![number % shape.channels, position / shape.width, position % shape.width];
        }
        let (mut at, mut rest) = (vec![0; self.sizes.len()], number);
        for (at, &size) in at.iter_mut().zip(&self.sizes).rev() {
            *at = rest % size;
            rest /= size;
        }
        at
    }

    /// The parts that there are, in words.
    #[must_use]
    pub fn describe(&self) -> String {
        match (&self.order, &self.sizes[..]) {
            (Order::Tensor(_), [channels, rows, columns]) => {
                format!("{channels} channels, {rows} rows and {columns} columns")
            }
            (Order::Filters { .. }, [filters, channels, rows, columns]) => {
                format!("{filters} filters of {channels} channels, {rows} rows and {columns} columns")
            }
            (Order::Dense(_), [outputs, inputs]) => format!("{outputs} outputs of {inputs} inputs"),
            (_, &[rows, columns]) => format!("{rows} rows and {columns} columns"),
            (_, &[matrices, rows, columns]) => format!("{matrices} matrices of {rows} rows and {columns} columns"),
            (_, sizes) => format!("{} channels and neither rows nor columns", sizes[0]),
        }
    }
}
