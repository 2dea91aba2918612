//! A forward run without rounding.

use std::collections::BTreeMap;

use crate::arithmetic::Quantisation;
use crate::network::{AveragePool, Conv, Network, Operator, Tensor, Window};

/// The values of all tensors of a run that rounds nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct RealRun {
    /// The values of each tensor, the input first, position-major.
    pub tensors: Vec<Vec<f64>>,
    /// Whether each value lies strictly between the bounds of its bytes, for each tensor; values on a bound hand no change on.
    pub(super) free: Vec<Vec<bool>>,
    /// The values that a layer reads as one of its inputs in place of those of the tensor, by layer and input.
    pub(super) read: BTreeMap<(usize, usize), Vec<f64>>,
}

/// A number that is added to one value of a tensor after the layer has made it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nudge {
    /// The tensor, by number; 0 is the input.
    pub tensor: usize,
    /// The element, position-major.
    pub element: usize,
    /// The summand, in the unit of the values.
    pub by: f64,
}

impl RealRun {
    /// Runs the network on the bytes of an image, and adds the nudge if there is one.
    ///
    /// An image of another size is filled up with zeros, or cut off, as by [`forward`](crate::forward::forward).
    #[must_use]
    pub fn new(network: &Network, image: &[u8], nudge: Option<Nudge>) -> Self {
        let input = &network.tensors()[0];
        let bytes =
            image.iter().map(|&byte| network.input_byte(byte)).chain(std::iter::repeat(input.quantisation.zero));
        let values: Vec<f64> =
            bytes.take(input.shape.elements()).map(|byte| f64::from(input.quantisation.value(byte))).collect();
        let mut run = Self { free: vec![vec![true; values.len()]], tensors: vec![values], read: BTreeMap::new() };
        run.nudge(0, nudge);
        for number in 0..network.layers().len() {
            let mut values = run.step(network, number);
            let free = bound(&mut values, network.output(number).quantisation);
            run.tensors.push(values);
            run.free.push(free);
            run.nudge(number + 1, nudge);
        }
        run
    }

    /// The logits.
    #[must_use]
    pub fn logits(&self) -> &[f64] {
        self.tensors.last().map_or(&[], Vec::as_slice)
    }

    fn nudge(&mut self, tensor: usize, nudge: Option<Nudge>) {
        if let Some(nudge) = nudge.filter(|nudge| nudge.tensor == tensor)
            && let Some(value) = self.tensors[tensor].get_mut(nudge.element)
        {
            *value += nudge.by;
        }
    }

    fn step(&self, network: &Network, number: usize) -> Vec<f64> {
        let (layer, output) = (&network.layers()[number], network.output(number));
        let of = |input: usize| (&network.tensors()[layer.inputs[input]], &self.tensors[layer.inputs[input]][..]);
        match &layer.operator {
            Operator::Conv(conv) | Operator::Dense(conv) => convolve(conv, of(0), output),
            Operator::Add(_) => of(0).1.iter().zip(of(1).1).map(|(a, b)| a + b).collect(),
            Operator::Multiply(_) => {
                let pairs = of(0).1.iter().cycle().zip(of(1).1.iter().cycle()).take(output.shape.elements());
                pairs.map(|(a, b)| a * b).collect()
            }
            Operator::Function(table) => of(0).1.iter().map(|&value| table.real(value)[0]).collect(),
            Operator::MaxPool(window) => {
                let largest = |element| self.tensors[layer.inputs[0]][largest(*window, of(0), output, element)];
                (0..output.shape.elements()).map(largest).collect()
            }
            Operator::AveragePool(pool) => {
                let mean = |element| {
                    let (read, share) = averaged(*pool, of(0).0, output, element);
                    read.map(|at| of(0).1[at]).sum::<f64>() * share
                };
                (0..output.shape.elements()).map(mean).collect()
            }
            Operator::Concat => {
                let part = |at: usize, input: usize| {
                    let (tensor, values) = of(input);
                    &values[at * tensor.shape.channels..][..tensor.shape.channels]
                };
                let row = |at: usize| (0..layer.inputs.len()).flat_map(move |input| part(at, input));
                (0..output.shape.positions()).flat_map(row).copied().collect()
            }
            Operator::Mean => average(1.0 / of(0).0.shape.positions() as f64, of(0)),
            Operator::GlobalAverage { multiplier } => average(f64::from(*multiplier) * ratio(of(0).0, output), of(0)),
        }
    }
}

