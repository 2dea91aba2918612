//! The nodes of floating point that look at one element, or at one position, of what they read; and zeros around it.

use rten_onnx::onnx::NodeProto;

use super::attributes::{Attributes, MOST};
use super::error::{FileError, content};
use super::float::{FloatReading, Read};
use super::functions::activation;
use super::order::Order;
use crate::float::{Activation, ActivationFunction, FloatOperator};

impl FloatReading<'_> {
    /// A sum or a product of two tensors, of which one factor may have a number for each channel; or of one and a constant.
    pub(super) fn arithmetic(
        &mut self,
        node: &NodeProto,
        name: String,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        if let Some(constant) = node.input.iter().take(2).position(|input| self.constants.has(input)) {
            return self.with_constant(node, name, constant, attributes);
        }
        let operator = match node.op_type.as_deref() {
            Some("Add") => FloatOperator::Add,
            Some("Mul") => FloatOperator::Multiply,
            _ => {
                return Err(content(
                    &attributes.1,
                    "it has two tensors; one of them and a constant behind it are computed",
                ));
            }
        };
        let mut pair = [self.source(node, 0, attributes)?, self.source(node, 1, attributes)?];
        if Self::is_line(&pair[0]) != Self::is_line(&pair[1]) {
            return Err(content(&attributes.1, "one of its inputs has rows and columns, and the other has none"));
        }
        // A number for each channel, by the sizes of the file.
        let is_each = |gate: usize| {
            let ([1, channels, 1, 1], [1, others, _, _]) = (&pair[gate].dims[..], &pair[1 - gate].dims[..]) else {
                return false;
            };
            operator == FloatOperator::Multiply && channels == others
        };
        let is_equal = pair[0].dims == pair[1].dims;
        let gate = [0, 1].into_iter().find(|&gate| !is_equal && is_each(gate));
        if !is_equal && gate.is_none() {
            let size = |read: &Read| match read.dims[..] {
                [1, channels, height, width] => format!("{channels} x {height} x {width}"),
                _ => format!("{:?}", read.dims),
            };
            let what = format!(
                "it {} {} by {} (channels x rows x columns); expected equal sizes, or 1 row and 1 column of as many channels for \
                 one factor",
                if operator == FloatOperator::Multiply { "multiplies" } else { "increases" },
                size(&pair[0]),
                size(&pair[1])
            );
            return Err(content(&attributes.1, what));
        }
        if gate.is_some() {
            pair = [self.image(node, 0, attributes)?, self.image(node, 1, attributes)?];
        }
        let shapes = [0, 1].map(|which: usize| self.tensors[pair[which].tensor].shape);
        let are_alike = shapes[0] == shapes[1] && pair.iter().all(|read| read.order == Order::Image);
        if gate.is_some() || are_alike {
            let inputs = pair.iter().map(|read| read.tensor).collect();
            let read = pair[usize::from(gate == Some(0))].clone();
            let tensor = self.tensors[read.tensor];
            self.keep(node, name, operator, inputs, tensor, read.dims, Order::Image);
            return Ok(());
        }
        let read = self.plain(node, 0, attributes)?;
        let inputs = vec![read.tensor, self.plain(node, 1, attributes)?.tensor];
        self.keep_sized(node, name, operator, inputs, read.dims, attributes)
    }

    /// A constant that is added to a tensor, or taken from it, and one that multiplies or divides it. Behind a dense layer without a
    /// bias a summand is its bias.
    fn with_constant(
        &mut self,
        node: &NodeProto,
        name: String,
        constant: usize,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        let operator = node.op_type.as_deref().unwrap_or_default();
        if constant == 0 && ["Sub", "Div"].contains(&operator) {
            return Err(content(
                &attributes.1,
                format!("`{}` is a constant; one that stands second is computed", node.input[0]),
            ));
        }
        let (dims, values) = self.constants.finite(&node.input[constant])?;
        let read = self.source(node, 1 - constant, attributes)?;
        if operator == "Add" && self.is_plain(&read) {
            let channels = read.dims.last().copied().unwrap_or(1);
            if let Some(FloatOperator::Dense(conv)) = self.joined(&read).map(|layer| &mut layer.operator)
                && conv.bias.len() == channels
                && conv.bias.iter().all(|&bias| bias == 0.0)
                && dims.last().is_none_or(|&last| last == channels)
                && dims.len() <= 2
                && values.len() == channels
            {
                conv.bias = values;
                self.named(node, read);
                return Ok(());
            }
        }
        if let [number] = values[..] {
            if dims.len() > read.dims.len() {
                let what =
                    format!("a constant of {} dimensions makes more of a tensor of {}", dims.len(), read.dims.len());
                return Err(content(&attributes.1, what));
            }
            let known = ActivationFunction::ALL.iter().find(|function| function.operator() == operator);
            let function = known.copied().unwrap_or(ActivationFunction::Mul);
            return self.activate(
                node,
                name,
                1 - constant,
                Activation { function, numbers: [number, 0.0] },
                attributes,
            );
        }
        self.take(&read.dims, size_of::<f32>())?;
        let values = match operator {
            "Sub" => values.iter().map(|value| -value).collect(),
            _ => values,
        };
        let Some(all) = spread(&dims, &values, &read.dims).filter(|_| operator != "Div") else {
            let what = format!(
                "a constant {} is one number, found {dims:?} of them for a tensor of {:?}; fold others into weights",
                match operator {
                    "Mul" => "factor",
                    "Div" => "divisor",
                    _ => "summand",
                },
                read.dims
            );
            return Err(content(&attributes.1, what));
        };
        let read = if read.order == Order::Image { read } else { self.plain(node, 1 - constant, attributes)? };
        let mut stored = vec![0.0; all.len()];
        self.elements(&read).iter().zip(all).for_each(|(&at, value)| stored[at as usize] = value);
        let made = if operator == "Mul" {
            FloatOperator::MultiplyConstant(stored)
        } else {
            FloatOperator::AddConstant(stored)
        };
        self.keep_like(node, name, made, vec![read.tensor], read, attributes)
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
        let activation = activation(node, function, 1, &self.constants, attributes)?;
        self.activate(node, name, 0, activation, attributes)
    }

    /// Zeros around rows and columns, which the Conv that reads them pads with.
    pub(super) fn pad(&mut self, node: &NodeProto, attributes: &Attributes<'_>) -> Result<(), FileError> {
        let read = self.image(node, 0, attributes)?;
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
                self.named(node, Read { around: [top, left, bottom, right], ..read });
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

    /// The activation of the layer before, or a layer of its own where another reads what that one makes.
    fn activate(
        &mut self,
        node: &NodeProto,
        name: String,
        which: usize,
        activation: Activation,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        let mut read = self.source(node, which, attributes)?;
        if matches!(read.order, Order::Moved(_)) {
            read = self.plain(node, which, attributes)?;
        }
        if let Some(layer) = self.joined(&read) {
            layer.activation = Some(activation);
            self.named(node, read);
            return Ok(());
        }
        self.keep_like(node, name, FloatOperator::Identity, vec![read.tensor], read, attributes)?;
        if let Some(layer) = self.layers.last_mut() {
            layer.activation = Some(activation);
        }
        Ok(())
    }
}

/// The elements of a constant for each element of a tensor of these sizes; none if it does not fit, or makes more of it.
pub(super) fn spread(dims: &[usize], values: &[f32], to: &[usize]) -> Option<Vec<f32>> {
    let missing = to.len().checked_sub(dims.len())?;
    let mut steps = vec![0; to.len()];
    let mut step = 1;
    for (axis, &size) in dims.iter().enumerate().rev() {
        if size != 1 && size != to[axis + missing] {
            return None;
        }
        steps[axis + missing] = if size == 1 { 0 } else { step };
        step *= size;
    }
    let mut of = vec![0];
    for (&size, &step) in to.iter().zip(&steps) {
        of = of.iter().flat_map(|&first| (0..size).map(move |at| first + at * step)).collect();
    }
    of.iter().map(|&at: &usize| values.get(at).copied()).collect()
}
