//! The nodes of a file as layers.

use rten_onnx::onnx::NodeProto;

use super::constants::Weights;
use super::duplicates::spread;
use super::error::{FileError, content, node_name, protects};
use super::order::by_tap;
use super::reading::Reading;
use crate::arithmetic::{Quantisation, average_multiplier, multiplier};
use crate::network::{AveragePool, Conv, Layer, Operator, Shape, SumTable, Tensor, Window};

/// The attributes that are read.
const ATTRIBUTES: [&str; 14] = [
    "alpha",
    "auto_pad",
    "axis",
    "ceil_mode",
    "channels_last",
    "count_include_pad",
    "dilations",
    "group",
    "kernel_shape",
    "pads",
    "storage_order",
    "strides",
    "transA",
    "transB",
];

/// The largest window, stride and padding.
pub(super) const MOST: i64 = 1 << 15;

/// The attributes of a node.
pub(super) struct Attributes<'n>(pub(super) &'n NodeProto, pub(super) String);

impl Attributes<'_> {
    /// The weights of a product with a constant of two sizes, in the order of positions, channels and outputs; and how many outputs
    /// there are.
    ///
    /// # Errors
    /// When the constant does not fit an input of this shape.
    pub(super) fn dense_weights<T: Copy + Default>(
        &self,
        dims: &[usize],
        stored: Vec<T>,
        shape: Shape,
    ) -> Result<(Vec<T>, usize), FileError> {
        let transposed = self.number("transB", 0) != 0;
        let (size, outputs) = match (dims, transposed) {
            (&[size, outputs], false) | (&[outputs, size], true) => (size, outputs),
            _ => return Err(content(&self.1, format!("weights have two sizes, found {dims:?}"))),
        };
        if size != shape.elements() || outputs == 0 {
            return Err(content(&self.1, format!("weights of {dims:?} do not fit an input of {shape:?}")));
        }
        let mut weights = vec![T::default(); stored.len()];
        for (number, weight) in stored.into_iter().enumerate() {
            let (element, output) =
                if transposed { (number % size, number / size) } else { (number / outputs, number % outputs) };
            // The elements of the file go channel by channel.
            let (channel, position) = (element / shape.positions(), element % shape.positions());
            weights[(position * shape.channels + channel) * outputs + output] = weight;
        }
        Ok((weights, outputs))
    }
}

impl<'n> Attributes<'n> {
    /// Those of a node with this name.
    ///
    /// # Errors
    /// When it has one that is not read.
    pub(super) fn of(node: &'n NodeProto, name: &str, known: &[&str]) -> Result<Self, FileError> {
        let place = format!("the node `{name}`");
        let mut names = node.attribute.iter().map(|attribute| attribute.name.as_deref().unwrap_or_default());
        match names.find(|name| !known.contains(name)) {
            Some(unknown) => {
                let what = format!("its attribute `{unknown}` is not read; {} are", known.join(", "));
                Err(content(place, what))
            }
            None => Ok(Self(node, place)),
        }
    }

    pub(super) fn find(&self, key: &str) -> Option<&rten_onnx::onnx::AttributeProto> {
        self.0.attribute.iter().find(|attribute| attribute.name.as_deref() == Some(key))
    }

    pub(super) fn number(&self, key: &str, default: i64) -> i64 {
        // A writer of files may leave out zeros.
        self.find(key).map_or(default, |attribute| attribute.i.unwrap_or(0))
    }

    pub(super) fn real(&self, key: &str, default: f32) -> f32 {
        self.find(key).map_or(default, |attribute| attribute.f.unwrap_or(0.0))
    }

    /// A list of `N` numbers that are not below `least`.
    pub(super) fn list<const N: usize>(
        &self,
        key: &str,
        default: [usize; N],
        least: i64,
    ) -> Result<[usize; N], FileError> {
        let Some(attribute) = self.find(key) else { return Ok(default) };
        let numbers: Vec<usize> = attribute
            .ints
            .iter()
            .filter(|&&n| (least..=MOST).contains(&n))
            .filter_map(|&n| usize::try_from(n).ok())
            .collect();
        <[usize; N]>::try_from(numbers).ok().filter(|_| attribute.ints.len() == N).ok_or_else(|| {
            content(
                &self.1,
                format!("`{key}`: expected {N} numbers from {least} to {MOST}, found {:?}", attribute.ints),
            )
        })
    }

