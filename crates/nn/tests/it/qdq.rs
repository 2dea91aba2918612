//! A network in the form QDQ, as ONNX Runtime's quantiser writes it, is what ONNX Runtime makes of it.

use nn::delta::Delta;
use nn::file::read_network;
use nn::forward::forward;
use nn::hit::Hit;
use nn::network::Network;
use stats::Draws;

use crate::kit::{agree, fashion, flip};

const FILE: &[u8] = include_bytes!("../vectors/fashion-qdq.onnx");

const POOLS: &[u8] = include_bytes!("../vectors/pools-qdq.onnx");

fn network() -> Network {
    read_network("fashion", FILE).unwrap()
}

/// Compares the tensors of two images, and the logits of all, with what ONNX Runtime made of a file.
fn check(network: &Network, packed: &[u8], flattened: &str) {
    let expected = zstd::bulk::decompress(packed, 1 << 20).unwrap();
    let mut expected = &expected[..];
    let mut next = |count: usize| expected.split_off(..count).unwrap();
    for image in 0..2 {
        let run = forward(network, fashion().images().pixels(image), None);
        for (number, tensor) in run.tensors.iter().enumerate() {
            assert_eq!(next(tensor.len()), tensor, "tensor {number} of image {image}");
            if network.layers().get(number.wrapping_sub(1)).is_some_and(|layer| layer.name == flattened) {
                // ONNX flattens channel by channel.
                let shape = network.tensors()[number].shape;
                let channel = |channel: usize| tensor[channel..].iter().step_by(shape.channels).copied();
                let flat: Vec<u8> = (0..shape.channels).flat_map(channel).collect();
                assert_eq!(next(tensor.len()), flat, "what is flattened");
            }
        }
    }
    for image in 0..1000 {
        let run = forward(network, fashion().images().pixels(image), None);
        assert_eq!(next(10), run.logits(), "image {image}");
    }
    assert!(expected.is_empty());
}

#[test]
fn every_tensor_of_two_images_and_all_logits_are_those_of_onnx_runtime() {
    let network = network();
    let names: Vec<&str> = network.layers().iter().map(|layer| layer.name.as_str()).collect();
    assert_eq!(names, ["c1", "c2", "c3", "c4", "add", "dw", "pw", "c5", "gap", "fc"]);
    check(&network, include_bytes!("../vectors/fashion-qdq.zst"), "gap");
}

#[test]
fn a_stack_of_convolutions_and_pools_is_what_onnx_runtime_makes_of_it() {
    // Two of its convolutions end in a Clip: one has both bounds, one has none above.
    let network = read_network("stack", POOLS).unwrap();
    let classes: Vec<&str> = network.layers().iter().map(|layer| layer.class()).collect();
    assert_eq!(classes, ["conv", "pool", "conv", "pool", "conv", "pool", "dense"]);
    check(&network, include_bytes!("../vectors/pools-qdq.zst"), "pool2");
}

#[test]
fn signed_bytes_and_an_input_that_is_quantised_are_what_onnx_runtime_makes_of_them() {
    let network = read_network("signed", include_bytes!("../vectors/signed-qdq.onnx")).unwrap();
    // Numbers from 0 to 1 in steps of 2/255, of which 0 is the byte 40.
    assert_eq!([0, 1, 2, 255].map(|byte| network.input_byte(byte)), [40, 40, 41, 167]);
    check(&network, include_bytes!("../vectors/signed-qdq.zst"), "pool2");
    let (weights, bias) = (network.layers()[0].conv().unwrap().scales[0], network.tensors()[0].quantisation.scale);
    let (expected, found) = (weights * bias, weights);
    let error = said_of(include_bytes!("../vectors/signed-qdq.onnx"), &expected.to_le_bytes(), &found.to_le_bytes());
    assert_eq!(
        error,
        format!(
            "read the node `conv0`: the scale of its bias is {found}; expected {expected}, the product of the scales of its input and its weights"
        )
    );
}

#[test]
fn average_pools_and_tensors_of_unequal_scales_that_are_joined_are_what_onnx_runtime_makes_of_them() {
    let network = read_network("mixed", include_bytes!("../vectors/mixed-qdq.onnx")).unwrap();
    let opcodes: Vec<&str> = network.layers().iter().map(|layer| layer.opcode.as_str()).collect();
    let (pool, join) = ("QLinearAveragePool", "QLinearConcat");
    let conv = "QLinearConv";
    assert_eq!(opcodes, [conv, pool, pool, "MaxPool", conv, join, conv, conv, join, pool, pool, "QGemm"]);
    for layer in network.layers().iter().filter(|layer| layer.opcode == join) {
        let quantisation = |which: usize| network.tensors()[layer.inputs[which]].quantisation;
        assert_ne!(quantisation(0), quantisation(1), "{}", layer.name);
    }
    check(&network, include_bytes!("../vectors/mixed-qdq.zst"), "a4");
    changes_are_those_of_whole_runs(&network);
}

