//! A network as data: tensors of bytes, and the layers that make one of others.
//!
//! Tensors lie position-major: row by row, column by column, the channels of a position side by side.

use std::collections::BTreeSet;

use crate::arithmetic::{Quantisation, add};

/// The size of a tensor, without the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// Channels.
    pub channels: usize,
}

impl Shape {
    /// How many positions it has.
    #[must_use]
    pub fn positions(self) -> usize {
        self.height * self.width
    }

    /// How many elements it has.
    #[must_use]
    pub fn elements(self) -> usize {
        self.positions() * self.channels
    }
}

/// What a layer reads and makes.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Its size.
    pub shape: Shape,
    /// Whether it has channels only: coordinates then have one number.
    pub flat: bool,
    /// What its bytes mean.
    pub quantisation: Quantisation,
}

/// A convolution; a dense layer is one whose window is its whole input.
#[derive(Clone, Debug, PartialEq)]
pub struct Conv {
    /// Rows and columns of its window.
    pub kernel: [usize; 2],
    /// Rows and columns from one window to the next.
    pub stride: [usize; 2],
    /// Rows and columns of zeros above and to the left of the input.
    pub pad: [usize; 2],
    /// In how many parts the channels are divided, each of which sees only its own.
    pub groups: usize,
    /// Weights by row, column, channel of the input, and channel of the output within its group.
    pub weights: Vec<i8>,
    /// What is added, for each channel of the output.
    pub bias: Vec<i32>,
    /// What accumulators are multiplied with, for each channel of the output.
    pub multipliers: Vec<f32>,
}

/// The sum of two tensors, for every pair of bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct SumTable(Vec<u8>);

impl SumTable {
    /// The sums of bytes of the first two quantisations, in bytes of the third.
    #[must_use]
    pub fn new(quantisations: [Quantisation; 3]) -> Self {
        Self((0..=u16::MAX).map(|pair| add((pair >> 8) as u8, pair as u8, quantisations)).collect())
    }

    /// The sum of two bytes.
    #[must_use]
    #[inline]
    pub fn of(&self, a: u8, b: u8) -> u8 {
        self.0[usize::from(a) << 8 | usize::from(b)]
    }
}

/// What a layer does.
#[derive(Clone, Debug, PartialEq)]
pub enum Operator {
    /// Convolves; Relu is the clamp of its bytes.
    Conv(Conv),
    /// Sums up all inputs with weights.
    Dense(Conv),
    /// Adds two tensors.
    Add(SumTable),
    /// The average of each channel over all positions.
    GlobalAverage {
        /// What the sum of a channel is multiplied with.
        multiplier: f32,
    },
}

/// A step of the network, which makes one tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Its name, unlike those of others.
    pub name: String,
    /// The operator's name in the file.
    pub opcode: String,
    /// What it does.
    pub operator: Operator,
    /// The tensors that it reads, by number.
    pub inputs: Vec<usize>,
}

impl Layer {
    /// The class of its operator: `conv`, `depthwise`, `dense`, `add` or `pool`.
    #[must_use]
    pub fn class(&self) -> &'static str {
        match &self.operator {
            Operator::Conv(conv) if conv.groups > 1 && conv.groups == conv.bias.len() => "depthwise",
            Operator::Conv(_) => "conv",
            Operator::Dense(_) => "dense",
            Operator::Add(_) => "add",
            Operator::GlobalAverage { .. } => "pool",
        }
    }

    /// Its weights and what belongs to them, if it has some.
    #[must_use]
    pub fn conv(&self) -> Option<&Conv> {
        match &self.operator {
            Operator::Conv(conv) | Operator::Dense(conv) => Some(conv),
            Operator::Add(_) | Operator::GlobalAverage { .. } => None,
        }
    }
}

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

    /// Whether any later layer has a window that reads this position of a layer's output. Logits are read by all.
    #[must_use]
    pub fn is_read(&self, layer: usize, row: usize, column: usize) -> bool {
        let tensor = layer + 1;
        if tensor == self.layers.len() {
            return true;
        }
        let mut readers = self.layers.iter().enumerate().filter(|(_, reader)| reader.inputs.contains(&tensor));
        readers.any(|(number, reader)| {
            let Some(conv) = reader.conv() else { return true };
            let out = self.output(number).shape;
            let reached = |at: usize, axis: usize, size: usize| {
                (0..conv.kernel[axis]).any(|tap| conv.window_of(axis, at, tap, size).is_some())
            };
            reached(row, 0, out.height) && reached(column, 1, out.width)
        })
    }
}

