//! A forward run in plain loops: what everything else is compared with.

use crate::arithmetic::requantise;
use crate::hit::{Hit, HitBytes};
use crate::network::{Conv, Network, Operator, Tensor};

/// Everything that a forward run makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The bytes of each tensor, the input first.
    pub tensors: Vec<Vec<u8>>,
    /// What was requantised, for each layer: sums of products, sums of averages; empty where nothing was.
    pub accumulators: Vec<Vec<i32>>,
    /// The byte that was hit, if one was.
    pub hit: Option<HitBytes>,
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

/// Runs the network on the bytes of an image, position-major; a hit happens when its layer has made its output.
///
/// An image of another size is filled up with zeros, or cut off: whoever reads images checks them.
#[must_use]
pub fn forward(network: &Network, image: &[u8], hit: Option<&Hit>) -> Run {
    let mut input = image.to_vec();
    input.resize(network.tensors()[0].shape.elements(), 0);
    let mut run = Run { tensors: vec![input], accumulators: Vec::new(), hit: None };
    for (number, layer) in network.layers().iter().enumerate() {
        let output = network.output(number);
        let of = |input: usize| (&network.tensors()[layer.inputs[input]], &run.tensors[layer.inputs[input]][..]);
        let (sums, mut bytes) = match &layer.operator {
            Operator::Conv(conv) | Operator::Dense(conv) => convolve(conv, of(0), output),
            Operator::Add(table) => {
                let pairs = of(0).1.iter().zip(of(1).1);
                (Vec::new(), pairs.map(|(&a, &b)| table.of(a, b)).collect())
            }
            Operator::GlobalAverage { multiplier } => average(*multiplier, of(0), output),
        };
        if let Some(hit) = hit.filter(|hit| hit.layer == number)
            && let Some(byte) = bytes.get_mut(hit.element)
        {
            let bytes = HitBytes { before: *byte, after: hit.model.apply(*byte) };
            (*byte, run.hit) = (bytes.after, Some(bytes));
        }
        run.tensors.push(bytes);
        run.accumulators.push(sums);
    }
    run
}

fn convolve(conv: &Conv, (input, bytes): (&Tensor, &[u8]), output: &Tensor) -> (Vec<i32>, Vec<u8>) {
    let (from, to) = (input.shape, output.shape);
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
            let tap = r * conv.kernel[1] + s;
            for channel in 0..from.channels {
                let value = i32::from(bytes[(y * from.width + x) * from.channels + channel]) - zero;
                let weights = &conv.weights[(tap * from.channels + channel) * per_group..][..per_group];
                let first = channel / channels_per_group * per_group;
                for (sum, &weight) in sums[first..].iter_mut().zip(weights) {
                    *sum += value * i32::from(weight);
                }
            }
        }
    }
    let multipliers = conv.multipliers.iter().cycle();
    let bytes = sums.iter().zip(multipliers).map(|(&sum, &by)| requantise(sum, by, output.quantisation.zero)).collect();
    (sums, bytes)
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
