//! Networks from ONNX files whose operators compute in floating point. Relu and its like become the activation of the layer before,
//! and BatchNormalization its weights, where nothing else reads what that layer makes; zeros of Pad become padding of the Conv
//! that reads them.

use std::collections::{BTreeMap, BTreeSet};

use rten_onnx::onnx::{DataType, GraphProto, NodeProto};

use super::constants::Constants;
use super::error::{CONSTANT, FileError, content, float_operators, node_name, unknown};
use super::node::Attributes;
use super::reading::input_of;
use super::wire;
use crate::float::{FloatConv, FloatLayer, FloatNetwork, FloatOperator, FloatTensor, ValueFormat};
use crate::operator::{AveragePool, Shape, Window};

/// The attributes that are read.
const ATTRIBUTES: [&str; 22] = [
    "allowzero",
    "alpha",
    "auto_pad",
    "axis",
    "beta",
    "ceil_mode",
    "count_include_pad",
    "dilations",
    "epsilon",
    "group",
    "kernel_shape",
    "max",
    "min",
    "mode",
    "momentum",
    "pads",
    "storage_order",
    "strides",
    "training_mode",
    "transA",
    "transB",
    "value",
];

/// Whether bytes are an ONNX file whose input is of floating point, and which quantises nothing.
#[must_use]
pub fn is_float(bytes: &[u8]) -> bool {
    wire::graph(bytes).is_ok_and(|graph| computes_in_floats(&graph))
}

/// Whether the input of a graph is of floating point, and none of its nodes quantises anything.
pub(super) fn computes_in_floats(graph: &GraphProto) -> bool {
    let quantises = |node: &NodeProto| {
        node.op_type.as_deref().is_some_and(|it| it.starts_with('Q') || it.starts_with("Dequantize"))
    };
    let constants = Constants::of(graph);
    let input = graph.input.iter().find(|input| !constants.has(input.name.as_deref().unwrap_or_default()));
    let of = input.and_then(|input| input.r#type.as_ref()?.tensor_type.as_ref()?.elem_type);
    of == Some(DataType::FLOAT) && !graph.node.iter().any(quantises)
}

/// Reads a network of floating point, whose values are then stored in a format.
///
/// # Errors
/// When the bytes are no ONNX file, when an operator is none of those that are computed (all of them are named), when
/// something is missing or not finite, or when layers do not fit each other.
pub fn read_float(name: &str, bytes: &[u8], format: ValueFormat) -> Result<FloatNetwork, FileError> {
    let graph = wire::graph(bytes)?;
    let known = float_operators();
    if let Some(found) = unknown(&graph, |operator| known.contains(&operator)) {
        return Err(FileError::FloatOperators { found });
    }
    let mut reading = FloatReading::begin(&graph)?;
    let computes = |(_, node): &(usize, &NodeProto)| node.op_type.as_deref() != Some(CONSTANT);
    for (number, node) in graph.node.iter().enumerate().filter(computes) {
        reading.node(number, node)?;
    }
    let output = graph.output.first().and_then(|output| output.name.clone()).unwrap_or_default();
    let is_last = |read: &Read| read.tensor == reading.layers.len() && read.around == [0; 4];
    if graph.output.len() != 1 || !reading.known.get(&output).is_some_and(is_last) {
        return Err(content(
            format!("the output `{output}`"),
            "it is not what the last node makes, or not the only one",
        ));
    }
    Ok(FloatNetwork::new(name.to_owned(), format, reading.tensors, reading.layers)?)
}

/// A tensor by a name of the file.
#[derive(Clone, Copy)]
pub(super) struct Read {
    pub(super) tensor: usize,
    /// Whether rows and columns were flattened into channels, channel by channel.
    pub(super) flattened: bool,
    /// Whether one node reads it, and the network does not give it out.
    once: bool,
    /// Zeros around it: rows above, columns to the left, rows below, columns to the right.
    around: [usize; 4],
}

pub(super) struct FloatReading<'f> {
    pub(super) constants: Constants<'f>,
    /// How often each name is read.
    readers: BTreeMap<&'f str, usize>,
    pub(super) tensors: Vec<FloatTensor>,
    pub(super) layers: Vec<FloatLayer>,
    known: BTreeMap<String, Read>,
}

