//! Networks of random shapes, strides, padding, groups and scales: what a hit changes is what a whole run gives.

use nn::arithmetic::Quantisation;
use nn::delta::Delta;
use nn::float::{Activation, ActivationFunction};
use nn::forward::forward;
use nn::hit::Hit;
use nn::network::{
    AveragePool, Conv, FunctionTable, Layer, Network, Operator, ProductTable, Shape, SumTable, Tensor, Window,
};
use stats::Draws;

use crate::kit::{agree, flip};

/// Scales of which products and sums are ties, and others.
const SCALES: [f32; 6] = [1.0, 0.5, 0.25, 2.0, 0.037, 0.11];

fn pick(draws: &mut Draws, from: usize, to: usize) -> usize {
    from + draws.below((to - from + 1) as u64).unwrap() as usize
}

fn quantisation(draws: &mut Draws) -> Quantisation {
    let zero = *draws.one_of(&[0, 0, 3, 128, 255]).unwrap();
    Quantisation { scale: *draws.one_of(&SCALES).unwrap(), zero }
}

/// A convolution over a tensor, with what it makes.
fn conv(draws: &mut Draws, input: &Tensor) -> (Conv, Tensor) {
    let shape = input.shape;
    let kernel = [pick(draws, 1, shape.height.min(4)), pick(draws, 1, shape.width.min(4))];
    let pad = kernel.map(|size| pick(draws, 0, size - 1));
    let stride = [pick(draws, 1, 3), pick(draws, 1, 3)];
    let windows = |draws: &mut Draws, axis: usize, size: usize| {
        let pads = pad[axis] + pick(draws, 0, kernel[axis] - 1);
        (size + pads - kernel[axis]) / stride[axis] + 1
    };
    let (height, width) = (windows(draws, 0, shape.height), windows(draws, 1, shape.width));
    let divisors: Vec<usize> = (1..=shape.channels).filter(|&groups| shape.channels.is_multiple_of(groups)).collect();
    let groups = *draws.one_of(&divisors).unwrap();
    let per_group = pick(draws, 1, 4);
    let channels = groups * per_group;
    let weights = (0..kernel[0] * kernel[1] * shape.channels * per_group).map(|_| draws.next() as i8).collect();
    let bias = (0..channels).map(|_| pick(draws, 0, 2000) as i32 - 1000).collect();
    // Powers of two make ties; small ones keep results within bytes.
    let multipliers =
        (0..channels).map(|_| *draws.one_of(&[0.5, 0.25, 0.0625, 0.015_625, 0.003, 0.01]).unwrap()).collect();
    let conv = Conv { kernel, stride, pad, groups, weights, bias, multipliers, scales: vec![0.5; channels] };
    let shape = Shape { height, width, channels };
    (conv, Tensor { shape, flat: false, quantisation: quantisation(draws) })
}

/// A function with the numbers that it usually has, between two quantisations.
fn function(draws: &mut Draws, quantisations: [Quantisation; 2]) -> FunctionTable {
    let functions = [
        ActivationFunction::Sigmoid,
        ActivationFunction::HardSigmoid,
        ActivationFunction::HardSwish,
        ActivationFunction::Tanh,
        ActivationFunction::LeakyRelu,
        ActivationFunction::Relu,
    ];
    FunctionTable::new(Activation::usual(*draws.one_of(&functions).unwrap()), quantisations)
}

