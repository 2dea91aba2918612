//! Networks from ONNX files whose operators compute in floating point. Relu and its like become the activation of the layer before,
//! and BatchNormalization its weights, where nothing else reads what that layer makes; zeros of Pad become padding of the Conv
//! that reads them.

use std::collections::BTreeMap;

use rten_onnx::onnx::{DataType, GraphProto, NodeProto};

use super::attributes::Attributes;
use super::constants::{Constants, Integers};
use super::error::{CONSTANT, FileError, content, float_operators, node_name, unknown};
use super::order::{Order, image_dims};
use super::reading::input_of;
use super::wire;
use crate::float::{FloatLayer, FloatNetwork, FloatOperator, FloatTensor, MOST, ValueFormat};
use crate::network::NetworkError;
use crate::operator::{Axes, Shape};

/// The attributes that are read.
const ATTRIBUTES: [&str; 31] = [
    "allowzero",
    "alpha",
    "approximate",
    "auto_pad",
    "axes",
    "axis",
    "beta",
    "ceil_mode",
    "count_include_pad",
    "dilations",
    "epsilon",
    "group",
    "keepdims",
    "kernel_shape",
    "max",
    "min",
    "mode",
    "momentum",
    "noop_with_empty_axes",
    "num_outputs",
    "pads",
    "perm",
    "split",
    "stash_type",
    "storage_order",
    "strides",
    "training_mode",
    "transA",
    "transB",
    "value",
    "value_float",
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
    let mut reading = FloatReading::begin(name, &graph)?;
    let computes = |(_, node): &(usize, &NodeProto)| node.op_type.as_deref() != Some(CONSTANT);
    for (number, node) in graph.node.iter().enumerate().filter(computes) {
        let domain = node.domain.as_deref().unwrap_or_default();
        if !["", "ai.onnx"].contains(&domain) {
            let what = format!("its operator is one of `{domain}`; expected those of ONNX");
            return Err(content(format!("the node `{}`", node_name(number, node)), what));
        }
        if !reading.fold(node) {
            reading.node(number, node)?;
        }
    }
    let output = graph.output.first().and_then(|output| output.name.clone()).unwrap_or_default();
    let is_last = |read: &Read| {
        read.tensor == reading.layers.len() && read.around == [0; 4] && !matches!(read.order, Order::Moved(_))
    };
    if graph.output.len() != 1 || !reading.known.get(&output).is_some_and(is_last) {
        return Err(content(
            format!("the output `{output}`"),
            "it is not what the last node makes, or not the only one",
        ));
    }
    Ok(FloatNetwork::new(name.to_owned(), format, reading.tensors, reading.layers)?)
}

/// A tensor by a name of the file.
#[derive(Clone)]
pub(super) struct Read {
    pub(super) tensor: usize,
    /// Its sizes in the file, with the batch.
    pub(super) dims: Vec<usize>,
    /// The order of its elements in the file.
    pub(super) order: Order,
    /// Whether one node reads it, and the network does not give it out.
    pub(super) once: bool,
    /// Zeros around it: rows above, columns to the left, rows below, columns to the right.
    pub(super) around: [usize; 4],
    /// The node that gave it this name and computed nothing: its name and its operator.
    pub(super) maker: Option<(String, String)>,
}

pub(super) struct FloatReading<'f> {
    /// The name of the network.
    network: &'f str,
    /// The bytes that orders of elements, layers that move them and constants take of memory.
    pub(super) bytes: usize,
    pub(super) constants: Constants<'f>,
    /// Whole numbers that are computed of sizes.
    pub(super) integers: BTreeMap<String, Integers>,
    /// How often each name is read.
    pub(super) readers: BTreeMap<&'f str, usize>,
    pub(super) tensors: Vec<FloatTensor>,
    pub(super) layers: Vec<FloatLayer>,
    pub(super) known: BTreeMap<String, Read>,
}

impl<'f> FloatReading<'f> {
    fn begin(network: &'f str, graph: &'f GraphProto) -> Result<Self, FileError> {
        let constants = Constants::of(graph);
        let (name, shape) = input_of(graph, &constants)?;
        let mut readers = BTreeMap::new();
        let outputs = graph.output.iter().filter_map(|output| output.name.as_ref());
        // A size is not the tensor.
        let nodes = graph.node.iter().filter(|node| node.op_type.as_deref() != Some("Shape"));
        for name in nodes.flat_map(|node| &node.input).chain(outputs) {
            *readers.entry(name.as_str()).or_insert(0) += 1;
        }
        let order = Order::Image;
        let input = Read { tensor: 0, dims: image_dims(shape), order, once: false, around: [0; 4], maker: None };
        Ok(Self {
            network,
            bytes: 0,
            constants,
            integers: BTreeMap::new(),
            readers,
            tensors: vec![FloatTensor { shape, axes: Axes::Image }],
            layers: Vec::new(),
            known: BTreeMap::from([(name, input)]),
        })
    }

