//! The nodes of a file as layers.

use rten_onnx::onnx::NodeProto;

use super::attributes::Attributes;
use super::constants::Weights;
use super::duplicates::spread;
use super::error::{FileError, content, node_name, protects};
use super::functions::function_of;
use super::order::by_tap;
use super::reading::Reading;
use crate::arithmetic::{Quantisation, average_multiplier, multiplier};
use crate::network::{AveragePool, Conv, Layer, Operator, Shape, SumTable, Tensor, Window};

/// The attributes that are read.
const ATTRIBUTES: [&str; 21] = [
    "alpha",
    "approximate",
    "auto_pad",
    "axes",
    "axis",
    "beta",
    "ceil_mode",
    "channels_last",
    "count_include_pad",
    "dilations",
    "group",
    "keepdims",
    "kernel_shape",
    "max",
    "min",
    "noop_with_empty_axes",
    "pads",
    "storage_order",
    "strides",
    "transA",
    "transB",
];

impl Reading<'_> {
    /// Reads a node whose operator is known.
    pub(super) fn node(&mut self, number: usize, node: &NodeProto) -> Result<(), FileError> {
        let name = node_name(number, node);
        if protects(node) && node.op_type.as_deref() != Some("QLinearConv") {
            return self.protection(node, &name);
        }
        let attributes = Attributes::of(node, &name, &ATTRIBUTES)?;
        if node.output.len() != 1 || self.known.contains_key(&node.output[0]) {
            return Err(content(&attributes.1, "it makes one tensor, which no other node makes"));
        }
        let name = match self.layers.iter().any(|layer| layer.name == name) {
            true => format!("{}_{number}", node.op_type.as_deref().unwrap_or_default()),
            false => name,
        };
        match node.op_type.as_deref() {
            Some("QLinearConv") => self.conv(node, name, &attributes),
            Some("QGemm") => self.dense(node, name, &attributes),
            Some("QLinearAdd") => self.add(node, name, &attributes),
            Some("MaxPool") => self.pool(node, name, &attributes),
            Some("Concat") => self.concat(node, name, &attributes),
            Some("QLinearConcat") => self.concat_quantised(node, name, &attributes),
            Some("QLinearAveragePool") => self.average_pool(node, name, &attributes),
            Some("QLinearGlobalAveragePool") => self.average(node, name, &attributes),
            Some("ReduceMean") => self.mean(node, name, &attributes),
            Some("QLinearMul") => self.multiply(node, name, &attributes),
            Some(operator) if let Some(function) = function_of(operator) => {
                self.function(node, name, function, &attributes)
            }
            _ => self.flatten(node, &attributes),
        }
    }

    fn conv(&mut self, node: &NodeProto, name: String, attributes: &Attributes<'_>) -> Result<(), FileError> {
        let inputs = &node.input;
        let taken = inputs.first().and_then(|input| self.taken.get(input)).cloned();
        let source = match &taken {
            Some((source, _)) => *source,
            None => self.tensor(&name, inputs, 0)?,
        };
        let mut input = self.tensors[source].clone();
        let read = input.shape.channels;
        if let Some((_, channels)) = &taken {
            input.shape.channels = channels.len();
        }
        let Weights { dims, stored, scales } = self.constants.weights(inputs, 3)?;
        let quantisation = self.constants.quantisation(inputs, 6)?;
        attributes.plain_windows()?;
        let groups = usize::try_from(attributes.number("group", 1)).unwrap_or(0);
        let &[filters, per_filter, rows, columns] = &dims[..] else {
            return Err(content(
                &attributes.1,
                format!("weights have filters, channels, rows and columns, found {dims:?}"),
            ));
        };
        let channels = input.shape.channels;
        if groups == 0
            || !channels.is_multiple_of(groups)
            || !filters.is_multiple_of(groups)
            || per_filter != channels / groups
            || stored.is_empty()
            || filters == 0
        {
            let what = format!("weights of {dims:?} in {groups} groups do not fit {channels} channels");
            return Err(content(&attributes.1, what));
        }
        let (window, shape) = attributes.windows(input.shape, [rows, columns], [0; 4])?;
        let Window { kernel, stride, pad, .. } = window;
        if kernel != [rows, columns] {
            return Err(content(&attributes.1, format!("`kernel_shape` {kernel:?} differs from weights of {dims:?}")));
        }
        let per_group = filters / groups;
        let weights = by_tap(stored, [filters, per_filter, rows, columns], groups);
        let (groups, weights) = match &taken {
            None => (groups, weights),
            Some((_, taken)) if per_group == 1 => (1, spread(&weights, taken, per_filter, read)),
            Some(_) => return Err(content(&attributes.1, "filters on channels that were taken have a group each")),
        };
        let bias = self.bias(inputs, 8, filters)?;
        let tensor = Tensor { shape: Shape { channels: filters, ..shape }, flat: false, quantisation };
        let scales = each_channel(scales, tensor.shape.channels, attributes)?;
        let multipliers =
            scales.iter().map(|&scale| multiplier(input.quantisation, scale, tensor.quantisation)).collect();
        let conv = Conv { kernel, stride, pad, groups, weights, bias, multipliers, scales };
        self.keep(node, name, Operator::Conv(conv), vec![source], tensor);
        Ok(())
    }

    fn dense(&mut self, node: &NodeProto, name: String, attributes: &Attributes<'_>) -> Result<(), FileError> {
        let inputs = &node.input;
        let source = self.tensor(&name, inputs, 0)?;
        let input = self.tensors[source].clone();
        attributes.expect("transA", 0)?;
        if attributes.real("alpha", 1.0) != 1.0 {
            return Err(content(&attributes.1, "`alpha`: expected 1"));
        }
        let Weights { dims, stored, scales } = self.constants.weights(inputs, 3)?;
        let quantisation = self.constants.quantisation(inputs, 7)?;
        let shape = input.shape;
        let (weights, outputs) = attributes.dense_weights(&dims, stored, shape)?;
        let bias = self.bias(inputs, 6, outputs)?;
        let tensor = Tensor { shape: Shape { height: 1, width: 1, channels: outputs }, flat: true, quantisation };
        let scales = each_channel(scales, tensor.shape.channels, attributes)?;
        let multipliers =
            scales.iter().map(|&scale| multiplier(input.quantisation, scale, tensor.quantisation)).collect();
        let kernel = [shape.height, shape.width];
        let conv = Conv { kernel, stride: [1, 1], pad: [0, 0], groups: 1, weights, bias, multipliers, scales };
        self.keep(node, name, Operator::Dense(conv), vec![source], tensor);
        Ok(())
    }

    fn add(&mut self, node: &NodeProto, name: String, attributes: &Attributes<'_>) -> Result<(), FileError> {
        let inputs = vec![self.tensor(&name, &node.input, 0)?, self.tensor(&name, &node.input, 3)?];
        let quantisation = self.constants.quantisation(&node.input, 6)?;
        self.are_flat(node, attributes)?;
        self.stay_flat(node);
        let [a, b] = [&self.tensors[inputs[0]], &self.tensors[inputs[1]]];
        let table = SumTable::new([a.quantisation, b.quantisation, quantisation]);
        let tensor = Tensor { quantisation, ..a.clone() };
        self.keep(node, name, Operator::Add(table), inputs, tensor);
        Ok(())
    }

    fn pool(&mut self, node: &NodeProto, name: String, attributes: &Attributes<'_>) -> Result<(), FileError> {
        let source = self.moved(node, 0, attributes)?;
        attributes.expect("storage_order", 0)?;
        let input = self.tensors[source].clone();
        let (window, shape) = attributes.windows(input.shape, [0; 2], [0; 4])?;
        self.keep(node, name, Operator::MaxPool(window), vec![source], Tensor { shape, ..input });
        Ok(())
    }

    fn average_pool(&mut self, node: &NodeProto, name: String, attributes: &Attributes<'_>) -> Result<(), FileError> {
        let source = self.tensor(&name, &node.input, 0)?;
        let quantisation = self.constants.quantisation(&node.input, 3)?;
        attributes.expect("channels_last", 0)?;
        let (window, shape) = attributes.windows(self.tensors[source].shape, [0; 2], [0; 4])?;
        let counts_padding = attributes.number("count_include_pad", 0) != 0;
        let tensor = Tensor { shape, flat: false, quantisation };
        self.keep(node, name, Operator::AveragePool(AveragePool { window, counts_padding }), vec![source], tensor);
        Ok(())
    }

    fn concat(&mut self, node: &NodeProto, name: String, attributes: &Attributes<'_>) -> Result<(), FileError> {
        let inputs =
            (0..node.input.len()).map(|which| self.moved(node, which, attributes)).collect::<Result<Vec<_>, _>>()?;
        let made = inputs.first().map(|&first| self.tensors[first].quantisation);
        let made = made.ok_or_else(|| content(&attributes.1, "it has no inputs"))?;
        if let Some(&other) = inputs.iter().find(|&&input| self.tensors[input].quantisation != made) {
            let found = self.tensors[other].quantisation;
            let what = format!(
                "its bytes are moved, so that scales and zero points are equal; found {made:?} and {found:?}; QLinearConcat \
                 reads such that differ"
            );
            return Err(content(&attributes.1, what));
        }
        self.join(node, name, inputs, made, attributes)
    }

    /// Scale and zero point of the output stand before the inputs, each of which has its own.
    fn concat_quantised(
        &mut self,
        node: &NodeProto,
        name: String,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        let made = self.constants.quantisation(&node.input, 0)?;
        let inputs = (2..node.input.len()).step_by(3).map(|at| self.tensor(&name, &node.input, at));
        let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        self.join(node, name, inputs, made, attributes)
    }

    fn join(
        &mut self,
        node: &NodeProto,
        name: String,
        inputs: Vec<usize>,
        quantisation: Quantisation,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        attributes.expect("axis", 1)?;
        let Some(&first) = inputs.first() else { return Err(content(&attributes.1, "it has no inputs")) };
        self.stay_flat(node);
        let channels = inputs.iter().map(|&input| self.tensors[input].shape.channels).sum();
        let first = self.tensors[first].clone();
        let tensor = Tensor { shape: Shape { channels, ..first.shape }, quantisation, ..first };
        self.keep(node, name, Operator::Concat, inputs, tensor);
        Ok(())
    }

    /// The tensor that a node reads which moves bytes.
    fn moved(&self, node: &NodeProto, which: usize, attributes: &Attributes<'_>) -> Result<usize, FileError> {
        let source = node.input.get(which).and_then(|input| self.known.get(input)).copied();
        source.ok_or_else(|| content(&attributes.1, "no node before it makes its input"))
    }

    fn average(&mut self, node: &NodeProto, name: String, attributes: &Attributes<'_>) -> Result<(), FileError> {
        let source = self.tensor(&name, &node.input, 0)?;
        let input = self.tensors[source].clone();
        let quantisation = self.constants.quantisation(&node.input, 3)?;
        attributes.expect("channels_last", 0)?;
        let multiplier = average_multiplier(input.quantisation, input.shape.positions(), quantisation);
        let tensor = Tensor { shape: input.shape.of_channels(), flat: false, quantisation };
        self.keep(node, name, Operator::GlobalAverage { multiplier }, vec![source], tensor);
        Ok(())
    }

    /// Flattening moves no byte: what it makes is what it reads.
    fn flatten(&mut self, node: &NodeProto, attributes: &Attributes<'_>) -> Result<(), FileError> {
        attributes.expect("axis", 1)?;
        let source = self.moved(node, 0, attributes)?;
        self.known.insert(node.output[0].clone(), source);
        self.flattened.insert(node.output[0].clone());
        Ok(())
    }

    /// The biases that an input of a node names; zeros if it names none.
    fn bias(&self, inputs: &[String], at: usize, count: usize) -> Result<Vec<i32>, FileError> {
        match inputs.get(at).map_or("", String::as_str) {
            "" => Ok(vec![0; count]),
            name => self.constants.integers(name),
        }
    }

    pub(super) fn keep(
        &mut self,
        node: &NodeProto,
        name: String,
        operator: Operator,
        inputs: Vec<usize>,
        tensor: Tensor,
    ) {
        let opcode = node.op_type.clone().unwrap_or_default();
        self.push(node, Layer { name, opcode, operator, inputs }, tensor);
    }
}

/// Scales of weights, one each: a file may have one for all channels.
fn each_channel(scales: Vec<f32>, channels: usize, attributes: &Attributes<'_>) -> Result<Vec<f32>, FileError> {
    match scales[..] {
        [scale] => Ok(vec![scale; channels]),
        _ if scales.len() == channels => Ok(scales),
        _ => Err(content(
            &attributes.1,
            format!("expected a scale for each of {channels} channels, found {}", scales.len()),
        )),
    }
}
