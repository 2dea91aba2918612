//! The nodes of floating point that look at windows and channels of images.

use rten_onnx::onnx::NodeProto;

use super::attributes::Attributes;
use super::error::{FileError, content};
use super::float::{FloatReading, Read};
use super::order::{axis_of, by_tap, sized};
use super::views::MOVED;
use crate::float::{CONSTANT, FloatConv, FloatOperator, Rearrangement};
use crate::operator::{AveragePool, Shape, Window};

impl FloatReading<'_> {
    pub(super) fn conv(
        &mut self,
        node: &NodeProto,
        name: String,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        let Read { tensor: source, around, .. } = self.image(node, 0, attributes)?;
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
        let weights = by_tap(stored, [filters, per_filter, rows, columns], groups);
        let conv = FloatConv { window, groups, weights, bias: self.bias(node, filters, attributes)? };
        let shape = Shape { channels: filters, ..shape };
        self.keep_image(node, name, FloatOperator::Conv(conv), vec![source], shape);
        Ok(())
    }

    /// Folded into the convolution before it; a depthwise convolution of its own where there is none.
    pub(super) fn normalise(
        &mut self,
        node: &NodeProto,
        name: String,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        let read = if node.input.first().and_then(|input| self.known.get(input)).is_some_and(Self::is_line) {
            self.source(node, 0, attributes)?
        } else {
            self.image(node, 0, attributes)?
        };
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
        let has_positions = tensor.shape.positions() != 1 || read.dims.last() != Some(&channels);
        if Self::is_line(&read) && (has_positions || !self.is_plain(&read)) {
            return Err(content(&attributes.1, "rows and columns were flattened before it"));
        }
        if let Some(FloatOperator::Conv(conv)) = self.joined(&read).map(|layer| &mut layer.operator) {
            let per_group = channels / conv.groups;
            let inputs = conv.weights.len() / (conv.window.kernel[0] * conv.window.kernel[1] * per_group);
            for (number, weight) in conv.weights.iter_mut().enumerate() {
                let group = number / per_group % inputs / (inputs / conv.groups);
                *weight *= factors[group * per_group + number % per_group];
            }
            conv.bias.iter_mut().enumerate().for_each(|(channel, bias)| *bias = moved(*bias, channel));
            self.named(node, read);
            return Ok(());
        }
        let bias = (0..channels).map(|channel| moved(0.0, channel)).collect();
        let conv = FloatConv { window, groups: channels, weights: factors, bias };
        self.keep(node, name, FloatOperator::Conv(conv), vec![read.tensor], tensor, read.dims, read.order);
        Ok(())
    }

    pub(super) fn pool(
        &mut self,
        node: &NodeProto,
        name: String,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        let source = self.image(node, 0, attributes)?.tensor;
        attributes.expect("storage_order", 0)?;
        let (window, shape) = attributes.windows(self.tensors[source].shape, [0; 2], [0; 4])?;
        let counts_padding = attributes.number("count_include_pad", 0) != 0;
        let operator = match node.op_type.as_deref() {
            Some("MaxPool") => FloatOperator::MaxPool(window),
            _ => FloatOperator::AveragePool(AveragePool { window, counts_padding }),
        };
        self.keep_image(node, name, operator, vec![source], shape);
        Ok(())
    }

    /// The channels of images or of rows one after the other; along other axes, or with constants, a layer that moves elements.
    pub(super) fn concat(
        &mut self,
        node: &NodeProto,
        name: String,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        if node.input.iter().any(|input| self.constants.has(input)) {
            return self.concat_moved(node, name, attributes);
        }
        let reads = (0..node.input.len()).map(|which| self.source(node, which, attributes));
        let reads = reads.collect::<Result<Vec<_>, FileError>>()?;
        let Some(first) = reads.first() else { return Err(content(&attributes.1, "it has no inputs")) };
        let sizes: Vec<&[usize]> = reads.iter().map(|read| &read.dims[..]).collect();
        let (axis, dims) = joined_sizes(&sizes, attributes)?;
        let rank = dims.len();
        if rank == 4 && axis == 1 && first.dims[0] == 1 && reads.iter().all(|read| self.is_image(read)) {
            let inputs = (0..reads.len()).map(|which| Ok(self.image(node, which, attributes)?.tensor));
            let inputs = inputs.collect::<Result<Vec<_>, FileError>>()?;
            let shape = Shape { height: dims[2], width: dims[3], channels: dims[1] };
            self.keep_image(node, name, FloatOperator::Concat, inputs, shape);
            return Ok(());
        }
        if axis + 1 == rank {
            let inputs = (0..reads.len()).map(|which| Ok(self.plain(node, which, attributes)?.tensor));
            let inputs = inputs.collect::<Result<Vec<_>, FileError>>()?;
            return self.keep_sized(node, name, FloatOperator::Concat, inputs, dims, attributes);
        }
        self.concat_moved(node, name, attributes)
    }

    /// A layer that moves the elements of tensors and of constants one after the other.
    fn concat_moved(&mut self, node: &NodeProto, name: String, attributes: &Attributes<'_>) -> Result<(), FileError> {
        let (mut inputs, mut constants, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        for (which, input) in node.input.iter().enumerate() {
            if self.constants.has(input) {
                let (dims, values) = self.constants.finite(input)?;
                self.take(&dims, size_of::<f32>())?;
                parts.push((dims, CONSTANT, constants.len()));
                constants.extend(values);
            } else {
                let read = self.plain(node, which, attributes)?;
                parts.push((read.dims, inputs.len() as u32, 0));
                inputs.push(read.tensor);
            }
        }
        let sizes: Vec<&[usize]> = parts.iter().map(|(dims, ..)| &dims[..]).collect();
        let (axis, dims) = joined_sizes(&sizes, attributes)?;
        self.take(&dims, MOVED)?;
        let outer: usize = dims[..axis].iter().product();
        let mut origins = Vec::new();
        for part in 0..outer {
            for (dims, which, first) in &parts {
                let count: usize = dims[axis..].iter().product();
                let elements = first + part * count..first + (part + 1) * count;
                origins.extend(elements.map(|element| [*which, element as u32]));
            }
        }
        let shapes: Vec<Shape> = inputs.iter().map(|&input| self.tensors[input].shape).collect();
        let to = sized(&dims).map(|tensor| tensor.shape);
        let moved = to.and_then(|to| Rearrangement::new(origins, constants, &shapes, to));
        let moved = moved.ok_or_else(|| content(&attributes.1, format!("it makes {dims:?} elements")))?;
        self.keep_sized(node, name, FloatOperator::Rearrange(moved), inputs, dims, attributes)
    }
}

/// The axis along which tensors of these sizes are joined, and the sizes of what is made.
fn joined_sizes(sizes: &[&[usize]], attributes: &Attributes<'_>) -> Result<(usize, Vec<usize>), FileError> {
    let said = attributes.number("axis", 1);
    let first = sizes.first().copied().unwrap_or_default();
    let rank = first.len();
    let fits =
        |axis: usize, dims: &[usize]| dims.len() == rank && (0..rank).all(|at| at == axis || dims[at] == first[at]);
    let axis = axis_of(said, rank).filter(|&axis| sizes.iter().all(|dims| fits(axis, dims)));
    let axis = axis.ok_or_else(|| content(&attributes.1, format!("it joins {sizes:?} along the axis {said}")))?;
    let mut dims = first.to_vec();
    dims[axis] = sizes.iter().map(|dims| dims[axis]).sum();
    Ok((axis, dims))
}
