//! Writes a network with protection: chosen filters once more, a comparison of what both make, and a signal to run the inference
//! again, in operators of ONNX.

use std::collections::BTreeMap;

use rten_onnx::onnx::GraphProto;

use super::error::{FileError, PREFIX, content};
use super::proto::{ElementKind, Field, Proto, fields};
use super::qdq;
use super::reading::read_graph;
use crate::arithmetic::Quantisation;
use crate::network::Conv;

/// The output that says whether the inference is to be run again.
const SIGNAL: &str = "rerun";

/// The fields of a model and of a graph that are looked into.
const GRAPH: u64 = 7;
const NODE: u64 = 1;
const ATTRIBUTE: u64 = 5;

/// The nodes and constants that are added.
#[derive(Default)]
struct Added {
    /// Nodes by the number of the node that they follow.
    after: BTreeMap<usize, Vec<Proto>>,
    /// Nodes at the end.
    last: Vec<Proto>,
    constants: Vec<Proto>,
    /// The tensors that are above 0 where a comparison fails.
    flags: Vec<String>,
}

/// The file with protection added; `graph` is what it holds.
pub(super) fn protected(
    bytes: &[u8],
    graph: &GraphProto,
    maps: &[(usize, usize)],
    margin: Option<f64>,
) -> Result<Vec<u8>, FileError> {
    if qdq::is_qdq(graph) {
        let what = "it has QuantizeLinear or DequantizeLinear (the form QDQ, or the ends of a network that reads or makes floats); protection is written \
                    into networks of operators on integers whose input and output are bytes";
        return Err(content("the file", what));
    }
    let reading = read_graph(graph)?;
    let is_taken = |name: &String| name == SIGNAL || name.starts_with(PREFIX);
    if !reading.protection.is_none() || graph.node.iter().any(|node| node.output.iter().any(is_taken)) {
        return Err(content(
            "the file",
            format!("it has protection already, or a tensor called `{SIGNAL}` or `{PREFIX}…`"),
        ));
    }
    let mut by_layer: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &(layer, channel) in maps {
        by_layer.entry(layer).or_default().push(channel);
    }
    let mut added = Added::default();
    for (&layer, channels) in &by_layer {
        let of = reading.layers.get(layer).and_then(|found| Some((found, found.conv()?)));
        let node = graph.node.iter().position(|node| {
            let is_conv = node.op_type.as_deref() == Some("QLinearConv");
            is_conv && node.output.first().and_then(|output| reading.known.get(output)) == Some(&(layer + 1))
        });
        let (Some((found, conv)), Some(node)) = (of, node) else {
            return Err(content(
                format!("the layer {layer}"),
                "it is not a convolution, so that no filter of it is made twice",
            ));
        };
        if layer + 1 == reading.layers.len() {
            let what = "it makes the output of the network, of which no feature map is made twice";
            return Err(content(format!("the layer `{}`", found.name), what));
        }
        if let Some(channel) = channels.iter().find(|&&channel| channel >= conv.bias.len()) {
            return Err(content(format!("the layer `{}`", found.name), format!("it has no feature map {channel}")));
        }
        let read = reading.tensors[found.inputs[0]].shape.channels;
        added.duplicate(
            &found.name,
            conv,
            read,
            channels,
            (node, &graph.node[node].input, &graph.node[node].output[0]),
        );
    }
    let output = graph.output.first().and_then(|output| output.name.clone()).unwrap_or_default();
    let quantisation = reading.tensors.last().map(|tensor| tensor.quantisation);
    added.signal(&output, quantisation, margin)?;
    Ok(written(bytes, added))
}

fn little(numbers: impl IntoIterator<Item = i64>) -> Vec<u8> {
    numbers.into_iter().flat_map(i64::to_le_bytes).collect()
}