impl<'f> FloatReading<'f> {
    fn begin(graph: &'f GraphProto) -> Result<Self, FileError> {
        let constants = Constants::of(graph);
        let (name, shape) = input_of(graph, &constants)?;
        let mut readers = BTreeMap::new();
        let outputs = graph.output.iter().filter_map(|output| output.name.as_ref());
        for name in graph.node.iter().flat_map(|node| &node.input).chain(outputs) {
            *readers.entry(name.as_str()).or_insert(0) += 1;
        }
        let input = Read { tensor: 0, flattened: false, once: false, around: [0; 4] };
        let tensors = vec![FloatTensor { shape, flat: false }];
        Ok(Self { constants, readers, tensors, layers: Vec::new(), known: BTreeMap::from([(name, input)]) })
    }

    fn node(&mut self, number: usize, node: &NodeProto) -> Result<(), FileError> {
        let mut name = node_name(number, node);
        let attributes = Attributes::of(node, &name, &ATTRIBUTES)?;
        if self.layers.iter().any(|layer| layer.name == name) {
            name = format!("{}_{number}", node.op_type.as_deref().unwrap_or_default());
        }
        if node.output.is_empty() || self.known.contains_key(&node.output[0]) {
            return Err(content(&attributes.1, "it makes one tensor, which no other node makes"));
        }
        let operator = node.op_type.as_deref().unwrap_or_default();
        if ["Conv", "MaxPool", "AveragePool", "GlobalAveragePool", "Concat", "Pad"].contains(&operator)
            && let Some(read) =
                node.input.iter().find(|input| self.known.get(*input).is_some_and(|read| read.flattened))
        {
            return Err(content(&attributes.1, format!("it reads `{read}`, whose rows and columns were flattened")));
        }
        match operator {
            "Conv" => self.conv(node, name, &attributes),
            "Gemm" | "MatMul" => self.dense(node, name, &attributes),
            "Add" => self.add(node, name, &attributes),
            "Mul" => self.multiply(node, name, &attributes),
            "Softmax" => self.softmax(node, name, &attributes),
            "Pad" => self.pad(node, &attributes),
            "BatchNormalization" => self.normalise(node, name, &attributes),
            "MaxPool" | "AveragePool" => self.pool(node, name, &attributes),
            "GlobalAveragePool" => {
                let source = self.source(node, 0, &attributes)?.tensor;
                let channels = self.tensors[source].shape.channels;
                let shape = Shape { height: 1, width: 1, channels };
                self.keep(node, name, FloatOperator::GlobalAverage, vec![source], FloatTensor { shape, flat: false });
                Ok(())
            }
            "Concat" => self.concat(node, name, &attributes),
            "Flatten" | "Reshape" => self.flatten(node, &attributes),
            _ => self.function(node, name, &attributes),
        }
    }

    pub(super) fn source(
        &self,
        node: &NodeProto,
        which: usize,
        attributes: &Attributes<'_>,
    ) -> Result<Read, FileError> {
        let input = node.input.get(which).map_or("", String::as_str);
        let read = self.known.get(input).copied();
        let read = read.ok_or_else(|| content(&attributes.1, format!("no node before it makes `{input}`")))?;
        if read.around != [0; 4] && node.op_type.as_deref() != Some("Conv") {
            let what = format!("it reads `{input}`, which a Pad makes; a Conv reads such, and nothing else");
            return Err(content(&attributes.1, what));
        }
        Ok(read)
    }

    pub(super) fn read(&mut self, node: &NodeProto, tensor: usize, flattened: bool) {
        self.read_padded(node, tensor, flattened, [0; 4]);
    }

    pub(super) fn read_padded(&mut self, node: &NodeProto, tensor: usize, flattened: bool, around: [usize; 4]) {
        let output = node.output.first().cloned().unwrap_or_default();
        // Another name of a tensor is read once if the tensor is.
        let sources = node.input.iter().filter_map(|input| self.known.get(input));
        let is_shared = sources.filter(|read| read.tensor == tensor).any(|read| !read.once);
        let once = !is_shared && self.readers.get(output.as_str()) == Some(&1);
        self.known.insert(output, Read { tensor, flattened, once, around });
    }

    pub(super) fn keep(
        &mut self,
        node: &NodeProto,
        name: String,
        operator: FloatOperator,
        inputs: Vec<usize>,
        tensor: FloatTensor,
    ) {
        let opcode = node.op_type.clone().unwrap_or_default();
        self.layers.push(FloatLayer { name, opcode, operator, inputs, activation: None });
        self.tensors.push(tensor);
        self.read(node, self.layers.len(), false);
    }