    /// Windows without holes, with pads in numbers.
    pub(super) fn plain_windows(&self) -> Result<(), FileError> {
        self.list("dilations", [1, 1], 1).and_then(|found| match found {
            [1, 1] => Ok(()),
            _ => Err(content(&self.1, format!("`dilations`: expected 1 and 1, found {found:?}"))),
        })?;
        self.pads_in_numbers()
    }

    fn pads_in_numbers(&self) -> Result<(), FileError> {
        if let Some(auto) = self.find("auto_pad").and_then(|attribute| attribute.s.as_deref())
            && auto != "NOTSET"
        {
            return Err(content(&self.1, format!("`auto_pad`: expected `NOTSET` and pads in numbers, found `{auto}`")));
        }
        Ok(())
    }

    /// The windows over an input, of these rows and columns if nothing is said, and the size of what they make. The input has `around`
    /// it rows above, columns to the left, rows below and columns to the right, besides the node's own padding.
    pub(super) fn windows(
        &self,
        input: Shape,
        kernel: [usize; 2],
        around: [usize; 4],
    ) -> Result<(Window, Shape), FileError> {
        self.pads_in_numbers()?;
        self.expect("ceil_mode", 0)?;
        let pads = self.list("pads", [0; 4], 0)?;
        let [top, left, bottom, right] = [0, 1, 2, 3].map(|side| pads[side] + around[side]);
        let window = Window {
            kernel: self.list("kernel_shape", kernel, 1)?,
            stride: self.list("strides", [1, 1], 1)?,
            pad: [top, left],
            dilation: self.list("dilations", [1, 1], 1)?,
        };
        let windows = |size: usize, pads: usize, axis: usize| {
            Some((size + pads).checked_sub(window.extent(axis))?.checked_div(window.stride[axis])? + 1)
        };
        let height = windows(input.height, top + bottom, 0);
        let (Some(height), Some(width)) = (height, windows(input.width, left + right, 1)) else {
            let what = format!(
                "windows of {:?} with dilations of {:?} are larger than their input",
                window.kernel, window.dilation
            );
            return Err(content(&self.1, what));
        };
        Ok((window, Shape { height, width, ..input }))
    }

    /// What has to be as it usually is.
    pub(super) fn expect(&self, key: &str, expected: i64) -> Result<(), FileError> {
        match self.number(key, expected) {
            found if found == expected => Ok(()),
            found => Err(content(&self.1, format!("`{key}`: expected {expected}, found {found}"))),
        }
    }
}

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
            Some("QLinearAdd") => self.add(node, name),
            Some("MaxPool") => self.pool(node, name, &attributes),
            Some("Concat") => self.concat(node, name, &attributes),
            Some("QLinearConcat") => self.concat_quantised(node, name, &attributes),
            Some("QLinearAveragePool") => self.average_pool(node, name, &attributes),
            Some("QLinearGlobalAveragePool") => self.average(node, name, &attributes),
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

    fn add(&mut self, node: &NodeProto, name: String) -> Result<(), FileError> {
        let inputs = vec![self.tensor(&name, &node.input, 0)?, self.tensor(&name, &node.input, 3)?];
        let quantisation = self.constants.quantisation(&node.input, 6)?;
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
        let shape = Shape { height: 1, width: 1, channels: input.shape.channels };
        let tensor = Tensor { shape, flat: false, quantisation };
        self.keep(node, name, Operator::GlobalAverage { multiplier }, vec![source], tensor);
        Ok(())
    }

    /// Flattening moves no byte: what it makes is what it reads.
    fn flatten(&mut self, node: &NodeProto, attributes: &Attributes<'_>) -> Result<(), FileError> {
        attributes.expect("axis", 1)?;
        let source = self.moved(node, 0, attributes)?;
        self.known.insert(node.output[0].clone(), source);
        Ok(())
    }

    /// The biases that an input of a node names; zeros if it names none.
    fn bias(&self, inputs: &[String], at: usize, count: usize) -> Result<Vec<i32>, FileError> {
        match inputs.get(at).map_or("", String::as_str) {
            "" => Ok(vec![0; count]),
            name => self.constants.integers(name),
        }
    }

    fn keep(&mut self, node: &NodeProto, name: String, operator: Operator, inputs: Vec<usize>, tensor: Tensor) {
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
