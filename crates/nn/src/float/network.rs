//! A network of floating point as data. Tensors lie position-major, as those of bytes do.

use std::collections::BTreeSet;

use super::activation::Activation;
use super::format::ValueFormat;
use super::rearrangement::Rearrangement;
use crate::check::check_window;
use crate::hit::{INPUTS, LayerOperand};
use crate::network::NetworkError;
use crate::operator::{AveragePool, Axes, Shape, Window};
use crate::topology::{LayerLayout, Topology, WeightLayout};

/// A tensor of floating point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatTensor {
    /// Its size.
    pub shape: Shape,
    /// The coordinates of its elements.
    pub axes: Axes,
}

/// A convolution of floating point; a dense layer is one whose window is its whole input.
#[derive(Clone, Debug, PartialEq)]
pub struct FloatConv {
    /// Its windows.
    pub window: Window,
    /// In how many parts the channels are divided, each of which sees only its own.
    pub groups: usize,
    /// Weights by row, column, channel of the input, and channel of the output within its group.
    pub weights: Vec<f32>,
    /// The summand, for each channel of the output.
    pub bias: Vec<f32>,
}

/// A layer normalisation over channels.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerNorm {
    /// The summand of the variance before its root is taken.
    pub epsilon: f32,
    /// The weight and the bias of each channel: a convolution of one position with as many groups as channels.
    pub scale: FloatConv,
}

/// The operation of a layer.
#[derive(Clone, Debug, PartialEq)]
pub enum FloatOperator {
    /// Convolves. What lies outside of the input counts for nothing.
    Conv(FloatConv),
    /// Sums up all inputs with weights; with a window of one position, those of each position.
    Dense(FloatConv),
    /// Multiplies matrices: rows, columns and channels of both inputs are matrices, their rows and their columns.
    Product,
    /// Adds two tensors.
    Add,
    /// Adds a constant to each element.
    AddConstant(Vec<f32>),
    /// Multiplies each element by a constant.
    MultiplyConstant(Vec<f32>),
    /// Multiplies two tensors; one of them may have a number for each channel, which is that of all positions.
    Multiply,
    /// The largest of each channel in each window.
    MaxPool(Window),
    /// The average of each channel in each window.
    AveragePool(AveragePool),
    /// The channels of all inputs, one after the other.
    Concat,
    /// The average of each channel over all positions.
    GlobalAverage,
    /// The share of each channel's exponential in those of its position.
    Softmax,
    /// Makes the channels of each position of the mean 0 and the variance 1, which then have a weight and a bias each.
    Normalise(LayerNorm),
    /// Elements of the inputs in another order.
    Rearrange(Rearrangement),
    /// The value itself, of which the activation makes something.
    Identity,
}

/// A step of the network, which makes one tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct FloatLayer {
    /// Its name, unlike those of others.
    pub name: String,
    /// The operator's name in the file.
    pub opcode: String,
    /// Its operation.
    pub operator: FloatOperator,
    /// The tensors that it reads, by number.
    pub inputs: Vec<usize>,
    /// The function of each number that it makes, before it is stored.
    pub activation: Option<Activation>,
}

/// Layers in an order in which each follows what it reads.
#[derive(Clone, Debug, PartialEq)]
pub struct FloatNetwork {
    name: String,
    format: ValueFormat,
    tensors: Vec<FloatTensor>,
    layers: Vec<FloatLayer>,
}

/// The most that the tensors and weights of a network take of memory, in bytes.
pub(crate) const MOST: usize = 4 << 30;