    /// Whether a tensor has no rows and columns in the file.
    pub(super) fn is_line(&self, read: Read) -> bool {
        read.flattened || self.tensors[read.tensor].flat
    }

    /// The layer that made a tensor which nothing else reads, and after which no activation stands yet.
    pub(super) fn joined(&mut self, read: Read) -> Option<&mut FloatLayer> {
        let layer = self.layers.get_mut(read.tensor.checked_sub(1)?)?;
        (read.once && layer.activation.is_none()).then_some(layer)
    }

    /// A constant with an element for each of some channels.
    pub(super) fn each(&self, name: &str, channels: usize, attributes: &Attributes<'_>) -> Result<Vec<f32>, FileError> {
        let (dims, values) = self.constants.finite(name)?;
        // More dimensions would make more of what they are added to.
        match values.len() == channels && dims.len() <= 2 && dims.last().is_none_or(|&last| last == channels) {
            true => Ok(values),
            false => Err(content(&attributes.1, format!("`{name}` has {dims:?} elements for {channels} channels"))),
        }
    }

    fn bias(&self, node: &NodeProto, channels: usize, attributes: &Attributes<'_>) -> Result<Vec<f32>, FileError> {
        match node.input.get(2).map_or("", String::as_str) {
            "" => Ok(vec![0.0; channels]),
            name => self.each(name, channels, attributes),
        }
    }

    fn conv(&mut self, node: &NodeProto, name: String, attributes: &Attributes<'_>) -> Result<(), FileError> {
        let Read { tensor: source, around, .. } = self.source(node, 0, attributes)?;
        let input = self.tensors[source].shape;
        let (dims, stored) = self.constants.finite(node.input.get(1).map_or("", String::as_str))?;
        let groups = usize::try_from(attributes.number("group", 1)).unwrap_or(0);
        let &[filters, per_filter, rows, columns] = &dims[..] else {
            let what = format!("weights have filters, channels, rows and columns, found {dims:?}");
            return Err(content(&attributes.1, what));
        };
        let channels = input.channels;
        let divides = |count: usize| groups > 0 && count.is_multiple_of(groups);
        if !divides(channels) || !divides(filters) || per_filter != channels / groups || stored.is_empty() {
            let what = format!("weights of {dims:?} in {groups} groups do not fit {channels} channels");
            return Err(content(&attributes.1, what));
        }
        let (window, shape) = attributes.windows(input, [rows, columns], around)?;
        if window.kernel != [rows, columns] {
            let what = format!("`kernel_shape` {:?} differs from weights of {dims:?}", window.kernel);
            return Err(content(&attributes.1, what));
        }
        let per_group = filters / groups;
        let mut weights = vec![0.0; stored.len()];
        for (number, weight) in stored.into_iter().enumerate() {
            let (rest, column) = (number / columns, number % columns);
            let (rest, row) = (rest / rows, rest % rows);
            let (filter, within) = (rest / per_filter, rest % per_filter);
            let channel = filter / per_group * per_filter + within;
            weights[((row * columns + column) * channels + channel) * per_group + filter % per_group] = weight;
        }
        let conv = FloatConv { window, groups, weights, bias: self.bias(node, filters, attributes)? };
        let tensor = FloatTensor { shape: Shape { channels: filters, ..shape }, flat: false };
        self.keep(node, name, FloatOperator::Conv(conv), vec![source], tensor);
        Ok(())
    }

    fn dense(&mut self, node: &NodeProto, name: String, attributes: &Attributes<'_>) -> Result<(), FileError> {
        let read = self.source(node, 0, attributes)?;
        let shape = self.tensors[read.tensor].shape;
        if !self.is_line(read) {
            return Err(content(&attributes.1, "it reads rows and columns; flatten them before it"));
        }
        attributes.expect("transA", 0)?;
        for key in ["alpha", "beta"] {
            if attributes.real(key, 1.0) != 1.0 {
                return Err(content(&attributes.1, format!("`{key}`: expected 1")));
            }
        }
        let (dims, stored) = self.constants.finite(node.input.get(1).map_or("", String::as_str))?;
        let (weights, outputs) = attributes.dense_weights(&dims, stored, shape)?;
        let window = Window::plain([shape.height, shape.width]);
        let conv = FloatConv { window, groups: 1, weights, bias: self.bias(node, outputs, attributes)? };
        let tensor = FloatTensor { shape: Shape { height: 1, width: 1, channels: outputs }, flat: true };
        self.keep(node, name, FloatOperator::Dense(conv), vec![read.tensor], tensor);
        Ok(())
    }

