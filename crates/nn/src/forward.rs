//! A forward run in plain loops: what everything else is compared with.

use std::borrow::Cow;

use crate::arithmetic::{mean, requantise};
use crate::hit::{Hit, HitBits, LayerOperand, Place, strike};
use crate::level::{Host, at_level};
use crate::network::{Conv, Network, Operator, Shape, Tensor, Window};
use crate::operator::Reduction;

/// Everything that a forward run makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The bytes of each tensor, the input first.
    pub tensors: Vec<Vec<u8>>,
    /// What was requantised, for each layer: sums of products, sums of averages; empty where nothing was.
    pub accumulators: Vec<Vec<i32>>,
    /// The first element that was hit, if one was.
    pub hit: Option<HitBits>,
}

impl Run {
    /// The bytes of the logits.
    #[must_use]
    pub fn logits(&self) -> &[u8] {
        self.tensors.last().map_or(&[], Vec::as_slice)
    }

    /// What it takes of memory, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let sums: usize = self.accumulators.iter().map(Vec::len).sum();
        self.tensors.iter().map(Vec::len).sum::<usize>() + sums * size_of::<i32>()
    }
}

/// The class of logits: the first largest.
#[must_use]
pub fn top_class(logits: &[u8]) -> usize {
    let largest = logits.iter().max();
    logits.iter().position(|logit| Some(logit) == largest).unwrap_or(0)
}

/// Runs the network on the bytes of an image, position-major. What a layer reads and holds is hit when it begins, what it makes
/// when it has made it.
///
/// An image of another size is filled up with zeros, or cut off: whoever reads images checks them.
#[must_use]
pub fn forward(network: &Network, image: &[u8], hit: Option<&Hit>) -> Run {
    let mut input: Vec<u8> = image.iter().map(|&byte| network.input_byte(byte)).collect();
    input.resize(network.tensors()[0].shape.elements(), 0);
    let mut run = Run { tensors: vec![input], accumulators: Vec::new(), hit: None };
    for number in 0..network.layers().len() {
        let places = hit.map_or(&[][..], |hit| hit.of_layer(number));
        let (sums, bytes) = step(network, number, places, &mut run);
        run.tensors.push(bytes);
        run.accumulators.push(sums);
    }
    run
}

/// The output of a layer, with the changes made to it.
fn step(network: &Network, number: usize, places: &[Place], run: &mut Run) -> (Vec<i32>, Vec<u8>) {
    let (layer, output) = (&network.layers()[number], network.output(number));
    let first = &mut run.hit;
    let mut inputs: Vec<Cow<'_, [u8]>> = layer.inputs.iter().map(|&it| Cow::Borrowed(&run.tensors[it][..])).collect();
    for place in places {
        if let LayerOperand::In(which) = place.operand
            && let Some(bytes) = inputs.get_mut(which)
            && place.element < bytes.len()
        {
            strike_byte(place, &mut bytes.to_mut()[place.element], first);
        }
    }
    let of = |input: usize| (&network.tensors()[layer.inputs[input]], &inputs[input][..]);
    let (sums, mut bytes) = match &layer.operator {
        Operator::Conv(conv) | Operator::Dense(conv) => convolve(&faulty(conv, places, first), of(0), output),
        Operator::Add(table) => {
            let pairs = of(0).1.iter().zip(of(1).1);
            (Vec::new(), pairs.map(|(&a, &b)| table.of(a, b)).collect())
        }
        Operator::Multiply(table) => {
            // A gate is read again at each position.
            let pairs = of(0).1.iter().cycle().zip(of(1).1.iter().cycle()).take(output.shape.elements());
            (Vec::new(), pairs.map(|(&a, &b)| table.of(a, b)).collect())
        }
        Operator::Function(table) => (Vec::new(), of(0).1.iter().map(|&byte| table.of(byte)).collect()),
        Operator::MaxPool(window) => (Vec::new(), pool(*window, Reduction::Largest, of(0), output)),
        Operator::AveragePool(it) => (Vec::new(), pool(it.window, it.reduction(of(0).0, output), of(0), output)),
        Operator::Concat => {
            let all: Vec<_> = (0..inputs.len()).map(of).collect();
            (Vec::new(), join(&all, output))
        }
        Operator::Mean => {
            let (tensor, bytes) = of(0);
            let channels = tensor.shape.channels;
            let mean = |channel| channel_mean(channel, [tensor, output], |at| bytes[at * channels + channel]);
            (Vec::new(), (0..channels).map(mean).collect())
        }
        Operator::GlobalAverage { multiplier } => average(*multiplier, of(0), output),
    };
    for place in places.iter().filter(|place| place.operand == LayerOperand::Out) {
        if let Some(byte) = bytes.get_mut(place.element) {
            strike_byte(place, byte, first);
        }
    }
    (sums, bytes)
}

pub(crate) fn strike_byte(place: &Place, byte: &mut u8, first: &mut Option<HitBits>) {
    *byte = strike(place.model, u32::from(*byte), place.operand, first) as u8;
}