/// Convolutions, sums, products, gates, functions, pools and averages in random order, a dense layer.
pub(crate) fn network(draws: &mut Draws) -> Network {
    let shape = Shape { height: pick(draws, 1, 9), width: pick(draws, 1, 9), channels: pick(draws, 1, 6) };
    let mut tensors = vec![Tensor { shape, flat: false, quantisation: quantisation(draws) }];
    let mut layers: Vec<Layer> = Vec::new();
    let mut push = |tensors: &mut Vec<Tensor>, operator, inputs, tensor| {
        layers.push(Layer { name: format!("l{}", layers.len()), opcode: String::new(), operator, inputs });
        tensors.push(tensor);
    };
    for _ in 0..pick(draws, 1, 6) {
        let source = if draws.below(3) == Some(0) { pick(draws, 0, tensors.len() - 1) } else { tensors.len() - 1 };
        let input = tensors[source].clone();
        let alike: Vec<usize> = (0..tensors.len()).filter(|&other| tensors[other].shape == input.shape).collect();
        let kind = draws.below(8);
        if kind == Some(2) {
            let kernel = [pick(draws, 1, input.shape.height.min(3)), pick(draws, 1, input.shape.width.min(3))];
            let fits = |axis: usize, size: usize| if kernel[axis] * 2 <= size + 1 { 2 } else { 1 };
            let dilation = [fits(0, input.shape.height), fits(1, input.shape.width)].map(|most| pick(draws, 1, most));
            let window = Window {
                stride: [pick(draws, 1, 2), pick(draws, 1, 2)],
                pad: kernel.map(|k| pick(draws, 0, k - 1)),
                dilation,
                ..Window::plain(kernel)
            };
            let windows =
                |axis: usize, size: usize| (size + window.pad[axis] - window.extent(axis)) / window.stride[axis] + 1;
            let (height, width) = (windows(0, input.shape.height), windows(1, input.shape.width));
            let shape = Shape { height, width, ..input.shape };
            if draws.below(2) == Some(0) {
                let pool = AveragePool { window, counts_padding: draws.below(2) == Some(0) };
                let tensor = Tensor { shape, flat: false, quantisation: quantisation(draws) };
                push(&mut tensors, Operator::AveragePool(pool), vec![source], tensor);
            } else {
                push(&mut tensors, Operator::MaxPool(window), vec![source], Tensor { shape, ..input });
            }
        } else if kind == Some(3) && input.shape.channels < 12 {
            let inputs: Vec<usize> = (0..pick(draws, 1, 3)).map(|_| *draws.one_of(&alike).unwrap()).collect();
            let shape = Shape { channels: input.shape.channels * inputs.len(), ..input.shape };
            // The quantisation of an input, so that some bytes are moved and others are not, or one of its own.
            let tensor =
                if draws.below(2) == Some(0) { input } else { Tensor { quantisation: quantisation(draws), ..input } };
            push(&mut tensors, Operator::Concat, inputs, Tensor { shape, ..tensor });
        } else if kind == Some(6) {
            let made = Tensor { quantisation: quantisation(draws), ..input.clone() };
            let table = function(draws, [input.quantisation, made.quantisation]);
            push(&mut tensors, Operator::Function(table), vec![source], made);
        } else if kind == Some(7) {
            let gated = draws.below(3) != Some(0);
            let other = if gated {
                let shape = input.shape.of_channels();
                let gate = Tensor { shape, flat: false, quantisation: quantisation(draws) };
                push(&mut tensors, Operator::Mean, vec![source], gate);
                tensors.len() - 1
            } else {
                *draws.one_of(&alike).unwrap()
            };
            let mut inputs = vec![source, other];
            if draws.below(2) == Some(0) {
                inputs.swap(0, 1);
            }
            let product = Tensor { quantisation: quantisation(draws), ..input };
            let [a, b] = [0, 1].map(|which: usize| tensors[inputs[which]].quantisation);
            let table = ProductTable::new([a, b, product.quantisation], draws.below(2) == Some(0));
            push(&mut tensors, Operator::Multiply(table), inputs, product);
        } else if kind < Some(2) {
            let other = *draws.one_of(&alike).unwrap();
            let sum = Tensor { quantisation: quantisation(draws), ..input.clone() };
            let table = SumTable::new([input.quantisation, tensors[other].quantisation, sum.quantisation]);
            push(&mut tensors, Operator::Add(table), vec![source, other], sum);
        } else {
            let (conv, output) = conv(draws, &input);
            push(&mut tensors, Operator::Conv(conv), vec![source], output);
        }
    }
    let mut source = tensors.len() - 1;
    if draws.below(2) == Some(0) {
        let shape = Shape { height: 1, width: 1, channels: tensors[source].shape.channels };
        let multiplier = *draws.one_of(&[0.5, 0.25, 0.1]).unwrap();
        let tensor = Tensor { shape, flat: false, quantisation: quantisation(draws) };
        push(&mut tensors, Operator::GlobalAverage { multiplier }, vec![source], tensor);
        source += 1;
    }
    let shape = tensors[source].shape;
    let dense = Conv {
        kernel: [shape.height, shape.width],
        stride: [1, 1],
        pad: [0, 0],
        groups: 1,
        weights: (0..shape.elements() * 3).map(|_| draws.next() as i8).collect(),
        bias: vec![7, -9, 100],
        multipliers: vec![0.5, 0.0625, 0.003],
        scales: vec![0.25; 3],
    };
    let shape = Shape { height: 1, width: 1, channels: 3 };
    push(
        &mut tensors,
        Operator::Dense(dense),
        vec![source],
        Tensor { shape, flat: true, quantisation: quantisation(draws) },
    );
    Network::new("random".to_owned(), tensors, layers).unwrap()
}

#[test]
fn hits_of_random_networks_change_what_a_whole_run_changes_in_every_tensor() {
    let (mut runs, mut differing) = (0, 0);
    for number in 0..1000 {
        let mut draws = Draws::new(17, number);
        let network = network(&mut draws);
        let size = network.tensors()[0].shape.elements();
        let mut delta = Delta::new(&network);
        for _ in 0..2 {
            let image: Vec<u8> = (0..size).map(|_| draws.next() as u8).collect();
            let golden = forward(&network, &image, None);
            for _ in 0..10 {
                let layer = pick(&mut draws, 0, network.layers().len() - 1);
                let element = pick(&mut draws, 0, network.output(layer).shape.elements() - 1);
                let hit = Hit::neuron(layer, element, flip(pick(&mut draws, 0, 7) as u32));
                differing += usize::from(agree(&network, &mut delta, &image, &golden, &hit));
                // Where nothing reads a neuron, nothing else differs.
                let shape = network.output(layer).shape;
                let position = element / shape.channels;
                if !network.is_read(layer, position / shape.width, position % shape.width) {
                    let others = (0..network.tensors().len()).filter(|&tensor| tensor != layer + 1);
                    assert!(others.into_iter().all(|tensor| !delta.differs(tensor)));
                }
                runs += 1;
            }
        }
    }
    assert!(differing * 5 > runs && differing < runs, "{differing} of {runs}");
}
