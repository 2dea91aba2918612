//! A network so small that every result is written out.

use nn::arithmetic::Quantisation;
use nn::delta::Delta;
use nn::forward::{forward, top_class};
use nn::hit::Hit;
use nn::network::{Conv, Layer, Network, Operator, Shape, Tensor};

use crate::kit::{agree, flip};

const ONE: Quantisation = Quantisation { scale: 1.0, zero: 0 };
/// Two steps of an input are one of an output, and 0 is stored as 10.
const HALF: Quantisation = Quantisation { scale: 2.0, zero: 10 };

fn tensor(height: usize, width: usize, channels: usize, flat: bool, quantisation: Quantisation) -> Tensor {
    Tensor { shape: Shape { height, width, channels }, flat, quantisation }
}

/// A window of 2 x 2 over 3 x 3 bytes, and two logits: the sum of its results, and 12 less that.
fn network() -> Network {
    let window = Conv {
        kernel: [2, 2],
        stride: [1, 1],
        pad: [0, 0],
        groups: 1,
        weights: vec![1, 2, -1, 3],
        bias: vec![5],
        multipliers: vec![0.5],
        scales: vec![0.5],
    };
    let logits = Conv {
        kernel: [2, 2],
        stride: [1, 1],
        pad: [0, 0],
        groups: 1,
        weights: vec![1, -1, 1, -1, 1, -1, 1, -1],
        bias: vec![0, 12],
        multipliers: vec![2.0, 2.0],
        scales: vec![1.0; 2],
    };
    let layer = |name: &str, operator, input| Layer {
        name: name.to_owned(),
        opcode: "QLinearConv".to_owned(),
        operator,
        inputs: vec![input],
    };
    let tensors = vec![tensor(3, 3, 1, false, ONE), tensor(2, 2, 1, false, HALF), tensor(1, 1, 2, true, ONE)];
    let layers = vec![layer("window", Operator::Conv(window), 0), layer("logits", Operator::Dense(logits), 1)];
    Network::new("by hand".to_owned(), tensors, layers).unwrap()
}

const IMAGE: [u8; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 9];

#[test]
fn a_window_of_two_by_two_gives_what_is_written_here() {
    let run = forward(&network(), &IMAGE, None);
    // 1·1 + 2·2 - 1·4 + 3·5 + 5 = 21, and each step of the window adds 1 + 2 - 1 + 3 = 5; a row is three steps.
    assert_eq!(run.accumulators[0], [21, 26, 36, 41]);
    // Halves: 10.5 and 20.5 are ties and become even.
    assert_eq!(run.tensors[1], [10 + 10, 10 + 13, 10 + 18, 10 + 20]);
    assert_eq!(run.accumulators[1], [61, 12 - 61]);
    assert_eq!(run.logits(), [122, 0]);
    assert_eq!(top_class(run.logits()), 0);
}

#[test]
fn every_flip_of_the_first_result_gives_what_is_written_here() {
    let network = network();
    let golden = forward(&network, &IMAGE, None);
    let mut delta = Delta::new(&network);
    // 20 is 0b10100: bits 2 and 4 become zero, all others one. The sum of 61 changes as the byte does, and is doubled.
    let expected = [(21, 124), (22, 126), (16, 114), (28, 138), (4, 90), (52, 186), (84, 250), (148, 255)];
    for (bit, (byte, logit)) in expected.into_iter().enumerate() {
        let hit = Hit::neuron(0, 0, flip(bit as u32));
        assert!(agree(&network, &mut delta, &IMAGE, &golden, &hit));
        assert_eq!(delta.tensor(&golden, 1), [byte, 23, 28, 30], "bit {bit}");
        assert_eq!(delta.tensor(&golden, 2), [logit, 0], "bit {bit}");
    }
}

#[test]
fn padding_and_strides_read_what_they_should_and_no_more() {
    let conv = |pad, stride| Conv {
        kernel: [3, 3],
        stride: [stride; 2],
        pad: [pad; 2],
        groups: 1,
        weights: vec![1; 9],
        bias: vec![0],
        multipliers: vec![1.0],
        scales: vec![1.0],
    };
    // The zero point of the input is 1: padding counts as that, and adds nothing.
    let input = Quantisation { scale: 1.0, zero: 1 };
    let sums = |pad, stride, size: usize| {
        let logits = Conv {
            kernel: [size; 2],
            stride: [1; 2],
            pad: [0; 2],
            groups: 1,
            weights: vec![1; 2 * size * size],
            bias: vec![0; 2],
            multipliers: vec![1.0; 2],
            scales: vec![1.0; 2],
        };
        let tensors =
            vec![tensor(3, 3, 1, false, input), tensor(size, size, 1, false, ONE), tensor(1, 1, 2, true, ONE)];
        let layer = |name: &str, operator, input| Layer {
            name: name.to_owned(),
            opcode: String::new(),
            operator,
            inputs: vec![input],
        };
        let layers = vec![layer("a", Operator::Conv(conv(pad, stride)), 0), layer("b", Operator::Dense(logits), 1)];
        let network = Network::new("pads".to_owned(), tensors, layers).unwrap();
        forward(&network, &[2, 3, 4, 5, 6, 7, 8, 9, 10], None).tensors[1].clone()
    };
    assert_eq!(sums(0, 1, 1), [45]);
    assert_eq!(sums(1, 1, 3), [12, 21, 16, 27, 45, 33, 24, 39, 28]);
    assert_eq!(sums(1, 2, 2), [12, 16, 24, 28]);
}