    fn node(&mut self, number: usize, node: &NodeProto) -> Result<(), FileError> {
        let name = node_name(number, node);
        let attributes = Attributes::of(node, &name, &ATTRIBUTES)?;
        let name = if self.layers.iter().any(|layer| layer.name == name) {
            format!("{}_{number}", node.op_type.as_deref().unwrap_or_default())
        } else {
            name
        };
        if node.output.is_empty() || node.output.iter().any(|output| self.known.contains_key(output)) {
            return Err(content(&attributes.1, "it makes tensors, which no other node makes"));
        }
        let operator = node.op_type.as_deref().unwrap_or_default();
        match operator {
            "Conv" => self.conv(node, name, &attributes),
            "Gemm" | "MatMul" => self.dense(node, name, &attributes),
            "Add" | "Sub" | "Mul" | "Div" => self.arithmetic(node, name, &attributes),
            "Softmax" => self.softmax(node, name, &attributes),
            "LayerNormalization" => self.layer_norm(node, name, &attributes),
            "Pad" => self.pad(node, &attributes),
            "BatchNormalization" => self.normalise(node, name, &attributes),
            "MaxPool" | "AveragePool" => self.pool(node, name, &attributes),
            "GlobalAveragePool" => {
                let read = self.image(node, 0, &attributes)?;
                let shape = Shape { height: 1, width: 1, ..self.tensors[read.tensor].shape };
                self.keep_image(node, name, FloatOperator::GlobalAverage, vec![read.tensor], shape);
                Ok(())
            }
            "ReduceMean" => self.mean(node, name, &attributes),
            "Concat" => self.concat(node, name, &attributes),
            "Flatten" | "Reshape" | "Squeeze" | "Unsqueeze" => self.resize(node, &name, &attributes),
            // Another name of a constant is a constant.
            "Identity" if self.constants.has(&node.output[0]) => Ok(()),
            "Identity" => self.resize(node, &name, &attributes),
            "Transpose" => self.transpose(node, &name, &attributes),
            "Split" | "Slice" | "Gather" => self.part(node, &name, &attributes),
            _ => self.function(node, name, &attributes),
        }
    }

    /// Counts memory before it is taken: this much for each element of a tensor of these sizes.
    pub(super) fn take(&mut self, dims: &[usize], each: usize) -> Result<(), FileError> {
        let bytes = dims.iter().try_fold(each, |all, &size| all.checked_mul(size));
        let bytes = bytes.and_then(|bytes| bytes.checked_add(self.bytes));
        match bytes.filter(|&bytes| bytes <= MOST) {
            Some(bytes) => self.bytes = bytes,
            None => return Err(NetworkError::Memory { name: self.network.to_owned(), bytes, most: MOST }.into()),
        }
        Ok(())
    }

    pub(super) fn source(
        &self,
        node: &NodeProto,
        which: usize,
        attributes: &Attributes<'_>,
    ) -> Result<Read, FileError> {
        let input = node.input.get(which).map_or("", String::as_str);
        let read = self.known.get(input).cloned();
        let read = read.ok_or_else(|| content(&attributes.1, format!("no node before it makes `{input}`")))?;
        if read.around != [0; 4] && node.op_type.as_deref() != Some("Conv") {
            let what = format!("it reads `{input}`, which a Pad makes; a Conv reads such, and nothing else");
            return Err(content(&attributes.1, what));
        }
        Ok(read)
    }

    /// Gives the first output of a node another name of a tensor.
    pub(super) fn named(&mut self, node: &NodeProto, read: Read) {
        let output = node.output.first().cloned().unwrap_or_default();
        // Another name of a tensor is read once if the tensor is.
        let sources = node.input.iter().filter_map(|input| self.known.get(input));
        let is_shared = sources.filter(|source| source.tensor == read.tensor).any(|source| !source.once);
        let once = !is_shared && self.readers.get(output.as_str()) == Some(&1);
        self.known.insert(output, Read { once, ..read });
    }

    #[expect(clippy::too_many_arguments, reason = "a layer with what it makes, and how the file has that")]
    pub(super) fn keep(
        &mut self,
        node: &NodeProto,
        name: String,
        operator: FloatOperator,
        inputs: Vec<usize>,
        tensor: FloatTensor,
        dims: Vec<usize>,
        order: Order,
    ) {
        let opcode = node.op_type.clone().unwrap_or_default();
        let name = self.free(name);
        self.layers.push(FloatLayer { name, opcode, operator, inputs, activation: None });
        self.tensors.push(tensor);
        let tensor = self.layers.len();
        self.named(node, Read { tensor, dims, order, once: false, around: [0; 4], maker: None });
    }

    /// Keeps a layer that makes an image.
    pub(super) fn keep_image(
        &mut self,
        node: &NodeProto,
        name: String,
        operator: FloatOperator,
        inputs: Vec<usize>,
        shape: Shape,
    ) {
        let tensor = FloatTensor { shape, axes: Axes::Image };
        self.keep(node, name, operator, inputs, tensor, image_dims(shape), Order::Image);
    }

    /// Whether a tensor has no rows and columns in the file.
    pub(super) fn is_line(read: &Read) -> bool {
        read.dims.len() <= 2
    }

    /// The layer that made a tensor which nothing else reads, and after which no activation stands yet.
    pub(super) fn joined(&mut self, read: &Read) -> Option<&mut FloatLayer> {
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

    pub(super) fn bias(
        &self,
        node: &NodeProto,
        channels: usize,
        attributes: &Attributes<'_>,
    ) -> Result<Vec<f32>, FileError> {
        match node.input.get(2).map_or("", String::as_str) {
            "" => Ok(vec![0.0; channels]),
            name => self.each(name, channels, attributes),
        }
    }
}
