//! What is wrong with a file.

use std::collections::BTreeMap;

use rten_onnx::onnx::{GraphProto, NodeProto};
use rten_onnx::protobuf::ProtobufError;

use crate::float::ActivationFunction;
use crate::network::NetworkError;

/// The operators that are read.
pub(super) const OPERATORS: [&str; 12] = [
    "QLinearConv",
    "QLinearAdd",
    "QLinearMul",
    "QLinearSigmoid",
    "QLinearLeakyRelu",
    "QLinearGlobalAveragePool",
    "QLinearAveragePool",
    "QLinearConcat",
    "QGemm",
    "Flatten",
    "MaxPool",
    "Concat",
];

/// The operator that makes a constant, which counts as one of the file's own.
pub(super) const CONSTANT: &str = "Constant";

/// The operators on floating point that are read, besides those of [`ActivationFunction`].
const FLOAT_OPERATORS: [&str; 30] = [
    "Conv",
    "Gemm",
    "MatMul",
    "BatchNormalization",
    "MaxPool",
    "AveragePool",
    "GlobalAveragePool",
    "Concat",
    "Flatten",
    "Reshape",
    "Pad",
    "Softmax",
    "LayerNormalization",
    "ReduceMean",
    "Transpose",
    "Squeeze",
    "Unsqueeze",
    "Split",
    "Slice",
    "Gather",
    "Identity",
    "Shape",
    "Cast",
    "Mod",
    "Sqrt",
    "ConstantOfShape",
    "Equal",
    "Where",
    "Expand",
    CONSTANT,
];

/// The operators on floating point that are read.
pub(super) fn float_operators() -> Vec<&'static str> {
    let functions = ActivationFunction::ALL.iter().map(|function| function.operator());
    FLOAT_OPERATORS.into_iter().chain(functions).collect()
}

/// Why a file is no network that can be run.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It is no ONNX file.
    #[error("read the bytes as an ONNX file")]
    Form(#[source] ProtobufError),
    /// It has operators that nothing here computes.
    #[error("run the network: nothing here computes {}; it computes {}, and between DequantizeLinear and QuantizeLinear also Conv, Gemm, Add, Mul, GlobalAveragePool, AveragePool, ReduceMean, {}", list(found), OPERATORS.join(", "), elementwise())]
    Operators {
        /// Their types, with a node of each and how many there are.
        found: Vec<(String, String, usize)>,
    },
    /// A file of floating point has operators that nothing here computes.
    #[error("run the network in floating point: nothing here computes {}; it computes {}", list(found), float_operators().join(", "))]
    FloatOperators {
        /// Their types, with a node of each and how many there are.
        found: Vec<(String, String, usize)>,
    },
    /// Something else is missing or not as it has to be.
    #[error("read {place}: {what}")]
    Content {
        /// The node or the tensor.
        place: String,
        /// What was expected and what was found.
        what: String,
    },
    /// Its layers do not fit each other.
    #[error(transparent)]
    Network(#[from] NetworkError),
}

/// The functions of one number that are read between DequantizeLinear and QuantizeLinear: all but those of a tensor and a constant.
pub(super) fn quantised_functions() -> impl Iterator<Item = ActivationFunction> {
    let has_constant = |function: &ActivationFunction| function.attributes().iter().any(|&(name, _)| name == "B");
    ActivationFunction::ALL.iter().copied().filter(move |function| !has_constant(function))
}

/// Their names.
fn elementwise() -> String {
    let mut names: Vec<_> = quantised_functions().map(ActivationFunction::operator).collect();
    let last = names.pop().unwrap_or_default();
    format!("{} and {last}", names.join(", "))
}

fn list(found: &[(String, String, usize)]) -> String {
    let each = found.iter().map(|(operator, node, count)| format!("`{operator}` (node `{node}`; {count} of them)"));
    each.collect::<Vec<_>>().join(", ")
}

/// An error of one place.
pub(super) fn content(place: impl Into<String>, what: impl Into<String>) -> FileError {
    FileError::Content { place: place.into(), what: what.into() }
}

/// The operators that are not known, each with a node and how many there are; none if all are.
pub(super) fn unknown(graph: &GraphProto, known: impl Fn(&str) -> bool) -> Option<Vec<(String, String, usize)>> {
    let mut found: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for (number, node) in graph.node.iter().enumerate() {
        let operator = node.op_type.clone().unwrap_or_default();
        if !known(&operator) && !protects(node) {
            found.entry(operator).or_insert_with(|| (node_name(number, node), 0)).1 += 1;
        }
    }
    let found: Vec<_> = found.into_iter().map(|(operator, (node, count))| (operator, node, count)).collect();
    (!found.is_empty()).then_some(found)
}

/// The name of a node; one without gets its operator and its position in the file.
pub(super) fn node_name(number: usize, node: &NodeProto) -> String {
    let operator = node.op_type.as_deref().unwrap_or_default();
    node.name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| format!("{operator}_{number}"))
}

/// The beginning of the names of nodes that protection consists of.
pub(super) const PREFIX: &str = "protection/";

/// Whether a node is part of protection.
pub(super) fn protects(node: &NodeProto) -> bool {
    node.name.as_deref().is_some_and(|name| name.starts_with(PREFIX))
}