/// The convolution with what happens to its weights and biases.
pub(crate) fn faulty<'c>(conv: &'c Conv, places: &[Place], first: &mut Option<HitBits>) -> Cow<'c, Conv> {
    let mut conv = Cow::Borrowed(conv);
    for place in places {
        let (element, operand) = (place.element, place.operand);
        if operand == LayerOperand::Weight && element < conv.weights.len() {
            let weight = &mut conv.to_mut().weights[element];
            *weight = strike(place.model, u32::from(*weight as u8), operand, first) as u8 as i8;
        }
        if operand == LayerOperand::Bias && element < conv.bias.len() {
            let bias = &mut conv.to_mut().bias[element];
            *bias = strike(place.model, *bias as u32, operand, first) as i32;
        }
    }
    conv
}

fn convolve(conv: &Conv, read: (&Tensor, &[u8]), output: &Tensor) -> (Vec<i32>, Vec<u8>) {
    let sums = at_level!(Host::best(), _level => sums(conv, read, output.shape));
    let multipliers = conv.multipliers.iter().cycle();
    let bytes = sums.iter().zip(multipliers).map(|(&sum, &by)| requantise(sum, by, output.quantisation.zero)).collect();
    (sums, bytes)
}

/// The sums of all windows, tap by tap. A faulty bias may be so large that a sum goes round, as it does in a register.
#[inline(always)]
fn sums(conv: &Conv, (input, bytes): (&Tensor, &[u8]), to: Shape) -> Vec<i32> {
    let from = input.shape;
    let (per_group, channels_per_group) = (to.channels / conv.groups, from.channels / conv.groups);
    let zero = i32::from(input.quantisation.zero);
    let mut sums = Vec::with_capacity(to.elements());
    for (row, column) in (0..to.height).flat_map(|row| (0..to.width).map(move |column| (row, column))) {
        let start = sums.len();
        sums.extend_from_slice(&conv.bias);
        let sums = &mut sums[start..];
        for (r, s) in (0..conv.kernel[0]).flat_map(|r| (0..conv.kernel[1]).map(move |s| (r, s))) {
            let y = (row * conv.stride[0] + r).checked_sub(conv.pad[0]).filter(|&y| y < from.height);
            let x = (column * conv.stride[1] + s).checked_sub(conv.pad[1]).filter(|&x| x < from.width);
            let (Some(y), Some(x)) = (y, x) else { continue };
            let values = &bytes[(y * from.width + x) * from.channels..][..from.channels];
            let weights = &conv.weights[(r * conv.kernel[1] + s) * from.channels * per_group..];
            if [per_group, channels_per_group] == [1; 2] {
                for (sum, (&value, &weight)) in sums.iter_mut().zip(values.iter().zip(weights)) {
                    *sum = sum.wrapping_add((i32::from(value) - zero) * i32::from(weight));
                }
                continue;
            }
            for (channel, (&value, weights)) in values.iter().zip(weights.chunks_exact(per_group)).enumerate() {
                let value = i32::from(value) - zero;
                if value == 0 {
                    continue;
                }
                let first = channel / channels_per_group * per_group;
                for (sum, &weight) in sums[first..].iter_mut().zip(weights) {
                    *sum = sum.wrapping_add(value * i32::from(weight));
                }
            }
        }
    }
    sums
}

fn pool(window: Window, reduction: Reduction, (input, bytes): (&Tensor, &[u8]), output: &Tensor) -> Vec<u8> {
    let (from, to) = (input.shape, output.shape);
    let made = |element: usize| {
        let (at, channel) = (element / to.channels, element % to.channels);
        let read = window.reads(at / to.width, at % to.width, from);
        reduction.of(read.map(|at| bytes[at * from.channels + channel]))
    };
    (0..to.elements()).map(made).collect()
}

fn join(inputs: &[(&Tensor, &[u8])], output: &Tensor) -> Vec<u8> {
    let to = output.quantisation;
    let of = |at: usize| {
        inputs.iter().flat_map(move |(input, bytes)| {
            let own = &bytes[at * input.shape.channels..][..input.shape.channels];
            own.iter().map(move |&byte| input.quantisation.rescaled(byte, to))
        })
    };
    (0..output.shape.positions()).flat_map(of).collect()
}

/// The average of a channel, whose bytes are these by position.
pub(crate) fn channel_mean(channel: usize, [from, to]: [&Tensor; 2], byte: impl Fn(usize) -> u8) -> u8 {
    let count = from.shape.positions();
    mean(byte, count, channel * count, [from.quantisation, to.quantisation])
}

fn average(multiplier: f32, (input, bytes): (&Tensor, &[u8]), output: &Tensor) -> (Vec<i32>, Vec<u8>) {
    let zero = i32::from(input.quantisation.zero);
    let mut sums = vec![0; output.shape.channels];
    for position in bytes.chunks(output.shape.channels) {
        for (sum, &byte) in sums.iter_mut().zip(position) {
            *sum += i32::from(byte) - zero;
        }
    }
    let bytes = sums.iter().map(|&sum| requantise(sum, multiplier, output.quantisation.zero)).collect();
    (sums, bytes)
}
