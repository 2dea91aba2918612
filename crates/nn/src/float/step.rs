//! One layer: what it reads and holds, and one position of what it makes.

use std::borrow::Cow;

use super::activation::Activation;
use super::format::ValueFormat;
use super::network::{FloatConv, FloatNetwork, FloatOperator, LayerNorm};
use crate::exponential::softmax;
use crate::hit::{HitBits, LayerOperand, Place, strike_bits};
use crate::operator::Shape;

/// A layer with what it reads, both as a fault leaves them.
pub(super) struct FloatStep<'a> {
    format: ValueFormat,
    activation: Option<Activation>,
    operator: Cow<'a, FloatOperator>,
    inputs: Vec<(Shape, Cow<'a, [f32]>)>,
    to: Shape,
}

/// Changes a stored value, and notes its bits if it is the first.
pub(super) fn strike_value(format: ValueFormat, place: &Place, value: &mut f32, first: &mut Option<HitBits>) {
    *value = format.value(strike_bits(place.model, format.stored(*value), format.bits(), first));
}

impl<'a> FloatStep<'a> {
    /// A layer that reads some of these tensors.
    pub(super) fn new(
        network: &'a FloatNetwork,
        number: usize,
        tensors: &'a [Vec<f32>],
        places: &[Place],
        first: &mut Option<HitBits>,
    ) -> Self {
        let (layer, format) = (&network.layers()[number], network.format());
        let input = |&input: &usize| (network.tensors()[input].shape, Cow::Borrowed(&tensors[input][..]));
        let mut inputs: Vec<(Shape, Cow<'a, [f32]>)> = layer.inputs.iter().map(input).collect();
        let mut operator = Cow::Borrowed(&layer.operator);
        for place in places {
            match place.operand {
                LayerOperand::In(which) => {
                    if let Some((_, values)) = inputs.get_mut(which)
                        && place.element < values.len()
                    {
                        strike_value(format, place, &mut values.to_mut()[place.element], first);
                    }
                }
                LayerOperand::Weight | LayerOperand::Bias => {
                    if let Some(conv) = operator.to_mut().conv_mut() {
                        let is_weight = place.operand == LayerOperand::Weight;
                        let values = if is_weight { &mut conv.weights } else { &mut conv.bias };
                        if let Some(value) = values.get_mut(place.element) {
                            strike_value(format, place, value, first);
                        }
                    }
                }
                LayerOperand::Out => {}
            }
        }
        Self { format, activation: layer.activation, operator, inputs, to: network.tensors()[number + 1].shape }
    }

    /// The bits of what an input has at a position differ from those of other values.
    pub(super) fn differs(&self, which: usize, at: usize, others: &[f32]) -> bool {
        let (shape, values) = &self.inputs[which];
        let range = at * shape.channels..(at + 1) * shape.channels;
        values[range.clone()].iter().zip(&others[range]).any(|(a, b)| a.to_bits() != b.to_bits())
    }

    /// Makes all channels of a position.
    pub(super) fn position(&self, at: usize, out: &mut [f32]) {
        let (row, column) = (at / self.to.width, at % self.to.width);
        let (from, values) = &self.inputs[0];
        let reduce = |positions: &mut dyn Iterator<Item = usize>, out: &mut [f32], largest: bool| {
            let mut read = 0;
            out.fill(if largest { f32::NEG_INFINITY } else { 0.0 });
            for position in positions {
                read += 1;
                for (made, &value) in out.iter_mut().zip(&values[position * from.channels..]) {
                    *made = if largest { larger(*made, value) } else { *made + value };
                }
            }
            read
        };
        match &*self.operator {
            FloatOperator::Dense(conv) if conv.window.kernel == [1, 1] => {
                convolve(conv, (*from, values), (at / from.width, at % from.width), out);
            }
            FloatOperator::Conv(conv) | FloatOperator::Dense(conv) => {
                convolve(conv, (*from, values), (row, column), out);
            }
            FloatOperator::Product => {
                let (second, others) = &self.inputs[1];
                let factors = &values[at * from.channels..][..from.channels];
                let rows = others[row * second.positions() / second.height * second.channels..].chunks(second.channels);
                out.fill(0.0);
                for (factor, others) in factors.iter().zip(rows) {
                    out.iter_mut().zip(others).for_each(|(sum, other)| *sum += factor * other);
                }
            }
            FloatOperator::Rearrange(moved) => {
                let origins = moved.of_position(at, self.to.channels);
                for (made, &[input, element]) in out.iter_mut().zip(origins) {
                    let values = self.inputs.get(input as usize).map_or(moved.constants(), |(_, values)| &values[..]);
                    *made = values[element as usize];
                }
            }
            FloatOperator::AddConstant(summands) => {
                let start = at * self.to.channels;
                let pairs = values[start..].iter().zip(&summands[start..]);
                out.iter_mut().zip(pairs).for_each(|(made, (a, b))| *made = a + b);
            }
            FloatOperator::MultiplyConstant(factors) => {
                let start = at * self.to.channels;
                let pairs = values[start..].iter().zip(&factors[start..]);
                out.iter_mut().zip(pairs).for_each(|(made, (a, b))| *made = a * b);
            }
            FloatOperator::Normalise(norm) => normalise(norm, &values[at * self.to.channels..], out),
            FloatOperator::Add => {
                let start = at * self.to.channels;
                let pairs = values[start..].iter().zip(&self.inputs[1].1[start..]);
                out.iter_mut().zip(pairs).for_each(|(made, (a, b))| *made = a + b);
            }
            FloatOperator::MaxPool(window) => {
                reduce(&mut window.reads(row, column, *from), out, true);
            }
            FloatOperator::AveragePool(pool) => {
                let read = reduce(&mut pool.window.reads(row, column, *from), out, false);
                let count = pool.count().unwrap_or(read).max(1) as f32;
                out.iter_mut().for_each(|made| *made /= count);
            }
            FloatOperator::GlobalAverage => {
                let count = reduce(&mut (0..from.positions()), out, false) as f32;
                out.iter_mut().for_each(|made| *made /= count);
            }
            FloatOperator::Concat => {
                let channels =
                    self.inputs.iter().flat_map(|(shape, values)| &values[at * shape.channels..][..shape.channels]);
                out.iter_mut().zip(channels).for_each(|(made, value)| *made = *value);
            }
            FloatOperator::Multiply => {
                out.fill(1.0);
                for (shape, values) in &self.inputs {
                    let factors = &values[at % shape.positions() * shape.channels..];
                    out.iter_mut().zip(factors).for_each(|(made, factor)| *made *= factor);
                }
            }
            FloatOperator::Softmax | FloatOperator::Identity => {
                out.copy_from_slice(&values[at * self.to.channels..][..self.to.channels]);
                if matches!(*self.operator, FloatOperator::Softmax) {
                    softmax(out);
                }
            }
        }
        if let Some(activation) = self.activation {
            activation.apply(out);
        }
        out.iter_mut().for_each(|made| *made = self.format.kept(*made));
    }
}

/// The channels of a position, less their mean, as shares of the root of their variance, with a weight and a bias each. Mean and
/// variance are added up in 64 bits, channel by channel.
fn normalise(LayerNorm { epsilon, scale }: &LayerNorm, values: &[f32], out: &mut [f32]) {
    let count = out.len() as f64;
    let values = &values[..out.len()];
    let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / count;
    let square = |&value: &f32| (f64::from(value) - mean) * (f64::from(value) - mean);
    let root = (values.iter().map(square).sum::<f64>() / count + f64::from(*epsilon)).sqrt();
    for (channel, made) in out.iter_mut().enumerate() {
        let value = ((f64::from(values[channel]) - mean) / root) as f32;
        *made = scale.bias[channel] + value * scale.weights[channel];
    }
}

/// The larger of two; NaN if one is.
fn larger(a: f32, b: f32) -> f32 {
    if a.is_nan() || a >= b { a } else { b }
}

/// The sums of a window: bias, then taps row by row, column by column, channel by channel.
// Apart from its caller, whose other operators would take registers from its loop.
#[inline(never)]
fn convolve(conv: &FloatConv, (from, values): (Shape, &[f32]), (row, column): (usize, usize), sums: &mut [f32]) {
    let (per_group, channels_per_group) = (sums.len() / conv.groups, from.channels / conv.groups);
    let window = conv.window;
    sums.copy_from_slice(&conv.bias);
    for r in 0..window.kernel[0] {
        let Some(y) = window.tap_of(0, row, r, from.height) else { continue };
        for s in 0..window.kernel[1] {
            let Some(x) = window.tap_of(1, column, s, from.width) else { continue };
            let tap = r * window.kernel[1] + s;
            let values = &values[(y * from.width + x) * from.channels..][..from.channels];
            for (group, sums) in sums.chunks_mut(per_group).enumerate() {
                for channel in group * channels_per_group..(group + 1) * channels_per_group {
                    let weights = &conv.weights[(tap * from.channels + channel) * per_group..][..per_group];
                    sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += values[channel] * weight);
                }
            }
        }
    }
}
