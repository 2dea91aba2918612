//! Networks from ONNX files whose operators compute with integers: in the form QOperator, or in the form QDQ, which is fused to it.

mod attributes;
mod constants;
mod duplicates;
mod elementwise;
mod error;
mod external;
mod float;
mod functions;
mod images;
mod integers;
mod node;
mod order;
mod protect;
mod proto;
mod qdq;
mod reading;
mod rows;
mod views;
mod wire;

use rten_onnx::onnx::GraphProto;

use crate::network::Network;
use constants::Constants;
use error::{OPERATORS, content, unknown};
use reading::{Reading, read_graph, reads_floats};

pub use error::FileError;
pub use external::with_external_data;
pub use float::{is_float, read_float};

/// Reads a network.
///
/// # Errors
/// When the bytes are no ONNX file, when an operator is none of those that are computed (all of them are named), when
/// something is missing, or when layers do not fit each other.
pub fn read_network(name: &str, bytes: &[u8]) -> Result<Network, FileError> {
    let graph = wire::graph(bytes)?;
    known_operators(&graph)?;
    let reads_floats = reads_floats(&graph);
    let (graph, conditions) =
        if qdq::is_qdq(&graph) { qdq::fused(graph)? } else { (graph, qdq::Conditions::default()) };
    conditions.check(&Constants::of(&graph))?;
    let Reading { tensors, layers, protection, .. } = read_graph(&graph)?;
    let network = Network::new(name.to_owned(), tensors, layers)?.with_protection(protection)?;
    Ok(if reads_floats { network.with_float_input() } else { network })
}

/// The file with the feature maps made twice that `maps` names, by layer and channel, and with a signal where duplicates differ or
/// Top2Diff is below `margin`. The first output stays as it is; the second is called `rerun`.
///
/// # Errors
/// When the file cannot be read, is in the form QDQ, or a feature map is not one of a convolution.
pub fn protected(bytes: &[u8], maps: &[(usize, usize)], margin: Option<f64>) -> Result<Vec<u8>, FileError> {
    let graph = wire::graph(bytes)?;
    if float::computes_in_floats(&graph) {
        return Err(content("the file", "it computes in floating point; protection is written into networks of INT8"));
    }
    known_operators(&graph)?;
    protect::protected(bytes, &graph, maps, margin)
}

/// Names all operators that are not computed, before anything else is looked at.
fn known_operators(graph: &GraphProto) -> Result<(), FileError> {
    let fuses = qdq::is_qdq(graph);
    let known = |operator: &str| {
        let within = || qdq::AROUND.contains(&operator) || qdq::fused_to(operator).is_some();
        OPERATORS.contains(&operator) || fuses && within()
    };
    unknown(graph, known).map_or(Ok(()), |found| Err(FileError::Operators { found }))
}