/// Compares what neurons of all layers change with whole runs; says how often the logits differ.
fn changes_are_those_of_whole_runs(network: &Network) -> usize {
    let (mut delta, mut differing) = (Delta::new(network), 0);
    for run in 0..3000 {
        let mut draws = Draws::new(37, run);
        let pixels = fashion().images().pixels(draws.below(1000).unwrap() as usize);
        let layer = draws.below(network.layers().len() as u64).unwrap() as usize;
        let element = draws.below(network.output(layer).shape.elements() as u64).unwrap() as usize;
        let hit = Hit::neuron(layer, element, flip(draws.below(8).unwrap() as u32));
        differing += usize::from(agree(network, &mut delta, pixels, &forward(network, pixels, None), &hit));
    }
    differing
}

/// Functions of one number, gates as either factor, squares, SiLU and HardSwish, and averages by ReduceMean.
const GATED: &[u8] = include_bytes!("../vectors/gated-qdq.onnx");

#[test]
fn tensors_with_and_without_rows_and_columns_are_not_taken_for_pairs() {
    // ONNX joins [1, 16] and [1, 16, 1, 1] to [1, 16, 1, 16].
    let [from, to] = ["hidden.gate", "second.more"].map(|name| format!("{name}_DequantizeLinear_Output").into_bytes());
    let at = GATED.windows(from.len()).rposition(|bytes| bytes == from).unwrap();
    let file = [&GATED[..at], &to, &GATED[at + from.len()..]].concat();
    let said = read_network("joined", &file).unwrap_err().to_string();
    assert!(said.contains("the node `hidden`: one of its two tensors has rows and columns"), "{said}");
}

#[test]
fn gates_and_functions_of_one_number_are_what_onnx_runtime_makes_of_them() {
    let network = read_network("gated", GATED).unwrap();
    let of_class = |class: &str| -> Vec<String> {
        let layers = network.layers().iter().filter(|layer| layer.class() == class);
        layers.map(|layer| format!("{} {}", layer.name, layer.opcode)).collect()
    };
    let functions = [
        "leaky QLinearLeakyRelu",
        "silu.gate QLinearSigmoid",
        "first HardSigmoid",
        "swish.gate HardSigmoid",
        "second QLinearSigmoid",
        "tanh Tanh",
        "hard HardSwish",
        // HardSigmoid and Mul with nothing that quantises in between.
        "split HardSwish",
        "erf Erf",
        "hidden.gate HardSigmoid",
    ];
    assert_eq!(of_class("activation"), functions);
    let products = ["silu", "excited", "swish", "again", "square", "hidden"].map(|name| format!("{name} QLinearMul"));
    assert_eq!(of_class("mul"), products);
    assert_eq!(of_class("pool"), ["first.mean QLinearGlobalAveragePool", "second.mean ReduceMean", "flat ReduceMean"]);
    check(&network, include_bytes!("../vectors/gated-qdq.zst"), "");
    let differing = changes_are_those_of_whole_runs(&network);
    assert!((300..2900).contains(&differing), "{differing}");
}

#[test]
fn gates_of_signed_bytes_are_what_onnx_runtime_makes_of_them() {
    let network = read_network("gated", include_bytes!("../vectors/gated-signed.onnx")).unwrap();
    check(&network, include_bytes!("../vectors/gated-signed.zst"), "");
    changes_are_those_of_whole_runs(&network);
}

#[test]
fn gates_in_the_form_of_operators_are_what_onnx_runtime_makes_of_them() {
    let network = read_network("gated", include_bytes!("../vectors/gated-qop.onnx")).unwrap();
    let opcodes: Vec<&str> = network.layers().iter().map(|layer| layer.opcode.as_str()).collect();
    for expected in ["QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu", "HardSigmoid", "HardSwish", "ReduceMean"] {
        assert!(opcodes.contains(&expected), "{expected}");
    }
    check(&network, include_bytes!("../vectors/gated-qop.zst"), "");
    changes_are_those_of_whole_runs(&network);
}

