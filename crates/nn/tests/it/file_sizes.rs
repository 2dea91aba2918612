//! Nodes of files whose axes are those of the file, not those of what is stored; and whole numbers that are computed of sizes.

use nn::ValueFormat;
use nn::file::read_float;
use nn::float::{FloatNetwork, float_forward};
use nn::network::Shape;

use crate::float_operators::{data, file, file_of, list, node, number, refused, whole};

/// A constant that a node makes: whole numbers, or numbers of floating point.
fn made(name: &str, dims: &[i64], kind: i64, bytes: &[u8]) -> Vec<u8> {
    let sizes = dims.iter().flat_map(|&size| number(1, size));
    let tensor = [sizes.collect(), number(2, kind), data(9, bytes)].concat();
    node("Constant", &[], name, &[[data(1, b"value"), data(5, &tensor), number(20, 4)].concat()])
}

fn wholes(name: &str, values: &[i64]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    made(name, &[values.len() as i64], 7, &bytes)
}

/// `x` reshaped, or what another node makes.
fn reshaped(from: &str, to: &str, sizes: &[i64]) -> Vec<u8> {
    let said = format!("{to}.sizes");
    [wholes(&said, sizes), node("Reshape", &[from, &said], to, &[])].concat()
}

fn read(parts: &[Vec<u8>]) -> FloatNetwork {
    read_float("made", &file(parts), ValueFormat::Fp32).unwrap()
}

fn run(network: &FloatNetwork) -> Vec<f32> {
    let image: Vec<f32> = (0_u8..18).map(f32::from).collect();
    float_forward(network, &image, None).logits().to_vec()
}

fn last(network: &FloatNetwork) -> Shape {
    network.tensors().last().unwrap().shape
}

fn average() -> Vec<u8> {
    node("GlobalAveragePool", &["x"], "g", &[])
}

#[test]
fn the_axis_of_a_softmax_is_one_of_the_file() {
    let of = |sizes: &[i64], axis: i64| {
        vec![average(), reshaped("g", "r", sizes), node("Softmax", &["r"], "y", &[whole("axis", axis)])]
    };
    assert_eq!(run(&read(&of(&[2, 1], 1))), [1.0, 1.0]);
    let shares = run(&read(&of(&[1, 2, 1, 1], 1)));
    assert!(shares[0] < shares[1] && shares[0] + shares[1] == 1.0, "{shares:?}");
    for (sizes, axis) in [(&[1, 2, 1, 1][..], -3), (&[1, 2], -1), (&[2], 0), (&[2, 1], 0), (&[1, 1, 2], 2)] {
        assert_eq!(run(&read(&of(sizes, axis))), shares, "{sizes:?}");
    }
    for (sizes, axis) in [(&[1, 1, 2, 1][..], 1), (&[1, 2], 0)] {
        let said = refused(&of(sizes, axis));
        assert!(said.contains(&format!("the node `y`: it has the axis {axis} and reads {sizes:?} elements")), "{said}");
    }
}

#[test]
fn a_factor_of_each_channel_is_one_by_the_sizes_of_the_file() {
    let by = |first: &[i64], second: &[i64]| {
        let parts = [average(), reshaped("x", "a", first), reshaped("g", "b", second)].concat();
        vec![parts, node("Mul", &["a", "b"], "y", &[])]
    };
    // The input lies position-major; what is made has the averages 8 and 9 of its two channels.
    let expected: Vec<f32> = (0_u8..18).map(|at| f32::from(at) * [8.0, 9.0][usize::from(at % 2)]).collect();
    for network in [read(&by(&[1, 2, 9, 1], &[1, 2, 1, 1])), read(&[average(), node("Mul", &["g", "x"], "y", &[])])] {
        assert_eq!(run(&network), expected);
    }
    for (first, second, expected) in [
        (&[1, 2, 3, 3][..], &[1, 1, 1, 2][..], "it multiplies 2 x 3 x 3 by 1 x 1 x 2 (channels"),
        (&[1, 2, 3, 3], &[1, 1, 2, 1], "it multiplies 2 x 3 x 3 by 1 x 2 x 1 (channels"),
        (&[1, 1, 2, 9], &[1, 2, 1, 1], "it multiplies 1 x 2 x 9 by 2 x 1 x 1 (channels"),
        (&[1, 9, 2], &[1, 2, 1, 1], "it multiplies [1, 9, 2] by 2 x 1 x 1 (channels"),
    ] {
        let said = refused(&by(first, second));
        assert!(said.contains("the node `y`: ") && said.contains(expected), "{said}");
    }
}