impl FloatLayer {
    fn class(&self) -> &'static str {
        match &self.operator {
            FloatOperator::Conv(conv) if conv.groups > 1 && conv.groups == conv.bias.len() => "depthwise",
            FloatOperator::Conv(_) => "conv",
            FloatOperator::Dense(_) => "dense",
            FloatOperator::Product => "product",
            FloatOperator::Add | FloatOperator::AddConstant(_) => "add",
            FloatOperator::MaxPool(_) | FloatOperator::AveragePool(_) | FloatOperator::GlobalAverage => "pool",
            FloatOperator::Concat => "concat",
            FloatOperator::Multiply | FloatOperator::MultiplyConstant(_) => "mul",
            FloatOperator::Normalise(_) => "norm",
            FloatOperator::Rearrange(_) => "move",
            FloatOperator::Softmax => "softmax",
            FloatOperator::Identity => "activation",
        }
    }

    /// Its weights, if it has some.
    #[must_use]
    pub fn conv(&self) -> Option<&FloatConv> {
        match &self.operator {
            FloatOperator::Conv(conv) | FloatOperator::Dense(conv) => Some(conv),
            FloatOperator::Normalise(norm) => Some(&norm.scale),
            _ => None,
        }
    }

    /// Its windows, if it has some.
    pub(super) fn window(&self) -> Option<Window> {
        match &self.operator {
            FloatOperator::MaxPool(window) => Some(*window),
            FloatOperator::AveragePool(pool) => Some(pool.window),
            FloatOperator::Conv(conv) => Some(conv.window),
            FloatOperator::Dense(conv) => Some(conv.window).filter(|window| *window != Window::plain([1, 1])),
            _ => None,
        }
    }
}

impl FloatOperator {
    /// Its weights and what belongs to them, if it has some.
    pub(super) fn conv_mut(&mut self) -> Option<&mut FloatConv> {
        match self {
            Self::Conv(conv) | Self::Dense(conv) => Some(conv),
            Self::Normalise(norm) => Some(&mut norm.scale),
            _ => None,
        }
    }

    /// The numbers that it holds: weights and biases, or constants.
    fn constants(&mut self) -> [&mut [f32]; 2] {
        match self {
            Self::AddConstant(values) | Self::MultiplyConstant(values) => [values, &mut []],
            _ => self.conv_mut().map_or([&mut [], &mut []], |conv| [&mut conv.weights, &mut conv.bias]),
        }
    }
}

impl FloatNetwork {
    /// Checks that the layers fit each other; weights and biases become what the format stores of them.
    ///
    /// # Errors
    /// At the first layer that does not fit, and where a number is not finite or memory does not suffice.
    pub fn new(
        name: String,
        format: ValueFormat,
        tensors: Vec<FloatTensor>,
        mut layers: Vec<FloatLayer>,
    ) -> Result<Self, NetworkError> {
        if layers.is_empty() || tensors.len() != layers.len() + 1 {
            return Err(NetworkError::Count { name, layers: layers.len(), tensors: tensors.len() });
        }
        let elements = |total: usize, tensor: &FloatTensor| {
            let Shape { height, width, channels } = tensor.shape;
            height.checked_mul(width)?.checked_mul(channels)?.checked_add(total)
        };
        let sizes = tensors.iter().try_fold(0, elements);
        let weights: usize = layers.iter().filter_map(FloatLayer::conv).map(|conv| conv.weights.len()).sum();
        let bytes = sizes.and_then(|sizes| sizes.checked_add(weights)?.checked_mul(size_of::<f32>()));
        if bytes.is_none_or(|bytes| bytes > MOST) {
            return Err(NetworkError::Memory { name, bytes, most: MOST });
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
            let inputs: Vec<Shape> = layer.inputs.iter().map(|&input| tensors[input].shape).collect();
            check(layer, &inputs, tensors[number + 1].shape).map_err(wrong)?;
        }
        for layer in &mut layers {
            for (number, value) in layer.operator.constants().into_iter().flatten().enumerate() {
                let kept = format.kept(*value);
                if !kept.is_finite() {
                    let what = format!(
                        "its weight, bias or constant {number} is {value}, which {} stores as {kept}; expected finite numbers",
                        format.word()
                    );
                    return Err(NetworkError::Layer { layer: layer.name.clone(), what });
                }
                *value = kept;
            }
        }
        Ok(Self { name, format, tensors, layers })
    }

    /// How its values are stored.
    #[must_use]
    pub fn format(&self) -> ValueFormat {
        self.format
    }

    /// Its layers, in the order of their execution.
    #[must_use]
    pub fn layers(&self) -> &[FloatLayer] {
        &self.layers
    }

    /// Its tensors: the input, and what each layer makes.
    #[must_use]
    pub fn tensors(&self) -> &[FloatTensor] {
        &self.tensors
    }

    /// Its shape, without its numbers.
    #[must_use]
    pub fn topology(&self) -> &dyn Topology {
        self
    }
}