impl Conv {
    /// Which window reads the row (or column) `at` with its row (or column) `tap`, of `windows` that there are.
    #[must_use]
    #[inline]
    pub fn window_of(&self, axis: usize, at: usize, tap: usize, windows: usize) -> Option<usize> {
        let from = (at + self.pad[axis]).checked_sub(tap)?;
        let window = from / self.stride[axis];
        (from.is_multiple_of(self.stride[axis]) && window < windows).then_some(window)
    }
}

/// Checks an operator against what it reads and makes.
fn check(operator: &Operator, inputs: &[&Tensor], output: &Tensor) -> Result<(), String> {
    let valid = |tensor: &Tensor| {
        let scale = tensor.quantisation.scale;
        tensor.shape.elements() > 0 && tensor.shape.elements() < 1 << 31 && scale.is_finite() && scale > 0.0
    };
    if let Some(tensor) = inputs.iter().copied().chain([output]).find(|tensor| !valid(tensor)) {
        return Err(format!("a tensor has elements, and a finite scale above 0, found {tensor:?}"));
    }
    match (operator, inputs) {
        (Operator::Conv(conv) | Operator::Dense(conv), [input]) => check_conv(conv, input, output.shape),
        (Operator::Add(_), [a, b]) if a.shape == output.shape && b.shape == output.shape => Ok(()),
        (Operator::GlobalAverage { multiplier }, [input]) => {
            let expected = Shape { height: 1, width: 1, channels: input.shape.channels };
            if output.shape != expected || !multiplier.is_finite() {
                return Err(format!("an average is {expected:?} of a finite multiplier, found {:?}", output.shape));
            }
            if input.shape.positions() > 1 << 22 {
                return Err("sums of so many positions may overflow".to_owned());
            }
            Ok(())
        }
        _ => {
            let shapes: Vec<Shape> = inputs.iter().map(|input| input.shape).collect();
            Err(format!("found inputs of {shapes:?} for an output of {:?}", output.shape))
        }
    }
}

fn check_conv(conv: &Conv, input: &Tensor, output: Shape) -> Result<(), String> {
    let (kernel, groups) = (conv.kernel, conv.groups);
    if groups == 0 || !input.shape.channels.is_multiple_of(groups) || !output.channels.is_multiple_of(groups) {
        return Err(format!("{groups} groups do not divide {} and {} channels", input.shape.channels, output.channels));
    }
    if conv.stride.contains(&0) || kernel.contains(&0) || kernel.iter().zip(conv.pad).any(|(&size, pad)| pad >= size) {
        return Err("strides and windows are at least 1, and padding is smaller than the window".to_owned());
    }
    let per_group = output.channels / groups;
    let sizes = [kernel[0], kernel[1], input.shape.channels, per_group];
    let weights = sizes.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
    let weights = weights.ok_or_else(|| format!("a window of {kernel:?} is too large"))?;
    let found = [conv.weights.len(), conv.bias.len(), conv.multipliers.len()];
    if found != [weights, output.channels, output.channels] {
        return Err(format!("expected {weights} weights, and {} biases and scales, found {found:?}", output.channels));
    }
    if !conv.multipliers.iter().all(|multiplier| multiplier.is_finite()) {
        return Err("a scale is not finite".to_owned());
    }
    // The window of the last row may begin within the input, and no later.
    let rows_fit = |axis: usize, size: usize, windows: usize| (windows - 1) * conv.stride[axis] < size + conv.pad[axis];
    if !rows_fit(0, input.shape.height, output.height) || !rows_fit(1, input.shape.width, output.width) {
        return Err(format!("windows lie outside of the input, {:?} for {output:?}", input.shape));
    }
    let mut largest: Vec<i64> = conv.bias.iter().map(|&bias| i64::from(bias).abs()).collect();
    let channels_per_group = input.shape.channels / groups;
    for (number, weights) in conv.weights.chunks(per_group).enumerate() {
        let first = (number % input.shape.channels) / channels_per_group * per_group;
        for (sum, &weight) in largest[first..].iter_mut().zip(weights) {
            *sum += i64::from(weight).abs() * 255;
        }
    }
    match largest.iter().position(|&sum| sum > i64::from(i32::MAX)) {
        Some(channel) => Err(format!("the accumulators of channel {channel} may overflow 32 bits")),
        None => Ok(()),
    }
}