    /// Folded into the convolution before it; a depthwise convolution of its own where there is none.
    fn normalise(&mut self, node: &NodeProto, name: String, attributes: &Attributes<'_>) -> Result<(), FileError> {
        let read = self.source(node, 0, attributes)?;
        attributes.expect("training_mode", 0)?;
        let epsilon = attributes.real("epsilon", 1e-5);
        let tensor = self.tensors[read.tensor];
        let channels = tensor.shape.channels;
        let constant = |at: usize| self.each(node.input.get(at).map_or("", String::as_str), channels, attributes);
        let [scale, shift, mean, variance] = [constant(1)?, constant(2)?, constant(3)?, constant(4)?];
        let factors: Vec<f32> =
            scale.iter().zip(&variance).map(|(scale, variance)| scale / (variance + epsilon).sqrt()).collect();
        let moved = |bias: f32, channel: usize| (bias - mean[channel]) * factors[channel] + shift[channel];
        let window = Window::plain([1, 1]);
        if let Some(FloatOperator::Conv(conv)) = self.joined(read).map(|layer| &mut layer.operator) {
            let per_group = channels / conv.groups;
            let inputs = conv.weights.len() / (conv.window.kernel[0] * conv.window.kernel[1] * per_group);
            for (number, weight) in conv.weights.iter_mut().enumerate() {
                let group = number / per_group % inputs / (inputs / conv.groups);
                *weight *= factors[group * per_group + number % per_group];
            }
            conv.bias.iter_mut().enumerate().for_each(|(channel, bias)| *bias = moved(*bias, channel));
            self.read(node, read.tensor, read.flattened);
            return Ok(());
        }
        if read.flattened {
            return Err(content(&attributes.1, "rows and columns were flattened before it"));
        }
        let bias = (0..channels).map(|channel| moved(0.0, channel)).collect();
        let conv = FloatConv { window, groups: channels, weights: factors, bias };
        self.keep(node, name, FloatOperator::Conv(conv), vec![read.tensor], tensor);
        Ok(())
    }

    fn pool(&mut self, node: &NodeProto, name: String, attributes: &Attributes<'_>) -> Result<(), FileError> {
        let source = self.source(node, 0, attributes)?.tensor;
        attributes.expect("storage_order", 0)?;
        let (window, shape) = attributes.windows(self.tensors[source].shape, [0; 2], [0; 4])?;
        let counts_padding = attributes.number("count_include_pad", 0) != 0;
        let operator = match node.op_type.as_deref() {
            Some("MaxPool") => FloatOperator::MaxPool(window),
            _ => FloatOperator::AveragePool(AveragePool { window, counts_padding }),
        };
        self.keep(node, name, operator, vec![source], FloatTensor { shape, flat: false });
        Ok(())
    }

    fn concat(&mut self, node: &NodeProto, name: String, attributes: &Attributes<'_>) -> Result<(), FileError> {
        attributes.expect("axis", 1)?;
        let inputs = (0..node.input.len()).map(|which| Ok(self.source(node, which, attributes)?.tensor));
        let inputs = inputs.collect::<Result<Vec<_>, FileError>>()?;
        let Some(&first) = inputs.first() else { return Err(content(&attributes.1, "it has no inputs")) };
        let channels = inputs.iter().map(|&input| self.tensors[input].shape.channels).sum();
        let FloatTensor { shape, flat } = self.tensors[first];
        let tensor = FloatTensor { shape: Shape { channels, ..shape }, flat };
        self.keep(node, name, FloatOperator::Concat, inputs, tensor);
        Ok(())
    }

    /// Flattening moves no value: what it makes is what it reads.
    fn flatten(&mut self, node: &NodeProto, attributes: &Attributes<'_>) -> Result<(), FileError> {
        let read = self.source(node, 0, attributes)?;
        let elements = self.tensors[read.tensor].shape.elements();
        if let Some(shape) = node.input.get(1) {
            let shape = self.constants.longs(shape)?;
            let batch = BTreeSet::from([-1, 0, 1]);
            let fits = matches!(shape[..], [first, rest] if batch.contains(&first)
                && (rest == -1 && first != -1 || usize::try_from(rest) == Ok(elements)));
            if !fits {
                let what = format!("expected a shape of the batch and {elements} elements, found {shape:?}");
                return Err(content(&attributes.1, what));
            }
        } else {
            attributes.expect("axis", 1)?;
        }
        self.read(node, read.tensor, true);
        Ok(())
    }
}
