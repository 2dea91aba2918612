//! Functions, products, holes, padding and Softmax of files of floating point: held against ONNX Runtime, hit, and refused.

use nn::ValueFormat;
use nn::file::{read_float, with_external_data};
use nn::float::{FloatNetwork, FloatOperator, float_forward};
use stats::Draws;
use std::path::Path;

use crate::floats::agree_of_hits;

/// Files with an input and every tensor that ONNX Runtime makes of it; `crates/nn/train/operators.py` writes both.
const FILES: [(&[u8], &[u8]); 4] = [
    (include_bytes!("../vectors/activations.onnx"), include_bytes!("../vectors/activations.f32")),
    (include_bytes!("../vectors/excitation.onnx"), include_bytes!("../vectors/excitation.f32")),
    (include_bytes!("../vectors/rows.onnx"), include_bytes!("../vectors/rows.f32")),
    (include_bytes!("../vectors/exported.onnx"), include_bytes!("../vectors/exported.f32")),
];

fn opened(number: usize, format: ValueFormat) -> (FloatNetwork, Vec<f32>) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors");
    let file = with_external_data(FILES[number].0.to_vec(), Path::new(folder)).unwrap();
    let network = read_float("made", &file, format).unwrap();
    (network, FILES[number].1.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect())
}

#[test]
fn every_tensor_is_near_that_of_onnx_runtime_also_where_values_have_16_bits() {
    for (format, bound) in [(ValueFormat::Fp32, 2e-6), (ValueFormat::Fp16, 5e-3), (ValueFormat::Bf16, 5e-2)] {
        for number in 0..FILES.len() {
            let (network, values) = opened(number, format);
            let run = float_forward(&network, &values[..network.tensors()[0].shape.elements()], None);
            let mut expected = &values[..];
            for (at, tensor) in run.tensors.iter().enumerate() {
                let expected = expected.split_off(..tensor.len()).unwrap();
                let scale = expected.iter().fold(0.0_f32, |scale, value| scale.max(value.abs()));
                let error = tensor.iter().zip(expected).fold(0.0_f32, |error, (a, b)| error.max((a - b).abs())) / scale;
                assert!(error < bound, "{format:?}, file {number}, tensor {at}: {error:e} of the largest value");
            }
            assert!(expected.is_empty());
        }
    }
}

#[test]
fn functions_end_the_layer_before_them_unless_another_reads_it_and_pads_are_those_of_the_convolution() {
    let (network, _) = opened(1, ValueFormat::Fp32);
    let layers: Vec<_> = network
        .topology()
        .layouts()
        .zip(network.layers())
        .map(|(layout, layer)| (layout.name, layout.class, layer.activation.map(|it| it.function.operator())))
        .collect();
    let expected = [
        ("c1", "conv", None),
        ("c1.sigmoid", "activation", Some("Sigmoid")),
        ("silu", "mul", None),
        ("c2", "depthwise", Some("HardSwish")),
        ("squeeze", "pool", None),
        ("s1", "conv", Some("Relu")),
        ("s2", "conv", Some("HardSigmoid")),
        ("excite", "mul", None),
        ("excite2", "mul", None),
        ("c3", "conv", Some("Mul")),
        ("pool", "pool", None),
        ("fc", "dense", None),
        ("softmax", "softmax", None),
    ];
    assert_eq!(layers, expected);
    assert_eq!(network.layers()[0].conv().unwrap().window.pad, [0, 1]);
    assert!(network.layers().iter().any(|layer| layer.operator == FloatOperator::Softmax));
}

#[test]
fn hits_of_these_operators_change_what_a_whole_run_changes_in_every_tensor() {
    for format in ValueFormat::ALL {
        for number in 0..FILES.len() {
            let (network, values) = opened(number, format);
            let image = &values[..network.tensors()[0].shape.elements()];
            let differing = agree_of_hits(&network, image, 600, &mut Draws::new(3, number as u64));
            assert!((150..600).contains(&differing), "{differing}");
        }
    }
}

/// A field of protobuf that is bytes, each shorter than 16 KiB.
pub(crate) fn data(field: u8, bytes: &[u8]) -> Vec<u8> {
    [&[field << 3 | 2, bytes.len() as u8 | 0x80, (bytes.len() >> 7) as u8], bytes].concat()
}

/// A field of protobuf that is a whole number.
pub(crate) fn number(field: u8, number: i64) -> Vec<u8> {
    let mut made = vec![field << 3 | 0x80, field >> 4];
    for shift in 0..10 {
        made.push((number as u64 >> (7 * shift)) as u8 & 0x7f | if shift < 9 { 0x80 } else { 0 });
    }
    made
}