#[test]
fn a_normalisation_of_other_channels_than_those_of_the_convolution_is_refused() {
    let weights: Vec<u8> = [1.0_f32, 2.0, 3.0, 4.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let conv = [made("w", &[2, 2, 1, 1], 1, &weights), node("Conv", &["x", "w"], "c", &[])].concat();
    let normal = |from: &str| node("BatchNormalization", &[from, "pair", "pair", "pair", "pair"], "y", &[]);
    assert_eq!(read(&[conv.clone(), normal("c")]).layers().len(), 1);
    let said = refused(&[conv, reshaped("c", "r", &[9, 2]), normal("r")]);
    assert!(said.contains("the node `y`: rows and columns were flattened before it"), "{said}");
}

#[test]
fn sizes_have_zeros_around_and_a_computed_list_of_one_index_keeps_its_axis() {
    let pads = list("pads", &[0, 0, 2, 0, 0, 0, 1, 0]);
    let height = [
        node("Pad", &["x"], "p", &[pads]),
        node("Shape", &["p"], "s", &[]),
        wholes("two", &[2]),
        wholes("free", &[-1]),
        node("Gather", &["s", "two"], "h", &[]),
    ]
    .concat();
    let sizes = node("Concat", &["h", "free"], "n", &[whole("axis", 0)]);
    let matrix = vec![
        height.clone(),
        sizes,
        node("Reshape", &["x", "n"], "r", &[]),
        node("Softmax", &["r"], "y", &[whole("axis", 1)]),
    ];
    assert_eq!(last(&read(&matrix)), Shape { height: 1, width: 6, channels: 3 });
    // The column 6 - 4 of each row.
    let column = vec![
        height.clone(),
        wholes("four", &[4]),
        node("Sub", &["h", "four"], "at", &[]),
        node("Gather", &["x", "at"], "r", &[whole("axis", 3)]),
        node("Softmax", &["r"], "y", &[whole("axis", 3)]),
    ];
    assert_eq!(last(&read(&column)), Shape { height: 2, width: 3, channels: 1 });
    // Nothing divides by an empty list.
    let none = vec![
        height,
        wholes("none", &[]),
        node("Div", &["h", "none"], "at", &[]),
        node("Reshape", &["x", "at"], "y", &[]),
    ];
    assert!(!refused(&none).is_empty());
}

#[test]
fn axes_beyond_the_last_or_said_twice_and_operators_of_others_are_refused() {
    let mean = |axes: &[i64]| refused(&[node("ReduceMean", &["x"], "y", &[list("axes", axes)])]);
    assert!(mean(&[2, 3, 7]).contains("the node `y`: it averages the axes [2, 3, 7] of [1, 2, 3, 3]"));
    assert!(mean(&[2, 3, 3]).contains("the node `y`: it averages the axes [2, 3, 3] of"));
    for operator in ["Squeeze", "Unsqueeze"] {
        let moved = node(operator, &["x"], "r", &[list("axes", &[0, 0])]);
        let said = refused(&[moved, node("Relu", &["r"], "y", &[])]);
        assert!(said.contains("the node `r`: its axes are none, come twice, or have several elements"), "{said}");
    }
    let relu = [data(1, b"x"), data(2, b"y"), data(3, b"y"), data(4, b"Relu"), data(7, b"my.domain")].concat();
    let said = refused(&[data(1, &relu)]);
    assert!(said.contains("the node `y`: its operator is one of `my.domain`; expected those of ONNX"), "{said}");
}

#[test]
fn a_view_that_does_not_fit_into_memory_is_refused_before_it_is_made() {
    for operator in ["Transpose", "Softmax"] {
        let file = file_of(&[1, 2, 40_000, 40_000], &[node(operator, &["x"], "y", &[whole("axis", -1)])]);
        let said = read_float("large", &file, ValueFormat::Fp32).unwrap_err().to_string();
        assert!(
            said.contains("the network `large`: its tensors and weights take ")
                && said.contains("may take 4294967296 bytes"),
            "{said}"
        );
    }
}
