//! Networks from ONNX files whose operators compute with integers: in the form QOperator, or in the form QDQ, which is fused to it.

mod constants;
mod error;
mod float;
mod node;
mod qdq;
mod reading;
mod wire;

use rten_onnx::onnx::GraphProto;

use crate::network::Network;
use error::{OPERATORS, content, unknown};
use reading::Reading;

pub use error::FileError;
pub use float::{is_float, read_float};

/// Reads a network.
///
/// # Errors
/// When the bytes are no ONNX file, when an operator is none of those that are computed (all of them are named), when
/// something is missing, or when layers do not fit each other.
pub fn read_network(name: &str, bytes: &[u8]) -> Result<Network, FileError> {
    let graph = wire::graph(bytes)?;
    known_operators(&graph)?;
    let (graph, conditions) =
        if qdq::is_qdq(&graph) { qdq::fused(graph)? } else { (graph, qdq::Conditions::default()) };
    let mut reading = Reading::begin(&graph)?;
    conditions.check(&reading.constants)?;
    for (number, node) in graph.node.iter().enumerate() {
        reading.node(number, node)?;
    }
    let output = graph.output.first().and_then(|output| output.name.clone()).unwrap_or_default();
    match reading.known.get(&output) {
        Some(&last) if graph.output.len() == 1 && last == reading.layers.len() => {}
        _ => {
            return Err(content(
                format!("the output `{output}`"),
                "it is not what the last node makes, or not the only one",
            ));
        }
    }
    Ok(Network::new(name.to_owned(), reading.tensors, reading.layers)?)
}

/// Names all operators that are not computed, before anything else is looked at.
fn known_operators(graph: &GraphProto) -> Result<(), FileError> {
    let fuses = qdq::is_qdq(graph);
    let known = |operator: &str| {
        let within = || qdq::AROUND.contains(&operator) || qdq::FUSED.iter().any(|(from, _)| *from == operator);
        OPERATORS.contains(&operator) || fuses && within()
    };
    unknown(graph, known).map_or(Ok(()), |found| Err(FileError::Operators { found }))
}