/// A node of `x` and of others that it reads, with attributes in bytes; the last of the nodes makes `y`.
pub(crate) fn node(operator: &str, inputs: &[&str], output: &str, attributes: &[Vec<u8>]) -> Vec<u8> {
    let inputs = inputs.iter().flat_map(|input| data(1, input.as_bytes()));
    let attributes = attributes.iter().flat_map(|attribute| data(5, attribute));
    let names = [data(2, output.as_bytes()), data(3, output.as_bytes()), data(4, operator.as_bytes())].concat();
    data(1, &inputs.chain(names).chain(attributes).collect::<Vec<u8>>())
}

pub(crate) fn whole(key: &str, value: i64) -> Vec<u8> {
    [data(1, key.as_bytes()), number(3, value), number(20, 2)].concat()
}

fn real(key: &str, value: f32) -> Vec<u8> {
    [&data(1, key.as_bytes())[..], &[2 << 3 | 5], &value.to_le_bytes(), &number(20, 1)].concat()
}

fn text(key: &str, value: &str) -> Vec<u8> {
    [data(1, key.as_bytes()), data(4, value.as_bytes()), number(20, 3)].concat()
}

pub(crate) fn list(key: &str, values: &[i64]) -> Vec<u8> {
    let values = values.iter().flat_map(|&value| number(8, value));
    [data(1, key.as_bytes()), values.collect(), number(20, 7)].concat()
}

/// A constant of floating point with one size.
fn constant(name: &str, values: &[f32]) -> Vec<u8> {
    data(5, &[tensor(values), data(8, name.as_bytes())].concat())
}

fn tensor(values: &[f32]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    [number(1, values.len() as i64), number(2, 1), data(9, &bytes)].concat()
}

/// A file of nodes that read `x`, of 2 channels, 3 rows and 3 columns, and of which the last makes `y`.
pub(crate) fn file(parts: &[Vec<u8>]) -> Vec<u8> {
    file_of(&[1, 2, 3, 3], parts)
}

/// The same with an input of other sizes.
pub(crate) fn file_of(input: &[i64], parts: &[Vec<u8>]) -> Vec<u8> {
    let value = |name: &str, sizes: &[i64]| {
        let sizes = sizes.iter().flat_map(|&size| data(1, &number(1, size)));
        let of = data(1, &[number(1, 1), data(2, &sizes.collect::<Vec<u8>>())].concat());
        [data(1, name.as_bytes()), data(2, &of)].concat()
    };
    let constants = [constant("pair", &[2.0, 3.0]), constant("half", &[0.5])].concat();
    let ends = [data(11, &value("x", input)), data(12, &value("y", &[1, 2]))].concat();
    data(7, &[parts.concat(), constants, ends].concat())
}

