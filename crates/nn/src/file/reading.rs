//! The constants, tensors and layers of a file that are known while its nodes are read.

use std::collections::{BTreeMap, BTreeSet};

use rten_onnx::onnx::{DataType, GraphProto, NodeProto};

use super::constants::Constants;
use super::error::{FileError, content, protects};
use crate::network::{Layer, Shape, Tensor};
use crate::protection::Protection;

/// The only input of a network: its name and its size.
pub(super) fn input_of(graph: &GraphProto, constants: &Constants<'_>) -> Result<(String, Shape), FileError> {
    let inputs = graph.input.iter().filter(|input| !constants.has(input.name.as_deref().unwrap_or_default()));
    let inputs: Vec<_> = inputs.collect();
    let [input] = *inputs else {
        return Err(content("the inputs", format!("expected one, found {}", inputs.len())));
    };
    let name = input.name.clone().unwrap_or_default();
    let place = format!("the input `{name}`");
    let of = input.r#type.as_ref().and_then(|of| of.tensor_type.as_ref());
    let dims = of.and_then(|of| of.shape.as_ref()).map(|shape| &shape.dim[..]).unwrap_or_default();
    let sizes: Vec<i64> = dims.iter().map(|dim| dim.dim_value.unwrap_or(-1)).collect();
    let said = dims.iter().map(|dim| match (dim.dim_value, dim.dim_param.as_deref()) {
        (Some(size), _) => size.to_string(),
        (None, Some(name)) if !name.is_empty() => format!("`{name}`"),
        (None, _) => "unknown".to_owned(),
    });
    let said = said.collect::<Vec<_>>().join(" x ");
    let &[batch, channels, height, width] = &sizes[..] else {
        return Err(content(place, format!("expected batch, channels, rows and columns, found {said}")));
    };
    let size = |size: i64| usize::try_from(size).ok().filter(|size| (1..1 << 16).contains(size));
    let (true, Some(channels), Some(height), Some(width)) =
        (batch == 1 || batch == -1, size(channels), size(height), size(width))
    else {
        let what =
            format!("expected a batch of 1 and sizes that are known, found {said}; export the network with fixed ones");
        return Err(content(place, what));
    };
    Ok((name, Shape { height, width, channels }))
}

/// Whether the first input is of floating point.
pub(super) fn reads_floats(graph: &GraphProto) -> bool {
    let constants = Constants::of(graph);
    let input = graph.input.iter().find(|input| !constants.has(input.name.as_deref().unwrap_or_default()));
    let of = input.and_then(|input| input.r#type.as_ref()?.tensor_type.as_ref());
    of.is_some_and(|of| of.elem_type == Some(DataType::FLOAT))
}

/// The parts of a network that were read so far.
pub(super) struct Reading<'f> {
    pub(super) constants: Constants<'f>,
    pub(super) tensors: Vec<Tensor>,
    pub(super) layers: Vec<Layer>,
    /// The tensors by the names that the file has for them.
    pub(super) known: BTreeMap<String, usize>,
    /// The names of those that have no rows and columns any more, whatever tensor they are.
    pub(super) flattened: BTreeSet<String>,
    /// Channels of tensors, taken for duplicates of filters that read no others.
    pub(super) taken: BTreeMap<String, (usize, Vec<usize>)>,
    pub(super) protection: Protection,
}

impl<'f> Reading<'f> {
    /// With the input of the network, whose quantisation is that which its first reader says.
    pub(super) fn begin(graph: &'f GraphProto) -> Result<Self, FileError> {
        let constants = Constants::of(graph);
        let (name, shape) = input_of(graph, &constants)?;
        let place = format!("the input `{name}`");
        let reader = graph.node.iter().find(|node| node.input.first() == Some(&name));
        let reader = reader.ok_or_else(|| content(place, "no node reads it first"))?;
        let quantisation = constants.quantisation(&reader.input, 1)?;
        let tensor = Tensor { shape, flat: false, quantisation };
        Ok(Self {
            constants,
            tensors: vec![tensor],
            layers: Vec::new(),
            known: BTreeMap::from([(name, 0)]),
            flattened: BTreeSet::new(),
            taken: BTreeMap::new(),
            protection: Protection::default(),
        })
    }

    /// The tensor that a node reads as its input `at`, whose scale and zero point follow.
    pub(super) fn tensor(&self, name: &str, inputs: &[String], at: usize) -> Result<usize, FileError> {
        let source = inputs.get(at).map_or("", String::as_str);
        let known = self.known.get(source);
        let &tensor = known
            .ok_or_else(|| content(format!("the node `{name}`"), format!("no node before it makes `{source}`")))?;
        let (said, made) = (self.constants.quantisation(inputs, at + 1)?, self.tensors[tensor].quantisation);
        if said != made {
            let what = format!("it reads `{source}` as {said:?}, which was made as {made:?}");
            return Err(content(format!("the node `{name}`"), what));
        }
        Ok(tensor)
    }

    /// Keeps a layer and what it makes.
    pub(super) fn push(&mut self, node: &NodeProto, layer: Layer, tensor: Tensor) {
        self.layers.push(layer);
        self.tensors.push(tensor);
        let output = node.output.first().cloned().unwrap_or_default();
        self.known.insert(output, self.layers.len());
    }
}

/// Reads all nodes of a graph on integers.
pub(super) fn read_graph(graph: &GraphProto) -> Result<Reading<'_>, FileError> {
    let mut reading = Reading::begin(graph)?;
    for (number, node) in graph.node.iter().enumerate() {
        reading.node(number, node)?;
    }
    let is_signal = |name: &String| graph.node.iter().any(|node| protects(node) && node.output.first() == Some(name));
    let mut outputs = graph.output.iter().filter_map(|output| output.name.as_ref()).filter(|name| !is_signal(name));
    let output = outputs.next().cloned().unwrap_or_default();
    match reading.known.get(&output) {
        Some(&last) if outputs.next().is_none() && last == reading.layers.len() => Ok(reading),
        _ => Err(content(format!("the output `{output}`"), "it is not what the last node makes, or not the only one")),
    }
}
