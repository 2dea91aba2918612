//! The way back through a run: what a change of each value changes in a direction over the logits.

use super::real::{RealRun, averaged, largest, ratio, taps};
use crate::forward::faulty;
use crate::hit::{Hit, LayerOperand};
use crate::network::{Conv, Network, Operator, Tensor};

/// Gradients of a network, with its weights as the way back reads them.
#[derive(Clone, Debug)]
pub struct Reverse<'n> {
    network: &'n Network,
    /// The weights of each layer by tap, channel of the output and channel of the input within its group.
    weights: Vec<Vec<f64>>,
    /// The fault that weights and inputs have.
    hit: Option<&'n Hit>,
}

impl<'n> Reverse<'n> {
    /// Of this network.
    #[must_use]
    pub fn new(network: &'n Network) -> Self {
        Self::with_hit(network, None)
    }

    /// Of this network while it is hit: weights are the faulty ones, and inputs that are replaced by a number hand nothing on.
    #[must_use]
    pub fn with_hit(network: &'n Network, hit: Option<&'n Hit>) -> Self {
        let weights = |number: usize| {
            let layer = &network.layers()[number];
            let (from, to) = (&network.tensors()[layer.inputs[0]], network.output(number));
            let places = hit.map_or(&[][..], |hit| hit.of_layer(number));
            layer.conv().map_or_else(Vec::new, |conv| turned(&faulty(conv, places, &mut None), from, to))
        };
        Self { network, weights: (0..network.layers().len()).map(weights).collect(), hit }
    }

    /// The gradient of `Σ direction[i] · logit[i]` with respect to every value of every tensor, the input excepted, whose
    /// gradient stays empty. A direction has a number for each logit; missing ones are 0.
    #[must_use]
    pub fn gradients(&self, run: &RealRun, direction: &[f64]) -> Vec<Vec<f64>> {
        let mut gradients: Vec<Vec<f64>> =
            self.network.tensors().iter().map(|tensor| vec![0.0; tensor.shape.elements()]).collect();
        gradients[0].clear();
        if let Some(last) = gradients.last_mut() {
            for (value, by) in last.iter_mut().zip(direction) {
                *value = *by;
            }
        }
        for number in (0..self.network.layers().len()).rev() {
            let (before, after) = gradients.split_at_mut(number + 1);
            // Nothing changes behind a bound.
            let free = after[0].iter().zip(&run.free[number + 1]);
            let output: Vec<f64> = free.map(|(&by, &free)| if free { by } else { 0.0 }).collect();
            self.step(run, number, &output, before);
        }
        gradients
    }

    /// Adds to the gradients of what a layer reads.
    fn step(&self, run: &RealRun, number: usize, output: &[f64], gradients: &mut [Vec<f64>]) {
        let (layer, to) = (&self.network.layers()[number], self.network.output(number));
        let from = |input: usize| &self.network.tensors()[layer.inputs[input]];
        let channels = to.shape.channels;
        for (which, &tensor) in layer.inputs.iter().enumerate().filter(|(_, tensor)| **tensor > 0) {
            let gradient = &mut gradients[tensor];
            let places = self.hit.map_or(&[][..], |hit| hit.of_layer(number)).iter();
            let replaced = places.filter(|place| place.operand == LayerOperand::In(which) && place.is_replaced());
            let kept: Vec<(usize, f64)> =
                replaced.filter_map(|place| Some((place.element, *gradient.get(place.element)?))).collect();
            match &layer.operator {
                Operator::Conv(conv) | Operator::Dense(conv) => {
                    convolve(conv, &self.weights[number], (from(0), gradient), (to, output));
                }
                Operator::Add(_) => add(gradient, output),
                Operator::Multiply(_) => {
                    let other = (number, 1 - which);
                    let factors = run.read.get(&other).unwrap_or(&run.tensors[layer.inputs[other.1]]);
                    // A gate is read at every position, and so it sums up their changes.
                    let size = gradient.len();
                    for (element, (by, factor)) in output.iter().zip(factors.iter().cycle()).enumerate() {
                        gradient[element % size] += by * factor;
                    }
                }
                Operator::Function(table) => {
                    let read = run.read.get(&(number, which)).unwrap_or(&run.tensors[tensor]);
                    for ((value, by), &at) in gradient.iter_mut().zip(output).zip(read) {
                        *value += by * table.real(at)[1];
                    }
                }
                Operator::MaxPool(window) => {
                    let read = (from(0), &run.read.get(&(number, which)).unwrap_or(&run.tensors[tensor])[..]);
                    for (element, by) in output.iter().enumerate() {
                        gradient[largest(*window, read, to, element)] += by;
                    }
                }
                Operator::AveragePool(pool) => {
                    for (element, by) in output.iter().enumerate() {
                        let (read, share) = averaged(*pool, from(0), to, element);
                        read.for_each(|at| gradient[at] += by * share);
                    }
                }
                Operator::Concat => {
                    let first: usize = (0..which).map(|before| from(before).shape.channels).sum();
                    let own = from(which).shape.channels;
                    for (values, row) in gradient.chunks_mut(own).zip(output.chunks(channels)) {
                        add(values, &row[first..first + own]);
                    }
                }
                Operator::Mean | Operator::GlobalAverage { .. } => {
                    let factor = match layer.operator {
                        Operator::GlobalAverage { multiplier } => f64::from(multiplier) * ratio(from(0), to),
                        _ => 1.0 / from(0).shape.positions() as f64,
                    };
                    let each: Vec<f64> = output.iter().map(|by| by * factor).collect();
                    gradient.chunks_mut(channels).for_each(|values| add(values, &each));
                }
            }
            for (at, value) in kept {
                gradient[at] = value;
            }
        }
    }
}

fn add(values: &mut [f64], by: &[f64]) {
    for (value, by) in values.iter_mut().zip(by) {
        *value += by;
    }
}

/// Weights as factors of values, by tap, channel of the output and channel of the input within its group.
fn turned(conv: &Conv, input: &Tensor, output: &Tensor) -> Vec<f64> {
    let (channels, made, ratio) = (input.shape.channels, output.shape.channels, ratio(input, output));
    let (per_group, read) = (made / conv.groups, channels / conv.groups);
    let mut turned = vec![0.0; conv.weights.len()];
    for (number, &weight) in conv.weights.iter().enumerate() {
        let (row, within) = (number / per_group, number % per_group);
        let (tap, channel) = (row / channels, row % channels);
        let to = channel / read * per_group + within;
        turned[(tap * made + to) * read + channel % read] = f64::from(weight) * f64::from(conv.multipliers[to]) * ratio;
    }
    turned
}

fn convolve(conv: &Conv, weights: &[f64], (input, gradient): (&Tensor, &mut [f64]), (output, by): (&Tensor, &[f64])) {
    let (channels, made) = (input.shape.channels, output.shape.channels);
    let (per_group, read) = (made / conv.groups, channels / conv.groups);
    for [position, at, tap] in taps(conv, input, output) {
        for (channel, &by) in by[position * made..][..made].iter().enumerate().filter(|(_, by)| **by != 0.0) {
            let values = &mut gradient[at * channels + channel / per_group * read..][..read];
            for (value, weight) in values.iter_mut().zip(&weights[(tap * made + channel) * read..][..read]) {
                *value += by * weight;
            }
        }
    }
}