pub(crate) fn refused(parts: &[Vec<u8>]) -> String {
    read_float("made", &file(parts), ValueFormat::Fp32).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_computed_is_named_with_what_to_do() {
    let sizes = || [node("GlobalAveragePool", &["x"], "g", &[]), node("Flatten", &["g"], "f", &[])].concat();
    let padded = |attributes: &[Vec<u8>]| vec![node("Pad", &["x"], "p", attributes), node("Relu", &["p"], "y", &[])];
    let around = |pads: [i64; 8]| list("pads", &pads);
    let softmax = |input: &str, axis: &[Vec<u8>]| vec![sizes(), node("Softmax", &[input], "y", axis)];
    let cases = [
        (vec![node("HardSigmoid", &["x"], "y", &[real("alpha", f32::NAN)])], "the node `y`: one of its numbers is NaN"),
        (vec![node("Elu", &["x"], "y", &[])], "nothing here computes `Elu` (node `y`; 1 of them); it computes Conv, "),
        (
            vec![node("Mul", &["x", "pair"], "y", &[])],
            "the node `y`: a constant factor is one number, found [2] of them",
        ),
        (
            vec![sizes(), node("Mul", &["x", "f"], "y", &[])],
            "one of its inputs has rows and columns, and the other has none",
        ),
        (
            vec![node("MaxPool", &["x"], "m", &[list("kernel_shape", &[2, 2])]), node("Mul", &["x", "m"], "y", &[])],
            "the node `y`: it multiplies 2 x 3 x 3 by 2 x 2 x 2 (channels x rows x columns); expected equal sizes, or 1 row",
        ),
        (softmax("x", &[whole("axis", 1)]), "the node `y`: it has the axis 1 and reads [1, 2, 3, 3] elements"),
        (softmax("g", &[]), "the node `y`: it has no axis and reads"),
        (softmax("f", &[whole("axis", 0)]), "it has the axis 0 and reads"),
        (padded(&[text("mode", "reflect")]), "the node `p`: `mode`: expected `constant` and zeros, found `reflect`"),
        (padded(&[around([0, 1, 0, 0, 0, 0, 0, 0])]), "the node `p`: expected zeros before and after rows and columns"),
        (
            padded(&[around([0, 0, -1, 0, 0, 0, 0, 0])]),
            "the node `p`: expected zeros before and after rows and columns",
        ),
        (padded(&[around([0, 0, 1, 1, 0, 0, 1, 1]), real("value", 1.0)]), "found [0, 0, 1, 1, 0, 0, 1, 1] of 1"),
        (
            padded(&[around([0, 0, 1, 1, 0, 0, 1, 1])]),
            "the node `y`: it reads `p`, which a Pad makes; a Conv reads such",
        ),
        (
            vec![node("Relu", &["x"], "r", &[]), node("Pad", &["r"], "y", &[around([0, 0, 1, 1, 0, 0, 1, 1])])],
            "the output `y`: it is not what the last node makes",
        ),
        (
            vec![node("MaxPool", &["x"], "y", &[list("kernel_shape", &[2, 2]), list("dilations", &[3, 1])])],
            "the node `y`: windows of [2, 2] with dilations of [3, 1] are larger than their input",
        ),
    ];
    for (parts, expected) in cases {
        let said = refused(&parts);
        assert!(said.contains(expected), "{said}\nexpected {expected}");
    }
}

#[test]
fn factors_may_stand_first_or_be_made_by_a_node_and_a_softmax_may_follow_an_average_without_being_flattened() {
    let read = |parts: &[Vec<u8>]| read_float("made", &file(parts), ValueFormat::Fp32).unwrap();
    let image: Vec<f32> = (0_u8..18).map(f32::from).collect();
    let halves = float_forward(&read(&[node("Mul", &["half", "x"], "y", &[])]), &image, None);
    assert!(halves.logits().iter().zip(&image).all(|(made, value)| *made == value / 2.0));
    let attribute = [&b"\x0a\x05value"[..], &data(5, &tensor(&[0.5])), &number(20, 4)].concat();
    let made = [node("Constant", &[], "c", &[attribute]), node("Mul", &["x", "c"], "y", &[])];
    assert_eq!(float_forward(&read(&made), &image, None).logits(), halves.logits());
    let parts = [node("GlobalAveragePool", &["x"], "g", &[]), node("Softmax", &["g"], "y", &[whole("axis", 1)])];
    let shares = float_forward(&read(&parts), &image, None);
    let odd = 1.0_f32.exp() / (1.0 + 1.0_f32.exp());
    assert!((shares.logits()[1] - odd).abs() < 1e-6 && (shares.logits()[0] + odd - 1.0).abs() < 1e-6);
}

#[test]
fn a_function_behind_one_of_several_names_of_a_tensor_leaves_the_others_alone() {
    let read = |parts: &[Vec<u8>]| read_float("made", &file(parts), ValueFormat::Fp32).unwrap();
    let image: Vec<f32> = (0_u8..18).map(|it| f32::from(it) / 10.0).collect();
    let names = [node("GlobalAveragePool", &["x"], "g", &[]), node("Flatten", &["g"], "f", &[])].concat();
    let parts = [
        names,
        node("Tanh", &["f"], "t", &[]),
        node("Flatten", &["g"], "f2", &[]),
        node("Relu", &["f2"], "r", &[]),
        node("Mul", &["t", "r"], "y", &[]),
    ];
    let average = [node("GlobalAveragePool", &["x"], "y", &[])];
    let average = float_forward(&read(&average), &image, None).logits().to_vec();
    let found = float_forward(&read(&parts), &image, None).logits().to_vec();
    assert!(
        found.iter().zip(&average).all(|(found, it)| (found - it.tanh() * it).abs() < 1e-6),
        "{found:?} {average:?}"
    );
}

#[test]
fn an_attribute_without_its_number_is_zero() {
    let none = [data(1, b"alpha"), number(20, 1)].concat();
    let leaky = |attributes: &[Vec<u8>]| {
        let bytes = file(&[node("LeakyRelu", &["x"], "y", attributes)]);
        let network = read_float("made", &bytes, ValueFormat::Fp32).unwrap();
        float_forward(&network, &[-1.0; 18], None).logits()[0]
    };
    assert_eq!([leaky(&[]), leaky(&[none])], [-0.01, 0.0]);
}

#[test]
fn files_with_other_bytes_never_panic() {
    let mut draws = Draws::new(9, 0);
    let mut pick = |below: usize| draws.below(below as u64).unwrap() as usize;
    for (file, _) in FILES {
        for _ in 0..3000 {
            let mut bytes = file.to_vec();
            for _ in 0..=pick(3) {
                let at = pick(bytes.len());
                bytes[at] = pick(256) as u8;
            }
            let _ = read_float("damaged", &bytes, ValueFormat::Fp16);
        }
    }
}