/// Bounds values as bytes do, and says which lie strictly between the bounds.
fn bound(values: &mut [f64], quantisation: Quantisation) -> Vec<bool> {
    let (low, high) = (f64::from(quantisation.value(0)), f64::from(quantisation.value(u8::MAX)));
    let free = values.iter().map(|&value| value > low && value < high).collect();
    for value in values {
        *value = value.clamp(low, high);
    }
    free
}

/// The ratio of the steps of both tensors: times the factor of accumulators, it makes values of sums of values.
pub(super) fn ratio(from: &Tensor, to: &Tensor) -> f64 {
    f64::from(to.quantisation.scale) / f64::from(from.quantisation.scale)
}

/// Every pair of positions that a window of a convolution joins: of the output, of the input, and the tap of the window.
pub(super) fn taps(conv: &Conv, from: &Tensor, to: &Tensor) -> impl Iterator<Item = [usize; 3]> {
    let ([height, width], [kernel, columns]) = ([from.shape.height, from.shape.width], conv.kernel);
    let ([down, across], [above, left]) = (conv.stride, conv.pad);
    let across_output = to.shape.width;
    (0..to.shape.positions()).flat_map(move |position| {
        let (row, column) = (position / across_output, position % across_output);
        (0..kernel * columns).filter_map(move |tap| {
            let y = (row * down + tap / columns).checked_sub(above).filter(|&y| y < height)?;
            let x = (column * across + tap % columns).checked_sub(left).filter(|&x| x < width)?;
            Some([position, y * width + x, tap])
        })
    })
}

fn convolve(conv: &Conv, (input, values): (&Tensor, &[f64]), output: &Tensor) -> Vec<f64> {
    let (channels, made) = (input.shape.channels, output.shape.channels);
    let (per_group, read) = (made / conv.groups, channels / conv.groups);
    let (step, ratio) = (f64::from(output.quantisation.scale), ratio(input, output));
    let terms = conv.bias.iter().zip(&conv.multipliers);
    let bias: Vec<f64> = terms.map(|(&bias, &by)| f64::from(bias) * f64::from(by) * step).collect();
    let mut sums = bias.repeat(output.shape.positions());
    for [position, at, tap] in taps(conv, input, output) {
        for (channel, value) in values[at * channels..][..channels].iter().enumerate() {
            let weights = &conv.weights[(tap * channels + channel) * per_group..][..per_group];
            let first = channel / read * per_group;
            let sums = &mut sums[position * made + first..][..per_group];
            for ((sum, &weight), &by) in sums.iter_mut().zip(weights).zip(&conv.multipliers[first..]) {
                *sum += value * (f64::from(weight) * f64::from(by) * ratio);
            }
        }
    }
    sums
}

/// The element of the input that is the first largest in the window of an element of the output.
pub(super) fn largest(window: Window, (input, values): (&Tensor, &[f64]), output: &Tensor, element: usize) -> usize {
    let (at, channel) = (element / output.shape.channels, element % output.shape.channels);
    let read = window.reads(at / output.shape.width, at % output.shape.width, input.shape);
    let mut elements = read.map(|at| at * input.shape.channels + channel);
    let first = elements.next().unwrap_or(channel);
    elements.fold(first, |most, other| if values[other] > values[most] { other } else { most })
}

/// The elements of the input that an element of the output is the average of, and the share of each.
pub(super) fn averaged(
    pool: AveragePool,
    input: &Tensor,
    output: &Tensor,
    element: usize,
) -> (impl Iterator<Item = usize>, f64) {
    let (at, channel) = (element / output.shape.channels, element % output.shape.channels);
    let (row, column, channels) = (at / output.shape.width, at % output.shape.width, input.shape.channels);
    let reads = || pool.window.reads(row, column, input.shape);
    let count = pool.count().unwrap_or_else(|| reads().count()).max(1);
    (reads().map(move |at| at * channels + channel), 1.0 / count as f64)
}

fn average(factor: f64, (input, values): (&Tensor, &[f64])) -> Vec<f64> {
    let mut sums = vec![0.0; input.shape.channels];
    for position in values.chunks(input.shape.channels) {
        for (sum, value) in sums.iter_mut().zip(position) {
            *sum += value;
        }
    }
    sums.iter().map(|sum| sum * factor).collect()
}
