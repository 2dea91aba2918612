//! What one hit changes, computed from the fault-free run: only positions that differ are carried on.
//!
//! Everything is integers, so that the result is that of a whole run to the last bit: a sum of products changes by the
//! change of the input times the weight, and a byte of the output has changed only if its new sum gives another one. A run
//! ends where nothing differs.

use crate::arithmetic::requantise;
use crate::forward::Run;
use crate::hit::{Hit, HitBytes};
use crate::network::{Conv, Layer, Network, Operator, Shape, SumTable};

/// Runs hits one after the other; has the memory for it, which grows no more.
#[derive(Clone, Debug)]
pub struct Delta<'n> {
    network: &'n Network,
    /// What differs in each tensor.
    changes: Vec<Changes>,
    scratch: Scratch,
    /// What the loops multiply with, for each layer.
    factors: Vec<Factors>,
}

/// What the loops of a layer multiply with.
#[derive(Clone, Debug, Default)]
struct Factors {
    /// Inputs, in the order of [`Conv::weights`].
    weights: Vec<i16>,
    /// Sums, for each channel of the output.
    multipliers: Vec<f32>,
}

impl Factors {
    fn of(layer: &Layer, channels: usize) -> Self {
        match &layer.operator {
            Operator::Conv(conv) | Operator::Dense(conv) => Self {
                weights: conv.weights.iter().map(|&weight| i16::from(weight)).collect(),
                multipliers: conv.multipliers.clone(),
            },
            Operator::Add(_) => Self::default(),
            Operator::GlobalAverage { multiplier } => {
                Self { multipliers: vec![*multiplier; channels], ..Self::default() }
            }
        }
    }
}

/// What differs in a tensor.
#[derive(Clone, Debug, Default)]
struct Changes {
    /// New byte less old one, for each element; zero except at `positions`.
    deltas: Vec<i16>,
    /// Where something differs.
    positions: Vec<u32>,
}

/// What a layer needs while it is worked on; all zero and empty in between.
#[derive(Clone, Debug, Default)]
struct Scratch {
    /// Changes of sums, for each element of the output.
    sums: Vec<i32>,
    /// Whether a position of the output is touched.
    marks: Vec<bool>,
    /// The touched positions.
    touched: Vec<u32>,
    /// Changed channels of one position, with their changes.
    channels: Vec<(usize, i16)>,
}

/// What a run took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeltaRun {
    /// The byte that was hit; none if the network has no such element.
    pub hit: Option<HitBytes>,
    /// Multiplications with a weight.
    pub macs: u64,
}

impl<'n> Delta<'n> {
    /// For hits of this network.
    #[must_use]
    pub fn new(network: &'n Network) -> Self {
        let shapes = network.tensors().iter().map(|tensor| tensor.shape);
        let most = |size: fn(Shape) -> usize| shapes.clone().map(size).max().unwrap_or(0);
        let changes = |shape: Shape| Changes { deltas: vec![0; shape.elements()], positions: Vec::new() };
        let factors = |(number, layer)| Factors::of(layer, network.output(number).shape.channels);
        Self {
            network,
            changes: shapes.clone().map(changes).collect(),
            scratch: Scratch {
                sums: vec![0; most(Shape::elements)],
                marks: vec![false; most(Shape::positions)],
                ..Scratch::default()
            },
            factors: network.layers().iter().enumerate().map(factors).collect(),
        }
    }

    /// Makes the changes of one hit of the fault-free run; those of the hit before are gone.
    pub fn run(&mut self, golden: &Run, hit: &Hit) -> DeltaRun {
        for (changes, tensor) in self.changes.iter_mut().zip(self.network.tensors()) {
            changes.clear(tensor.shape.channels);
        }
        let first = hit.layer + 1;
        let Some(&before) = golden.tensors.get(first).and_then(|bytes| bytes.get(hit.element)) else {
            return DeltaRun { hit: None, macs: 0 };
        };
        let after = hit.model.apply(before);
        let mut macs = 0;
        if before != after {
            let channels = self.network.tensors()[first].shape.channels;
            self.changes[first].deltas[hit.element] = i16::from(after) - i16::from(before);
            self.changes[first].positions.push((hit.element / channels) as u32);
            for layer in first..self.network.layers().len() {
                macs += self.step(golden, layer);
            }
        }
        DeltaRun { hit: Some(HitBytes { before, after }), macs }
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

    /// Makes what changes in the output of a layer.
    fn step(&mut self, golden: &Run, number: usize) -> u64 {
        let layer = &self.network.layers()[number];
        let (before, rest) = self.changes.split_at_mut(number + 1);
        let Some(output) = rest.first_mut() else { return 0 };
        let input = |which: usize| &before[layer.inputs[which]];
        if layer.inputs.iter().all(|&input| before[input].positions.is_empty()) {
            return 0;
        }
        let (from, to) = (self.network.tensors()[layer.inputs[0]].shape, self.network.output(number));
        let scratch = &mut self.scratch;
        let factors = &self.factors[number];
        let macs = match &layer.operator {
            Operator::Conv(conv) | Operator::Dense(conv) => {
                scratch.convolve(conv, &factors.weights, input(0), from, to.shape)
            }
            Operator::Add(table) => {
                let bytes = |which: usize| golden.tensors[layer.inputs[which]].as_slice();
                scratch.add(table, [input(0), input(1)], [bytes(0), bytes(1)], to.shape.channels, output);
                return 0;
            }
            Operator::GlobalAverage { .. } => {
                scratch.average(input(0), from.channels);
                0
            }
        };
        let (sums, bytes) = (&golden.accumulators[number], &golden.tensors[number + 1]);
        scratch.requantise(sums, bytes, &factors.multipliers, to.quantisation.zero, to.shape.channels, output);
        macs
    }
}

#[inline]
fn changed(byte: u8, delta: i16) -> u8 {
    (i16::from(byte) + delta) as u8
}

impl Changes {
    fn clear(&mut self, channels: usize) {
        for position in self.positions.drain(..) {
            self.deltas[position as usize * channels..][..channels].fill(0);
        }
    }
}

impl Scratch {
    fn touch(&mut self, position: usize) {
        if !std::mem::replace(&mut self.marks[position], true) {
            self.touched.push(position as u32);
        }
    }