#[test]
fn products_and_functions_that_are_not_computed_are_named() {
    let alpha = said_of(GATED, &0.1_f32.to_le_bytes(), &f32::NAN.to_le_bytes());
    assert_eq!(alpha, "read the node `leaky`: one of its numbers is NaN; expected finite ones");
    // Another factor than a sixth is no HardSwish, and what is between HardSigmoid and Mul is then not quantised.
    let sixth = said_of(GATED, &(1.0_f32 / 6.0).to_le_bytes(), &0.2_f32.to_le_bytes());
    let expected =
        "read the node `split.gate`: nothing quantises what it makes, so that it is not fused; floats are not computed";
    assert_eq!(sixth, expected);
}

/// The answer about the file with some bytes replaced by as many others, everywhere.
fn said(from: &[u8], to: &[u8]) -> String {
    said_of(FILE, from, to)
}

/// The answer about another file, likewise.
fn said_of(file: &[u8], from: &[u8], to: &[u8]) -> String {
    let mut bytes = file.to_vec();
    let at: Vec<usize> = (0..bytes.len() - from.len()).filter(|&at| bytes[at..].starts_with(from)).collect();
    assert!(!at.is_empty() && from.len() == to.len());
    for at in at {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    read_network("fashion", &bytes).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_fused_is_named() {
    let unknown = said(b"\x04Relu", b"\x04Selu");
    assert!(
        unknown.starts_with("run the network: nothing here computes `Selu` (node `c1.relu`; 3 of them); it computes"),
        "{unknown}"
    );
    let floats = said(b"\x0a\x02c5\x0a\x08c5_scale", b"\x0a\x02cX\x0a\x08c5_scale");
    let expected =
        "read the node `c5`: nothing quantises what it makes, so that it is not fused; floats are not computed";
    assert_eq!(floats, expected);
    let shape = said(b"\x0a\x02\x08\x1c\x0a\x02\x08\x1c", b"\x0a\x02\x12\x00\x0a\x02\x12\x00");
    assert!(
        shape.contains("expected a batch of 1 and sizes that are known, found 1 x 1 x unknown x unknown"),
        "{shape}"
    );
    // With 0 stored as another byte, the clamp is no Relu.
    let zero = said(b"*\x01\x00B\x0dc1_zero_point", b"*\x01\x05B\x0dc1_zero_point");
    assert!(zero.ends_with("and 0 is stored as 5; expected 0"), "{zero}");
}

#[test]
fn bounds_that_are_not_those_of_bytes_are_refused() {
    let network = read_network("stack", POOLS).unwrap();
    let quantisation = network.output(2).quantisation;
    let greatest = quantisation.value(255);
    let bound = |name: &[u8], value: f32| [b"B\x09", name, b"J\x04", &value.to_le_bytes()].concat();
    let high = |value: f32| said_of(POOLS, &bound(b"conv1.max", greatest), &bound(b"conv1.max", value));
    let half = high(greatest / 2.0);
    let expected = format!(
        "read the node `conv1.clip`: it is fused to the clamp of bytes, and {} is stored as 128; expected 255",
        greatest / 2.0
    );
    assert_eq!(half, expected);
    assert_eq!(high(f32::NAN), "read the constant `conv1.max`: a bound is one number, found [NaN]");
    let low = |value: f32| said_of(POOLS, &bound(b"conv2.min", 0.0), &bound(b"conv2.min", value));
    assert!(low(1.0).ends_with("expected 0"), "{}", low(1.0));
    let missing = said_of(POOLS, b"B\x09conv1.max", b"B\x09conv1.mux");
    assert_eq!(missing, "read the constant `conv1.max`: the file does not hold it");
    // A bound that no byte reaches bounds nothing.
    let (mut wide, exact) = (POOLS.to_vec(), bound(b"conv1.max", greatest));
    let at = wide.windows(exact.len()).position(|bytes| bytes == exact).unwrap();
    wide[at..at + exact.len()].copy_from_slice(&bound(b"conv1.max", 1000.0));
    assert_eq!(read_network("stack", &wide).unwrap().layers(), network.layers());
}

#[test]
fn numbers_that_are_no_scales_are_refused() {
    // The scale of the first layer's output, wherever the file has its bytes.
    let scale = network().output(0).quantisation.scale.to_le_bytes();
    let error = said(&scale, &f32::NAN.to_le_bytes());
    assert!(error.contains("a scale is finite and above 0, found NaN"), "{error}");
}