impl Added {
    /// A convolution of chosen filters beside a node, and the comparison of both.
    fn duplicate(
        &mut self,
        layer: &str,
        conv: &Conv,
        read: usize,
        channels: &[usize],
        (number, inputs, output): (usize, &[String], &str),
    ) {
        let name = |part: &str| format!("{PREFIX}{layer}/{part}");
        let (filters, per_filter) = (conv.bias.len(), read / conv.groups);
        let per_group = filters / conv.groups;
        let source = if conv.groups == 1 {
            inputs[0].clone()
        } else {
            // Each filter reads the channels of its own group alone.
            let of = |&channel: &usize| (0..per_filter).map(move |at| (channel / per_group * per_filter + at) as i64);
            let taken: Vec<i64> = channels.iter().flat_map(of).collect();
            self.constants.push(Proto::constant(
                &name("read"),
                ElementKind::Integer64,
                &[taken.len()],
                &little(taken.iter().copied()),
            ));
            let gathered = Proto::node("Gather", &name("input"), &[&inputs[0], &name("read")], &name("input"));
            self.after.entry(number).or_default().push(gathered.attribute("axis", 1));
            name("input")
        };
        let [rows, columns] = conv.kernel;
        let mut weights = Vec::new();
        for &filter in channels {
            for within in 0..per_filter {
                let channel = filter / per_group * per_filter + within;
                for tap in 0..rows * columns {
                    weights.push(conv.weights[(tap * read + channel) * per_group + filter % per_group] as u8);
                }
            }
        }
        let of = |numbers: &dyn Fn(usize) -> [u8; 4]| {
            channels.iter().flat_map(|&filter| numbers(filter)).collect::<Vec<u8>>()
        };
        let count = channels.len();
        let constants = [
            (name("weight"), ElementKind::Signed8, vec![count, per_filter, rows, columns], weights),
            (name("scale"), ElementKind::Float, vec![count], of(&|filter| conv.scales[filter].to_le_bytes())),
            (name("zero"), ElementKind::Signed8, vec![count], vec![0; count]),
            (name("bias"), ElementKind::Integer32, vec![count], of(&|filter| conv.bias[filter].to_le_bytes())),
            (name("maps"), ElementKind::Integer64, vec![count], little(channels.iter().map(|&it| it as i64))),
        ];
        self.constants
            .extend(constants.iter().map(|(name, kind, sizes, data)| Proto::constant(name, *kind, sizes, data)));
        let [weight, scale, zero, bias, maps] = constants.each_ref().map(|it| it.0.as_str());
        let inputs = [&source, &inputs[1], &inputs[2], weight, scale, zero, &inputs[6], &inputs[7], bias];
        let node = Proto::node("QLinearConv", &name("duplicate"), &inputs, &name("duplicate"));
        let groups = if conv.groups == 1 { 1 } else { count as u64 };
        self.after.entry(number).or_default().push(node.attribute("group", groups));

        let [original, mine, theirs, equal, unequal, flags, flag] =
            ["original", "mine", "theirs", "equal", "unequal", "flags", "flag"].map(name);
        self.last.extend([
            Proto::node("Gather", &original, &[output, maps], &original).attribute("axis", 1),
            Proto::node("Cast", &mine, &[&original], &mine).attribute("to", ElementKind::Integer32 as u64),
            Proto::node("Cast", &theirs, &[&name("duplicate")], &theirs).attribute("to", ElementKind::Integer32 as u64),
            Proto::node("Equal", &equal, &[&mine, &theirs], &equal),
            Proto::node("Not", &unequal, &[&equal], &unequal),
            Proto::node("Cast", &flags, &[&unequal], &flags).attribute("to", ElementKind::Float as u64),
            Proto::node("ReduceMax", &flag, &[&flags], &flag).attribute("keepdims", 0),
        ]);
        self.flags.push(flag);
    }

