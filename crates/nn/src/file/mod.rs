//! Networks from ONNX files whose operators compute with integers: in the form QOperator, or in the form QDQ, which is fused to it.

mod constants;
mod error;
mod node;
mod qdq;
mod reading;
mod wire;

use std::collections::BTreeMap;

use rten_onnx::onnx::{GraphProto, ModelProto};

use crate::network::Network;
use error::{OPERATORS, content};
use reading::{Reading, node_name};

pub use error::FileError;

/// Reads a network.
///
/// # Errors
/// When the bytes are no ONNX file, when an operator is none of those that are computed (all of them are named), when
/// something is missing, or when layers do not fit each other.
pub fn read_network(name: &str, bytes: &[u8]) -> Result<Network, FileError> {
    if !wire::Message::Model.is_whole(bytes, 32) {
        return Err(content("the bytes as an ONNX file", "a field ends beyond its message"));
    }
    let model = ModelProto::parse_buf(bytes).map_err(FileError::Form)?;
    let graph = model.graph.ok_or_else(|| content("the file", "it has no graph"))?;
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
    let mut found: BTreeMap<String, (String, usize)> = BTreeMap::new();
    let fuses = qdq::is_qdq(graph);
    let known = |operator: &str| {
        let within = || qdq::AROUND.contains(&operator) || qdq::FUSED.iter().any(|(from, _)| *from == operator);
        OPERATORS.contains(&operator) || fuses && within()
    };
    for (number, node) in graph.node.iter().enumerate() {
        let operator = node.op_type.clone().unwrap_or_default();
        if !known(&operator) {
            found.entry(operator).or_insert_with(|| (node_name(number, node), 0)).1 += 1;
        }
    }
    if found.is_empty() {
        return Ok(());
    }
    Err(FileError::Operators {
        found: found.into_iter().map(|(operator, (node, count))| (operator, node, count)).collect(),
    })
}