fn check(layer: &FloatLayer, inputs: &[Shape], output: Shape) -> Result<(), String> {
    let misfit = || format!("found inputs of {inputs:?} for an output of {output:?}");
    let (Some(&first), true) = (inputs.first(), inputs.len() <= INPUTS.len()) else { return Err(misfit()) };
    if inputs.iter().chain([&output]).any(|shape| shape.elements() == 0 || shape.elements() >= 1 << 31) {
        return Err(misfit());
    }
    let same_positions = |shape: &Shape| [shape.height, shape.width] == [output.height, output.width];
    // Rows and columns may be counted in another way, as positions are not.
    let alike = |shape: &Shape| shape.positions() == output.positions() && shape.channels == output.channels;
    let fits = match &layer.operator {
        FloatOperator::Conv(conv) | FloatOperator::Dense(conv) => {
            let [rows, columns] = conv.window.kernel;
            let weights = rows.checked_mul(columns).and_then(|taps| taps.checked_mul(first.channels));
            let is_divided = |channels: usize| conv.groups > 0 && channels.is_multiple_of(conv.groups);
            inputs.len() == 1
                && is_divided(first.channels)
                && is_divided(output.channels)
                && (layer.window().is_some() || first.positions() == output.positions())
                && conv.bias.len() == output.channels
                && weights.and_then(|each| each.checked_mul(output.channels / conv.groups)) == Some(conv.weights.len())
        }
        FloatOperator::Product => {
            let made = |second: &Shape| Shape { channels: second.channels, ..first };
            matches!(inputs, [_, second] if made(second) == output
                && [second.height, second.width] == [first.height, first.channels])
        }
        FloatOperator::Add => inputs.len() == 2 && inputs.iter().all(alike),
        FloatOperator::AddConstant(values) | FloatOperator::MultiplyConstant(values) => {
            inputs.len() == 1 && alike(&first) && values.len() == output.elements()
        }
        FloatOperator::Normalise(LayerNorm { epsilon, scale }) => {
            let plain = scale.window == Window::plain([1, 1]) && scale.groups == output.channels;
            let counts = [scale.weights.len(), scale.bias.len()] == [output.channels; 2];
            inputs.len() == 1 && alike(&first) && plain && counts && epsilon.is_finite() && *epsilon >= 0.0
        }
        FloatOperator::Rearrange(moved) => moved.fits(inputs, output),
        FloatOperator::MaxPool(_) | FloatOperator::AveragePool(_) => {
            inputs.len() == 1 && first.channels == output.channels
        }
        FloatOperator::Concat => {
            let channels: usize = inputs.iter().map(|input| input.channels).sum();
            inputs.iter().all(same_positions) && channels == output.channels
        }
        FloatOperator::GlobalAverage => {
            inputs.len() == 1 && output == Shape { height: 1, width: 1, channels: first.channels }
        }
        FloatOperator::Multiply => {
            let each_channel = Shape { height: 1, width: 1, ..output };
            inputs.len() == 2
                && inputs.iter().any(alike)
                && inputs.iter().all(|shape| alike(shape) || *shape == each_channel)
        }
        FloatOperator::Softmax | FloatOperator::Identity => inputs.len() == 1 && alike(&first),
    };
    match (fits, layer.window()) {
        (false, _) => Err(misfit()),
        (true, Some(window)) => check_window(window, first, output),
        (true, None) => Ok(()),
    }
}

impl Topology for FloatNetwork {
    fn name(&self) -> &str {
        &self.name
    }

    fn layer_count(&self) -> usize {
        self.layers.len()
    }

    fn layer(&self, number: usize) -> Option<LayerLayout<'_>> {
        let layer = self.layers.get(number)?;
        let weights = layer.conv().map(|conv| WeightLayout {
            kernel: conv.window.kernel,
            groups: conv.groups,
            filters: conv.bias.len(),
        });
        let (name, opcode, inputs) = (&layer.name, &layer.opcode, &layer.inputs);
        Some(LayerLayout { name, opcode, class: layer.class(), inputs, window: layer.window(), weights })
    }

    fn tensor(&self, number: usize) -> Option<(Shape, Axes)> {
        self.tensors.get(number).map(|tensor| (tensor.shape, tensor.axes))
    }

    fn bits(&self, _: LayerOperand) -> u32 {
        self.format.bits()
    }

    fn stored(&self, layer: usize, _: LayerOperand, _: usize, number: f64) -> Option<u32> {
        self.layers.get(layer).map(|_| self.format.stored(number as f32))
    }
}
