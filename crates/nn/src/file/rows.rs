//! The nodes of floating point that look at rows of matrices: products, normalisation, shares, averages.

use rten_onnx::onnx::NodeProto;

use super::attributes::Attributes;
use super::error::{FileError, content};
use super::float::{FloatReading, Read};
use super::order::{Order, axis_of, sized};
use crate::float::{FloatConv, FloatOperator, FloatTensor, LayerNorm};
use crate::operator::{Axes, Shape, Window};

impl FloatReading<'_> {
    /// A product with constant weights, of what is flattened or of each row; or that of two tensors.
    pub(super) fn dense(
        &mut self,
        node: &NodeProto,
        name: String,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        let is_matmul = node.op_type.as_deref() == Some("MatMul");
        if is_matmul && node.input.iter().all(|input| self.known.contains_key(input)) {
            return self.product(node, name, attributes);
        }
        let mut read = self.source(node, 0, attributes)?;
        if !is_matmul && !Self::is_line(&read) {
            return Err(content(&attributes.1, "it reads rows and columns; flatten them before it"));
        }
        attributes.expect("transA", 0)?;
        for key in ["alpha", "beta"] {
            if attributes.real(key, 1.0) != 1.0 {
                return Err(content(&attributes.1, format!("`{key}`: expected 1")));
            }
        }
        let is_flat = matches!(read.dims[..], [_] | [1, _]);
        if !is_flat || matches!(read.order, Order::Moved(_)) {
            read = self.plain(node, 0, attributes)?;
        }
        let shape = self.tensors[read.tensor].shape;
        let line = |channels: usize| Shape { height: 1, width: 1, channels };
        let (kernel, order) = match is_flat {
            true if self.is_plain(&read) => ([shape.height, shape.width], line(shape.elements())),
            true => ([shape.height, shape.width], shape),
            false => ([1, 1], line(shape.channels)),
        };
        let (dims, stored) = self.constants.finite(node.input.get(1).map_or("", String::as_str))?;
        let (weights, outputs) = attributes.dense_weights(&dims, stored, order)?;
        let window = Window::plain(kernel);
        let conv = FloatConv { window, groups: 1, weights, bias: self.bias(node, outputs, attributes)? };
        let mut made = read.dims;
        made.pop();
        made.push(outputs);
        self.keep_sized(node, name, FloatOperator::Dense(conv), vec![read.tensor], made, attributes)
    }

    /// The products of matrices, one for each head.
    fn product(&mut self, node: &NodeProto, name: String, attributes: &Attributes<'_>) -> Result<(), FileError> {
        let pair = [self.matrices(node, 0, attributes)?, self.matrices(node, 1, attributes)?];
        // Moving the second may leave the first as it was.
        let [first, second] = [&pair[0].dims, &pair[1].dims];
        let fits = match (&first[..], &second[..]) {
            ([before @ .., _, inner], [others @ .., rows, _]) => before == others && inner == rows,
            _ => false,
        };
        if !fits {
            let what = format!(
                "it multiplies {first:?} by {second:?}; expected as many matrices, and rows of the length of columns"
            );
            return Err(content(&attributes.1, what));
        }
        let mut made = first.clone();
        made.pop();
        made.extend(second.last());
        let inputs = pair.iter().map(|read| read.tensor).collect();
        self.keep_sized(node, name, FloatOperator::Product, inputs, made, attributes)
    }

    /// The channels of each position, normalised.
    pub(super) fn layer_norm(
        &mut self,
        node: &NodeProto,
        name: String,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        let read = self.plain(node, 0, attributes)?;
        let (rank, said) = (read.dims.len(), attributes.number("axis", -1));
        if axis_of(said, rank) != rank.checked_sub(1) {
            return Err(content(&attributes.1, format!("`axis`: expected the last of {rank}, found {said}")));
        }
        let channels = read.dims.last().copied().unwrap_or(1);
        let weights = self.each(node.input.get(1).map_or("", String::as_str), channels, attributes)?;
        let bias = self.bias(node, channels, attributes)?;
        let scale = FloatConv { window: Window::plain([1, 1]), groups: channels, weights, bias };
        let norm = LayerNorm { epsilon: attributes.real("epsilon", 1e-5), scale };
        self.keep_sized(node, name, FloatOperator::Normalise(norm), vec![read.tensor], read.dims, attributes)
    }

    /// The exponentials of channels as shares of their sum: of a tensor without rows and columns, or along the last axis.
    pub(super) fn softmax(
        &mut self,
        node: &NodeProto,
        name: String,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        let read = self.source(node, 0, attributes)?;
        let (tensor, rank) = (self.tensors[read.tensor], read.dims.len());
        let said = attributes.find("axis").map(|attribute| attribute.i.unwrap_or(0));
        let axis = said.or(Self::is_line(&read).then_some(-1)).and_then(|axis| axis_of(axis, rank));
        // The axis has all elements, or it is the last.
        let has_all = axis.is_some_and(|axis| read.dims[axis] == tensor.shape.channels);
        if has_all && tensor.shape.positions() == 1 && self.is_plain(&read) && rank != 3 {
            self.keep(node, name, FloatOperator::Softmax, vec![read.tensor], tensor, read.dims, read.order);
            return Ok(());
        }
        if axis.is_some_and(|axis| axis + 1 == rank) {
            let read = self.plain(node, 0, attributes)?;
            return self.keep_sized(node, name, FloatOperator::Softmax, vec![read.tensor], read.dims, attributes);
        }
        let said = said.map_or_else(|| "no axis".to_owned(), |axis| format!("the axis {axis}"));
        let what = format!(
            "it has {said} and reads {:?} elements; a Softmax is along the last axis, or of the channels of a tensor without rows and \
             columns, with the axis 1 or -1: flatten before the last dense layer, or leave the Softmax out, which changes no class",
            read.dims
        );
        Err(content(&attributes.1, what))
    }

    /// The average of all rows and columns, or of all tokens.
    pub(super) fn mean(
        &mut self,
        node: &NodeProto,
        name: String,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        let read = self.source(node, 0, attributes)?;
        attributes.expect("noop_with_empty_axes", 0)?;
        let said = self.axes(node, attributes)?.unwrap_or_default();
        let axes: Option<Vec<_>> = said.iter().map(|&axis| axis_of(axis, read.dims.len())).collect();
        let mut axes = axes.unwrap_or_default();
        axes.sort_unstable();
        let keeps = attributes.number("keepdims", 1) != 0;
        let (read, channels) = match (&read.dims[..], &axes[..]) {
            ([1, channels, _, _], [2, 3]) => (self.image(node, 0, attributes)?, *channels),
            ([1, _, channels], [1]) => (self.plain(node, 0, attributes)?, *channels),
            (dims, _) => {
                let what =
                    format!("it averages the axes {said:?} of {dims:?}; expected all rows and columns, or all tokens");
                return Err(content(&attributes.1, what));
            }
        };
        let shape = Shape { height: 1, width: 1, channels };
        let dims = match (keeps, read.dims.len()) {
            (false, _) => vec![1, channels],
            (true, 3) => vec![1, 1, channels],
            (true, _) => vec![1, channels, 1, 1],
        };
        let axes = match dims.len() {
            2 => Axes::Channels,
            3 => Axes::Matrix,
            _ => Axes::Image,
        };
        let order = if axes == Axes::Image { Order::Image } else { Order::Plain };
        let tensor = FloatTensor { shape, axes };
        self.keep(node, name, FloatOperator::GlobalAverage, vec![read.tensor], tensor, dims, order);
        Ok(())
    }

    /// Keeps a layer that makes a tensor of these sizes, in the file's own order.
    pub(super) fn keep_sized(
        &mut self,
        node: &NodeProto,
        name: String,
        operator: FloatOperator,
        inputs: Vec<usize>,
        dims: Vec<usize>,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        let tensor = sized(&dims).ok_or_else(|| content(&attributes.1, format!("it makes {dims:?} elements")))?;
        self.keep(node, name, operator, inputs, tensor, dims, Order::Plain);
        Ok(())
    }

    /// Keeps a layer that makes as many elements as it reads, in their order.
    pub(super) fn keep_like(
        &mut self,
        node: &NodeProto,
        name: String,
        operator: FloatOperator,
        inputs: Vec<usize>,
        read: Read,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        if read.order == Order::Image {
            let tensor = self.tensors[read.tensor];
            self.keep(node, name, operator, inputs, tensor, read.dims, Order::Image);
            return Ok(());
        }
        self.keep_sized(node, name, operator, inputs, read.dims, attributes)
    }
}
