//! What is wrong with a file.

use rten_onnx::protobuf::ProtobufError;

use crate::network::NetworkError;

/// The operators that are read.
pub(super) const OPERATORS: [&str; 9] = [
    "QLinearConv",
    "QLinearAdd",
    "QLinearGlobalAveragePool",
    "QLinearAveragePool",
    "QLinearConcat",
    "QGemm",
    "Flatten",
    "MaxPool",
    "Concat",
];

/// Why a file is no network that can be run.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It is no ONNX file.
    #[error("read the bytes as an ONNX file")]
    Form(#[source] ProtobufError),
    /// It has operators that nothing here computes.
    #[error("run the network: nothing here computes {}; it computes {}, and between DequantizeLinear and QuantizeLinear also Conv, Gemm, Add, GlobalAveragePool, AveragePool and Relu", list(found), OPERATORS.join(", "))]
    Operators {
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

fn list(found: &[(String, String, usize)]) -> String {
    let each = found.iter().map(|(operator, node, count)| format!("`{operator}` (node `{node}`; {count} of them)"));
    each.collect::<Vec<_>>().join(", ")
}

/// An error of one place.
pub(super) fn content(place: impl Into<String>, what: impl Into<String>) -> FileError {
    FileError::Content { place: place.into(), what: what.into() }
}
