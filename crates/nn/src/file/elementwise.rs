//! The nodes of floating point that look at one element, or at one position, of what they read; and zeros around it.

use rten_onnx::onnx::NodeProto;

use super::error::{FileError, content};
use super::float::{FloatReading, Read};
use super::node::{Attributes, MOST};
use crate::float::{Activation, ActivationFunction, FloatOperator};
use crate::operator::Shape;

impl FloatReading<'_> {
    /// The sum of two tensors; of a product and a constant, it is the bias of the product.
    pub(super) fn add(&mut self, node: &NodeProto, name: String, attributes: &Attributes<'_>) -> Result<(), FileError> {
        let Some(constant) = self.constant_input(node) else {
            let inputs = self.pair(node, attributes)?;
            self.keep_pair(node, name, FloatOperator::Add, inputs, inputs[0]);
            return Ok(());
        };
        let read = self.source(node, 1 - constant, attributes)?;
        let channels = self.tensors[read.tensor].shape.channels;
        let summands = self.each(&node.input[constant], channels, attributes)?;
        match self.joined(read).map(|layer| &mut layer.operator) {
            Some(FloatOperator::Dense(conv)) if conv.bias.iter().all(|&bias| bias == 0.0) => conv.bias = summands,
            _ => return Err(content(&attributes.1, "a constant is added to what a MatMul makes, and to nothing else")),
        }
        self.read(node, read.tensor, read.flattened);
        Ok(())
    }

    /// The product of two tensors, of which one may have a number for each channel; of one and a constant number, an activation.
    pub(super) fn multiply(
        &mut self,
        node: &NodeProto,
        name: String,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        if let Some(constant) = self.constant_input(node) {
            let (dims, values) = self.constants.finite(&node.input[constant])?;
            let [factor] = values[..] else {
                let what = format!("a constant factor is one number, found {dims:?} of them; fold others into weights");
                return Err(content(&attributes.1, what));
            };
            let read = self.source(node, 1 - constant, attributes)?;
            if self.is_line(read) && dims.len() > 2 {
                let what = format!("a constant factor of {} dimensions makes more of a tensor of two", dims.len());
                return Err(content(&attributes.1, what));
            }
            let activation = Activation { function: ActivationFunction::Mul, numbers: [factor, 0.0] };
            self.activate(node, name, read, activation);
            return Ok(());
        }
        let inputs = self.pair(node, attributes)?;
        let shapes = inputs.map(|read| self.tensors[read.tensor].shape);
        let is_gate = |gate: usize| {
            !self.is_line(inputs[gate]) && shapes[gate] == Shape { height: 1, width: 1, ..shapes[1 - gate] }
        };
        if shapes[0] != shapes[1] && !is_gate(0) && !is_gate(1) {
            let size = |shape: Shape| format!("{} x {} x {}", shape.channels, shape.height, shape.width);
            let what = format!(
                "it multiplies {} by {} (channels x rows x columns); expected equal sizes, or 1 row and 1 column of as many \
                 channels for one of them",
                size(shapes[0]),
                size(shapes[1])
            );
            return Err(content(&attributes.1, what));
        }
        let made = inputs[usize::from(shapes[0] != shapes[1] && is_gate(0))];
        self.keep_pair(node, name, FloatOperator::Multiply, inputs, made);
        Ok(())
    }

    /// A function of the table; numbers are attributes, of Clip also inputs.
    pub(super) fn function(
        &mut self,
        node: &NodeProto,
        name: String,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        let operator = node.op_type.as_deref();
        let known = ActivationFunction::ALL.iter().find(|function| Some(function.operator()) == operator);
        let Some(&function) = known else { return Err(content(&attributes.1, "nothing here computes it")) };
        let mut activation = Activation::usual(function);
        for (at, (key, _)) in function.attributes().iter().enumerate() {
            let number = &mut activation.numbers[at];
            match node.input.get(at + 1).map_or("", String::as_str) {
                "" => *number = attributes.real(key, *number),
                input => match self.constants.floats(input)?[..] {
                    [only] => *number = only,
                    _ => return Err(content(&attributes.1, format!("`{input}` is not one number"))),
                },
            }
        }
        let [low, high] = activation.numbers;
        if function == ActivationFunction::Clip {
            if low > high || low.is_nan() || high.is_nan() {
                let what = format!("expected bounds of which the first is the lower, found {:?}", [low, high]);
                return Err(content(&attributes.1, what));
            }
        } else if let Some(number) = activation.numbers.iter().find(|number| !number.is_finite()) {
            return Err(content(&attributes.1, format!("one of its numbers is {number}; expected finite ones")));
        }
        let read = self.source(node, 0, attributes)?;
        self.activate(node, name, read, activation);
        Ok(())
    }

    /// The exponentials of channels as shares of their sum, of a tensor without rows and columns.
    pub(super) fn softmax(
        &mut self,
        node: &NodeProto,
        name: String,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        let read = self.source(node, 0, attributes)?;
        let tensor = self.tensors[read.tensor];
        let axis = attributes.find("axis").map(|attribute| attribute.i.unwrap_or(0));
        // The last dimension is that of the channels, or there is one row and one column, and the axis says the channels.
        let is_of_channels = if self.is_line(read) { matches!(axis, None | Some(1 | -1)) } else { axis == Some(1) };
        if tensor.shape.positions() != 1 || !is_of_channels {
            let said = axis.map_or_else(|| "no axis".to_owned(), |axis| format!("the axis {axis}"));
            let what = format!(
                "it has {said} and reads {:?}; a Softmax is of the channels of a tensor without rows and columns, with the axis 1 or \
                 -1: flatten before the last dense layer, or leave the Softmax out, which changes no class",
                tensor.shape
            );
            return Err(content(&attributes.1, what));
        }
        self.keep(node, name, FloatOperator::Softmax, vec![read.tensor], tensor);
        self.read(node, self.layers.len(), read.flattened);
        Ok(())
    }

    /// Zeros around rows and columns, which the Conv that reads them pads with.
    pub(super) fn pad(&mut self, node: &NodeProto, attributes: &Attributes<'_>) -> Result<(), FileError> {
        let read = self.source(node, 0, attributes)?;
        if let Some(mode) = attributes.find("mode").and_then(|attribute| attribute.s.as_deref())
            && mode != "constant"
        {
            return Err(content(&attributes.1, format!("`mode`: expected `constant` and zeros, found `{mode}`")));
        }
        let input = |at: usize| node.input.get(at).map_or("", String::as_str);
        let value = match input(2) {
            "" => attributes.real("value", 0.0),
            name => self.constants.floats(name)?.first().copied().unwrap_or(0.0),
        };
        let pads = match input(1) {
            "" => attributes.find("pads").map_or_else(Vec::new, |attribute| attribute.ints.clone()),
            name => self.constants.longs(name)?,
        };
        let side = |pad: i64| usize::try_from(pad).ok().filter(|_| pad <= MOST);
        let around = match pads[..] {
            [0, 0, top, left, 0, 0, bottom, right] => [top, left, bottom, right].map(side),
            _ => [None; 4],
        };
        match around {
            [Some(top), Some(left), Some(bottom), Some(right)] if value == 0.0 && input(3).is_empty() => {
                self.read_padded(node, read.tensor, false, [top, left, bottom, right]);
                Ok(())
            }
            _ => {
                let what = format!(
                    "expected zeros before and after rows and columns alone, from 0 to {MOST} of them and for all axes in the order of \
                     ONNX, found {pads:?} of {value}"
                );
                Err(content(&attributes.1, what))
            }
        }
    }

    /// Which of two inputs is a constant, if one is.
    fn constant_input(&self, node: &NodeProto) -> Option<usize> {
        node.input.iter().take(2).position(|input| self.constants.has(input))
    }

    /// Two tensors that both have rows and columns, or neither.
    fn pair(&self, node: &NodeProto, attributes: &Attributes<'_>) -> Result<[Read; 2], FileError> {
        let pair = [self.source(node, 0, attributes)?, self.source(node, 1, attributes)?];
        match self.is_line(pair[0]) == self.is_line(pair[1]) {
            true => Ok(pair),
            false => Err(content(&attributes.1, "one of its inputs has rows and columns, and the other has none")),
        }
    }

    /// Keeps a layer of two inputs, which makes a tensor such as `made`.
    fn keep_pair(&mut self, node: &NodeProto, name: String, operator: FloatOperator, inputs: [Read; 2], made: Read) {
        self.keep(node, name, operator, inputs.map(|read| read.tensor).to_vec(), self.tensors[made.tensor]);
        self.read(node, self.layers.len(), made.flattened);
    }

    /// The activation of the layer before, or a layer of its own where another reads what that one makes.
    fn activate(&mut self, node: &NodeProto, name: String, read: Read, activation: Activation) {
        if let Some(layer) = self.joined(read) {
            layer.activation = Some(activation);
            self.read(node, read.tensor, read.flattened);
            return;
        }
        self.keep(node, name, FloatOperator::Identity, vec![read.tensor], self.tensors[read.tensor]);
        if let Some(layer) = self.layers.last_mut() {
            layer.activation = Some(activation);
        }
        self.read(node, self.layers.len(), read.flattened);
    }
}
