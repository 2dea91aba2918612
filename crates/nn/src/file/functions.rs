//! Functions of one number, in networks of floating point and of bytes; products and averages of tensors of bytes.

use rten_onnx::onnx::NodeProto;

use super::attributes::Attributes;
use super::constants::Constants;
use super::error::{FileError, content, quantised_functions};
use super::order::axis_of;
use super::reading::Reading;
use crate::float::{Activation, ActivationFunction};
use crate::network::{FunctionTable, Operator, ProductTable, Tensor};

/// Those that have an operator on bytes of their own.
const ON_BYTES: [(&str, &str); 2] = [("Sigmoid", "QLinearSigmoid"), ("LeakyRelu", "QLinearLeakyRelu")];

/// The node of bytes that one of these is fused to, or that stands for it.
pub(super) fn on_bytes(operator: &str) -> Option<&'static str> {
    let own = ON_BYTES.iter().find(|(from, _)| *from == operator).map(|&(_, to)| to);
    own.or_else(|| quantised_functions().map(ActivationFunction::operator).find(|name| *name == operator))
}

/// The function that a node of bytes is.
pub(super) fn function_of(operator: &str) -> Option<ActivationFunction> {
    let own = ON_BYTES.iter().find(|(_, to)| *to == operator).map_or(operator, |&(from, _)| from);
    quantised_functions().find(|function| function.operator() == own)
}

/// A function with its numbers: attributes, or constants that stand in this order from the input `first`.
pub(super) fn activation(
    node: &NodeProto,
    function: ActivationFunction,
    first: usize,
    constants: &Constants<'_>,
    attributes: &Attributes<'_>,
) -> Result<Activation, FileError> {
    let mut activation = Activation::usual(function);
    if function == ActivationFunction::Gelu {
        let said = attributes.find("approximate").and_then(|attribute| attribute.s.clone());
        let by_tanh = said.as_deref() == Some("tanh");
        if let Some(said) = said.filter(|said| said != "none" && !by_tanh) {
            let what = format!("`approximate`: expected `none` or `tanh`, found `{said}`");
            return Err(content(&attributes.1, what));
        }
        return Ok(Activation { function, numbers: [if by_tanh { 1.0 } else { 0.0 }, 0.0] });
    }
    for (at, (key, _)) in function.attributes().iter().enumerate() {
        let number = &mut activation.numbers[at];
        match node.input.get(first + at).map_or("", String::as_str) {
            "" => *number = attributes.real(key, *number),
            input => match constants.floats(input)?[..] {
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
    Ok(activation)
}

impl Reading<'_> {
    /// A function of bytes: a tensor, its scale and zero point, those of what is made, and numbers of the function.
    pub(super) fn function(
        &mut self,
        node: &NodeProto,
        name: String,
        function: ActivationFunction,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        let source = self.tensor(&name, &node.input, 0)?;
        let quantisation = self.constants.quantisation(&node.input, 3)?;
        let activation = activation(node, function, 5, &self.constants, attributes)?;
        let input = &self.tensors[source];
        let table = FunctionTable::new(activation, [input.quantisation, quantisation]);
        let tensor = Tensor { quantisation, ..input.clone() };
        self.stay_flat(node);
        self.keep(node, name, Operator::Function(table), vec![source], tensor);
        Ok(())
    }

    /// A product of two tensors of equal sizes, or of one and a number for each of its channels.
    pub(super) fn multiply(
        &mut self,
        node: &NodeProto,
        name: String,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        if let Some(constant) = [0, 3].into_iter().filter_map(|at| node.input.get(at)).find(|it| self.constants.has(it))
        {
            let what = format!(
                "its factor `{constant}` is a constant; products of two tensors that are made are computed; fold the constant into \
                 weights before the network is quantised"
            );
            return Err(content(&attributes.1, what));
        }
        let inputs = vec![self.tensor(&name, &node.input, 0)?, self.tensor(&name, &node.input, 3)?];
        let quantisation = self.constants.quantisation(&node.input, 6)?;
        let is_signed = self.constants.is_signed(node.input.get(7).map_or("", String::as_str));
        let [a, b] = [&self.tensors[inputs[0]], &self.tensors[inputs[1]]];
        let are_flat = self.are_flat(node, attributes)?;
        if are_flat && a.shape != b.shape {
            return Err(content(&attributes.1, "its factors have no rows and columns, and are of different sizes"));
        }
        let table = ProductTable::new([a.quantisation, b.quantisation, quantisation], is_signed);
        let larger = if a.shape.positions() < b.shape.positions() { b } else { a };
        let tensor = Tensor { quantisation, ..larger.clone() };
        self.stay_flat(node);
        self.keep(node, name, Operator::Multiply(table), inputs, tensor);
        Ok(())
    }

    /// Whether the two tensors that a node reads have no rows and columns; one with and one without would be joined otherwise.
    pub(super) fn are_flat(&self, node: &NodeProto, attributes: &Attributes<'_>) -> Result<bool, FileError> {
        match [0, 3].map(|at: usize| node.input.get(at).is_some_and(|name| self.is_flat(name))) {
            [first, second] if first == second => Ok(first),
            _ => {
                let what =
                    "one of its two tensors has rows and columns, and the other has none; give both of them or neither";
                Err(content(&attributes.1, what))
            }
        }
    }

    /// The average over rows and columns; its axes are an attribute, or a constant behind the scales and zero points.
    pub(super) fn mean(
        &mut self,
        node: &NodeProto,
        name: String,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        let source = self.tensor(&name, &node.input, 0)?;
        let quantisation = self.constants.quantisation(&node.input, 3)?;
        let said = match node.input.get(5).map_or("", String::as_str) {
            "" => attributes.find("axes").map_or_else(Vec::new, |attribute| attribute.ints.clone()),
            axes => self.constants.longs(axes)?,
        };
        let mut axes: Vec<_> = said.iter().filter_map(|&axis| axis_of(axis, 4)).collect();
        axes.sort_unstable();
        if said.len() != 2 || axes != [2, 3] || node.input.first().is_some_and(|name| self.is_flat(name)) {
            let what = format!("expected the average over rows and columns, the axes 2 and 3, found {said:?}");
            return Err(content(&attributes.1, what));
        }
        let shape = self.tensors[source].shape.of_channels();
        let tensor = Tensor { shape, flat: attributes.number("keepdims", 1) == 0, quantisation };
        self.keep(node, name, Operator::Mean, vec![source], tensor);
        Ok(())
    }

    /// The output of a node has no rows and columns if a tensor that it reads has none.
    pub(super) fn stay_flat(&mut self, node: &NodeProto) {
        if node.input.iter().any(|name| self.is_flat(name)) {
            self.flattened.extend(node.output.first().cloned());
        }
    }

    /// Whether a tensor has no rows and columns.
    pub(super) fn is_flat(&self, name: &str) -> bool {
        self.flattened.contains(name) || self.known.get(name).is_some_and(|&tensor| self.tensors[tensor].flat)
    }
}