    /// The signal: a flag is above 0, or the margin of the class is too small.
    fn signal(
        &mut self,
        logits: &str,
        quantisation: Option<Quantisation>,
        margin: Option<f64>,
    ) -> Result<(), FileError> {
        let name = |part: &str| format!("{PREFIX}{part}");
        let mut parts: Vec<String> = Vec::new();
        if !self.flags.is_empty() {
            let (most, half, mismatch) = (name("most"), name("half"), name("mismatch"));
            let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
            self.last.push(Proto::node("Max", &most, &flags, &most));
            self.last.push(Proto::node("Greater", &mismatch, &[&most, &half], &mismatch));
            self.constants.push(Proto::constant(&half, ElementKind::Float, &[], &0.5_f32.to_le_bytes()));
            parts.push(mismatch);
        }
        if let Some(margin) = margin {
            let Some(Quantisation { scale, zero }) = quantisation else {
                return Err(content(format!("the output `{logits}`"), "nothing makes it"));
            };
            let [values, softmax, two, first, second, difference, low, least, count, zeroth, one] = [
                "values",
                "softmax",
                "two",
                "first",
                "second",
                "difference",
                "low",
                "margin",
                "count",
                "zeroth",
                "one",
            ]
            .map(name);
            let [ranks, scale_name, zero_name] = ["ranks", "scale", "zero"].map(name);
            self.constants.extend([
                Proto::constant(&scale_name, ElementKind::Float, &[], &scale.to_le_bytes()),
                Proto::constant(&zero_name, ElementKind::Unsigned8, &[], &[zero]),
                Proto::constant(&least, ElementKind::Float, &[], &(margin as f32).to_le_bytes()),
                Proto::constant(&count, ElementKind::Integer64, &[1], &little([2])),
                Proto::constant(&zeroth, ElementKind::Integer64, &[], &little([0])),
                Proto::constant(&one, ElementKind::Integer64, &[], &little([1])),
            ]);
            let largest = Proto::node("TopK", &two, &[&softmax, &count], &two).bytes(2, &ranks);
            self.last.extend([
                Proto::node("DequantizeLinear", &values, &[logits, &scale_name, &zero_name], &values),
                Proto::node("Softmax", &softmax, &[&values], &softmax).attribute("axis", 1),
                largest.attribute("axis", 1),
                Proto::node("Gather", &first, &[&two, &zeroth], &first).attribute("axis", 1),
                Proto::node("Gather", &second, &[&two, &one], &second).attribute("axis", 1),
                Proto::node("Sub", &difference, &[&first, &second], &difference),
                Proto::node("Less", &low, &[&difference, &least], &low),
            ]);
            parts.push(low);
        }
        let last = match &parts[..] {
            [] => return Err(content("the protection", "it has neither feature maps nor a margin")),
            [only] => {
                let one = name("shape");
                self.constants.push(Proto::constant(&one, ElementKind::Integer64, &[1], &little([-1])));
                Proto::node("Reshape", &name("signal"), &[only, &one], SIGNAL)
            }
            [a, b, ..] => Proto::node("Or", &name("signal"), &[a, b], SIGNAL),
        };
        self.last.push(last);
        Ok(())
    }
}

/// The bytes of a file with what is added.
fn written(bytes: &[u8], mut added: Added) -> Vec<u8> {
    let model = fields(bytes).into_iter().fold(Proto::default(), |model, field| match field.number {
        GRAPH => model.bytes(GRAPH, graph(&field, &mut added)),
        _ => model.raw(field.whole),
    });
    model.into_bytes()
}

fn graph(of: &Field<'_>, added: &mut Added) -> Proto {
    let (mut graph, mut number) = (Proto::default(), 0);
    for field in fields(of.held) {
        graph = graph.raw(field.whole);
        if field.number == NODE {
            for node in added.after.remove(&number).unwrap_or_default() {
                graph = graph.bytes(NODE, with_windows(node, field.held));
            }
            number += 1;
        }
    }
    let graph = added.last.iter().fold(graph, |graph, node| graph.bytes(NODE, node));
    let graph = added.constants.iter().fold(graph, |graph, constant| graph.bytes(5, constant));
    graph.bytes(12, Proto::output(SIGNAL, ElementKind::Boolean))
}

/// A duplicate with the windows of its original: all attributes but the number of groups, which it has already.
fn with_windows(node: Proto, original: &[u8]) -> Proto {
    let is_conv = fields(node.as_ref()).iter().any(|field| field.number == 4 && field.held == b"QLinearConv");
    if !is_conv {
        return node;
    }
    let is_group = |field: &Field<'_>| fields(field.held).iter().any(|it| it.number == 1 && it.held == b"group");
    let attributes = fields(original).into_iter().filter(|field| field.number == ATTRIBUTE && !is_group(field));
    let domain = fields(original).into_iter().filter(|field| field.number == 7);
    attributes.chain(domain).fold(node, |node, field| node.raw(field.whole))
}
