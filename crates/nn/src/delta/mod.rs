//! The effect of one hit, computed from the fault-free run: only positions that differ are carried on.
//!
//! Everything is integers, so that the result is that of a whole run to the last bit: a sum of products changes by the
//! change of the input times the weight, and a byte of the output has changed only if its new sum gives another one. A run
//! ends where nothing differs.

mod altered;
mod changes;
mod products;
mod scratch;

use crate::forward::Run;
use crate::hit::{Hit, HitBits, LayerOperand, Place};
use crate::level::{Host, at_level};
use crate::network::{Layer, Network, Operator, Shape};
use crate::operator::Reduction;
use altered::{Altered, terms};
use changes::{Changes, changed};
use products::PairedWeights;
use scratch::{JoinedInput, Scratch};

/// Runs hits one after the other; has the memory for it, which grows no more.
#[derive(Clone, Debug)]
pub struct Delta<'n> {
    network: &'n Network,
    /// The differences of each tensor.
    changes: Vec<Changes>,
    scratch: Scratch,
    /// The factors of the loops, for each layer.
    factors: Vec<Factors>,
    host: Host,
}

/// The factors of the loops of a layer.
#[derive(Clone, Debug, Default)]
struct Factors {
    /// Inputs, in the order of [`Conv::weights`](crate::network::Conv::weights), where there are several groups.
    weights: Vec<i16>,
    /// Inputs, where there is one group.
    paired: PairedWeights,
    /// Sums, for each channel of the output.
    multipliers: Vec<f32>,
}

impl Factors {
    fn of(layer: &Layer, from: usize, channels: usize) -> Self {
        match &layer.operator {
            Operator::Conv(conv) | Operator::Dense(conv) if conv.groups == 1 => Self {
                paired: PairedWeights::new(&conv.weights, from, channels),
                multipliers: conv.multipliers.clone(),
                ..Self::default()
            },
            Operator::Conv(conv) | Operator::Dense(conv) => Self {
                weights: conv.weights.iter().map(|&weight| i16::from(weight)).collect(),
                multipliers: conv.multipliers.clone(),
                ..Self::default()
            },
            Operator::Add(_)
            | Operator::Multiply(_)
            | Operator::Function(_)
            | Operator::MaxPool(_)
            | Operator::AveragePool(_)
            | Operator::Concat
            | Operator::Mean => Self::default(),
            Operator::GlobalAverage { multiplier } => {
                Self { multipliers: vec![*multiplier; channels], ..Self::default() }
            }
        }
    }
}

/// The cost of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeltaRun {
    /// The first element that was hit; none if the network has no such element.
    pub hit: Option<HitBits>,
    /// Multiplications with a weight.
    pub macs: u64,
    /// Whether it ended before the last layer: nothing that the last layer reads or holds differs.
    pub stopped: bool,
}

/// Whether a run ends before the last layer, of layers that read these tensors: nothing that the last one reads or holds differs.
pub(crate) fn ends_before_the_last<'i>(
    inputs: impl ExactSizeIterator<Item = &'i [usize]>,
    hit: &Hit,
    differs: impl Fn(usize) -> bool,
) -> bool {
    let number = inputs.len().saturating_sub(1);
    let last = inputs.last();
    last.is_some_and(|last| hit.of_layer(number).is_empty() && !last.iter().any(|&input| differs(input)))
}

impl<'n> Delta<'n> {
    /// For hits of this network.
    #[must_use]
    pub fn new(network: &'n Network) -> Self {
        let shapes = network.tensors().iter().map(|tensor| tensor.shape);
        let most = |size: fn(Shape) -> usize| shapes.clone().map(size).max().unwrap_or(0);
        let changes = |shape: Shape| Changes { deltas: vec![0; shape.elements()], positions: Vec::new() };
        let channels = |tensor: usize| network.tensors()[tensor].shape.channels;
        let factors = |(number, layer): (usize, &Layer)| {
            let from = layer.inputs.first().map_or(0, |&input| channels(input));
            Factors::of(layer, from, channels(number + 1))
        };
        Self {
            network,
            changes: shapes.clone().map(changes).collect(),
            scratch: Scratch {
                sums: vec![0; most(Shape::elements)],
                marks: vec![false; most(Shape::positions)],
                ..Scratch::default()
            },
            factors: network.layers().iter().enumerate().map(factors).collect(),
            host: Host::best(),
        }
    }

    /// Makes the changes of one hit of the fault-free run; those of the hit before are gone.
    pub fn run(&mut self, golden: &Run, hit: &Hit) -> DeltaRun {
        for (changes, tensor) in self.changes.iter_mut().zip(self.network.tensors()) {
            changes.clear(tensor.shape.channels);
        }
        let mut run = DeltaRun { hit: None, macs: 0, stopped: false };
        let first = hit.places().first().map_or(usize::MAX, |place| place.layer);
        for layer in first..self.network.layers().len() {
            let places = hit.of_layer(layer);
            if places.is_empty() {
                run.macs += self.step(golden, layer, None);
            } else {
                self.faulty_step(golden, layer, places, &mut run);
            }
        }
        let inputs = self.network.layers().iter().map(|layer| &layer.inputs[..]);
        run.stopped = ends_before_the_last(inputs, hit, |tensor| self.differs(tensor));
        run
    }

    /// Whether a tensor differs from that of the fault-free run.
    #[must_use]
    pub fn differs(&self, tensor: usize) -> bool {
        self.changes.get(tensor).is_some_and(|changes| !changes.positions.is_empty())
    }