    /// Changes the sums of all windows that read a changed position.
    fn convolve(&mut self, conv: &Conv, weights: &[i16], input: &Changes, from: Shape, to: Shape) -> u64 {
        let (per_group, channels_per_group) = (to.channels / conv.groups, from.channels / conv.groups);
        let mut macs = 0;
        for &position in &input.positions {
            let position = position as usize;
            let (y, x) = (position / from.width, position % from.width);
            let deltas = &input.deltas[position * from.channels..][..from.channels];
            let mut channels = std::mem::take(&mut self.channels);
            channels.clear();
            channels.extend(deltas.iter().copied().enumerate().filter(|&(_, delta)| delta != 0));
            for r in 0..conv.kernel[0] {
                let Some(row) = conv.window_of(0, y, r, to.height) else { continue };
                for s in 0..conv.kernel[1] {
                    let Some(column) = conv.window_of(1, x, s, to.width) else { continue };
                    let window = row * to.width + column;
                    self.touch(window);
                    let sums = &mut self.sums[window * to.channels..][..to.channels];
                    let tap = (r * conv.kernel[1] + s) * from.channels;
                    for &(channel, delta) in &channels {
                        let first = channel / channels_per_group * per_group;
                        let weights = &weights[(tap + channel) * per_group..][..per_group];
                        for (sum, &weight) in sums[first..][..per_group].iter_mut().zip(weights) {
                            *sum += i32::from(delta) * i32::from(weight);
                        }
                    }
                    macs += (channels.len() * per_group) as u64;
                }
            }
            self.channels = channels;
        }
        macs
    }

    /// Changes the sums of averages.
    fn average(&mut self, input: &Changes, channels: usize) {
        self.touch(0);
        for &position in &input.positions {
            let deltas = &input.deltas[position as usize * channels..][..channels];
            for (sum, &delta) in self.sums.iter_mut().zip(deltas) {
                *sum += i32::from(delta);
            }
        }
    }

    /// Adds again where one of both differs.
    fn add(
        &mut self,
        table: &SumTable,
        inputs: [&Changes; 2],
        bytes: [&[u8]; 2],
        channels: usize,
        output: &mut Changes,
    ) {
        for &position in inputs.iter().flat_map(|input| &input.positions) {
            self.touch(position as usize);
        }
        while let Some(position) = self.touched.pop() {
            self.marks[position as usize] = false;
            let mut differs = false;
            for element in position as usize * channels..(position as usize + 1) * channels {
                let [a, b] = [0, 1].map(|which| (bytes[which][element], inputs[which].deltas[element]));
                let old = table.of(a.0, b.0);
                let new = table.of(changed(a.0, a.1), changed(b.0, b.1));
                output.deltas[element] = i16::from(new) - i16::from(old);
                differs |= new != old;
            }
            if differs {
                output.positions.push(position);
            }
        }
    }

    /// Makes bytes of the touched sums, and keeps what differs.
    fn requantise(
        &mut self,
        golden: &[i32],
        bytes: &[u8],
        multipliers: &[f32],
        zero: u8,
        channels: usize,
        output: &mut Changes,
    ) {
        for position in self.touched.drain(..) {
            self.marks[position as usize] = false;
            let elements = position as usize * channels..(position as usize + 1) * channels;
            let golden = golden[elements.clone()].iter().zip(&bytes[elements.clone()]).zip(multipliers);
            let changes = self.sums[elements.clone()].iter_mut().zip(&mut output.deltas[elements]);
            let mut differs = 0;
            for ((sum, delta), ((&golden, &byte), &multiplier)) in changes.zip(golden) {
                let new = requantise(golden + std::mem::take(sum), multiplier, zero);
                *delta = i16::from(new) - i16::from(byte);
                differs |= *delta;
            }
            if differs != 0 {
                output.positions.push(position);
            }
        }
    }
}