    /// The bytes of a tensor after the last hit.
    #[must_use]
    pub fn tensor(&self, golden: &Run, tensor: usize) -> Vec<u8> {
        let deltas = &self.changes[tensor].deltas;
        golden.tensors[tensor].iter().zip(deltas).map(|(&byte, &delta)| changed(byte, delta)).collect()
    }

    /// Makes what changes in the output of a layer of which something is hit.
    fn faulty_step(&mut self, golden: &Run, number: usize, places: &[Place], run: &mut DeltaRun) {
        let layer = &self.network.layers()[number];
        let channels = |tensor: usize| self.network.tensors()[tensor].shape.channels;
        let mut altered = Altered::default();
        for (which, &tensor) in layer.inputs.iter().enumerate() {
            let operand = LayerOperand::In(which);
            if places.iter().any(|place| place.operand == operand) {
                let mut read = self.changes[tensor].clone();
                read.strike(&golden.tensors[tensor], channels(tensor), operand, places, &mut run.hit);
                altered.inputs.push((which, read));
            }
        }
        altered.terms = layer.conv().map_or_else(Vec::new, |conv| terms(conv, places, &mut run.hit));
        run.macs += self.step(golden, number, Some(&altered));
        let made = number + 1;
        let channels = channels(made);
        self.changes[made].strike(&golden.tensors[made], channels, LayerOperand::Out, places, &mut run.hit);
    }

    /// Makes what changes in the output of a layer, whose weights and biases may be altered.
    fn step(&mut self, golden: &Run, number: usize, altered: Option<&Altered>) -> u64 {
        let layer = &self.network.layers()[number];
        let (before, rest) = self.changes.split_at_mut(number + 1);
        let Some(output) = rest.first_mut() else { return 0 };
        let read = |which: usize| altered?.inputs.iter().find(|(of, _)| *of == which).map(|(_, changes)| changes);
        let input = |which: usize| read(which).unwrap_or(&before[layer.inputs[which]]);
        if altered.is_none() && layer.inputs.iter().all(|&input| before[input].positions.is_empty()) {
            return 0;
        }
        let (from, to) = (&self.network.tensors()[layer.inputs[0]], self.network.output(number));
        let (scratch, host) = (&mut self.scratch, self.host);
        let factors = &self.factors[number];
        let macs = match &layer.operator {
            Operator::Conv(conv) | Operator::Dense(conv) => {
                let (read, shapes) = (input(0), [from.shape, to.shape]);
                let macs = if conv.groups == 1 {
                    at_level!(host, level => scratch.convolve_paired(level, conv, &factors.paired, read, shapes))
                } else {
                    at_level!(host, _level => scratch.convolve(conv, &factors.weights, read, from.shape, to.shape))
                };
                let terms = altered.map_or(&[][..], |altered| &altered.terms);
                macs + scratch.alter(conv, terms, &golden.tensors[layer.inputs[0]], input(0), from, to.shape)
            }
            Operator::Add(table) => {
                let bytes = [layer.inputs[0], layer.inputs[1], number + 1].map(|it| golden.tensors[it].as_slice());
                let inputs = [input(0), input(1)];
                at_level!(host, level => scratch.combine(level, table, inputs, bytes, to.shape, output));
                return 0;
            }
            Operator::Multiply(table) => {
                let bytes = [layer.inputs[0], layer.inputs[1], number + 1].map(|it| golden.tensors[it].as_slice());
                let inputs = [input(0), input(1)];
                at_level!(host, level => scratch.combine(level, table, inputs, bytes, to.shape, output));
                return 0;
            }
            Operator::Function(table) => {
                let bytes = (&golden.tensors[layer.inputs[0]][..], &golden.tensors[number + 1][..]);
                input(0).through(table, bytes, to.shape.channels, output);
                return 0;
            }
            Operator::MaxPool(window) => {
                let bytes = (&golden.tensors[layer.inputs[0]][..], &golden.tensors[number + 1][..]);
                scratch.pool((*window, Reduction::Largest), input(0), bytes, [from.shape, to.shape], output);
                return 0;
            }
            Operator::AveragePool(pool) => {
                let bytes = (&golden.tensors[layer.inputs[0]][..], &golden.tensors[number + 1][..]);
                let window = (pool.window, pool.reduction(from, to));
                scratch.pool(window, input(0), bytes, [from.shape, to.shape], output);
                return 0;
            }
            Operator::Concat => {
                let inputs = (0..layer.inputs.len()).map(|which| JoinedInput {
                    changes: input(which),
                    bytes: &golden.tensors[layer.inputs[which]],
                    tensor: &self.network.tensors()[layer.inputs[which]],
                });
                scratch.join(inputs, to, output);
                return 0;
            }
            Operator::Mean => {
                let bytes = (&golden.tensors[layer.inputs[0]][..], &golden.tensors[number + 1][..]);
                input(0).averaged(bytes, [from, to], output);
                return 0;
            }
            Operator::GlobalAverage { .. } => {
                scratch.average(input(0), from.shape.channels);
                0
            }
        };
        let (sums, bytes) = (&golden.accumulators[number], &golden.tensors[number + 1]);
        let (multipliers, zero) = (&factors.multipliers, to.quantisation.zero);
        at_level!(host, _level => scratch.requantise(sums, bytes, multipliers, zero, output));
        macs
    }
}
