//! Forward runs of floating point, whole or only of what a fault changes.

use super::network::{FloatNetwork, FloatOperator};
use super::step::{FloatStep, strike_value};
use crate::delta::{DeltaRun, ends_before_the_last};
use crate::hit::{Hit, HitBits, LayerOperand, Place};

/// Everything that a forward run makes.
#[derive(Clone, Debug)]
pub struct FloatRun {
    /// The values of each tensor, the input first.
    pub tensors: Vec<Vec<f32>>,
    /// The first element that was hit, if one was.
    pub hit: Option<HitBits>,
}

impl FloatRun {
    /// The values of the logits.
    #[must_use]
    pub fn logits(&self) -> &[f32] {
        self.tensors.last().map_or(&[], Vec::as_slice)
    }

    /// Its size in memory, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.tensors.iter().map(|tensor| tensor.len() * size_of::<f32>()).sum()
    }
}

/// Runs the network on the values of an image, position-major. What a layer reads and holds is hit when it begins, what it
/// makes when it has made it.
///
/// An image of another size is filled up with zeros, or cut off: readers of images check them.
#[must_use]
pub fn float_forward(network: &FloatNetwork, image: &[f32], hit: Option<&Hit>) -> FloatRun {
    let mut input: Vec<f32> = image.iter().map(|&value| network.format().kept(value)).collect();
    input.resize(network.tensors()[0].shape.elements(), 0.0);
    let mut run = FloatRun { tensors: vec![input], hit: None };
    for number in 0..network.layers().len() {
        let places = hit.map_or(&[][..], |hit| hit.of_layer(number));
        let shape = network.tensors()[number + 1].shape;
        let mut made = vec![0.0; shape.elements()];
        let step = FloatStep::new(network, number, &run.tensors, places, &mut run.hit);
        for (at, out) in made.chunks_mut(shape.channels).enumerate() {
            step.position(at, out);
        }
        drop(step);
        strike_outputs(network, places, &mut made, &mut run.hit);
        run.tensors.push(made);
    }
    run
}

/// Changes what a layer made; the positions that were hit.
fn strike_outputs(network: &FloatNetwork, places: &[Place], made: &mut [f32], first: &mut Option<HitBits>) -> Vec<u32> {
    let mut positions = Vec::new();
    for place in places.iter().filter(|place| place.operand == LayerOperand::Out) {
        if let Some(value) = made.get_mut(place.element) {
            strike_value(network.format(), place, value, first);
            positions.push((place.element / network.tensors()[place.layer + 1].shape.channels) as u32);
        }
    }
    positions
}

/// Runs hits one after the other: the outputs that a change touches are made again, each whole and in the order of
/// [`float_forward`], and only what differs then is carried on.
#[derive(Clone, Debug)]
pub struct FloatDelta<'n> {
    network: &'n FloatNetwork,
    tensors: Vec<Vec<f32>>,
    /// The positions of each tensor whose bits differ.
    changed: Vec<Vec<u32>>,
    /// Whether the tensors are those of a fault-free run, but for what is changed.
    is_filled: bool,
}

impl<'n> FloatDelta<'n> {
    /// For hits of this network.
    #[must_use]
    pub fn new(network: &'n FloatNetwork) -> Self {
        let tensors: Vec<_> = network.tensors().iter().map(|tensor| vec![0.0; tensor.shape.elements()]).collect();
        Self { network, changed: vec![Vec::new(); tensors.len()], tensors, is_filled: false }
    }

    /// Whether a tensor differs from that of the fault-free run.
    #[must_use]
    pub fn differs(&self, tensor: usize) -> bool {
        self.changed.get(tensor).is_some_and(|changed| !changed.is_empty())
    }

    /// The values of a tensor after the last hit.
    #[must_use]
    pub fn tensor(&self, tensor: usize) -> &[f32] {
        &self.tensors[tensor]
    }

    /// Makes the changes of one hit of the fault-free run; those of the hit before are gone.
    pub fn run(&mut self, golden: &FloatRun, hit: &Hit) -> DeltaRun {
        self.restore(golden);
        let mut run = DeltaRun { hit: None, macs: 0, stopped: false };
        let first = hit.places().first().map_or(usize::MAX, |place| place.layer);
        for number in first..self.network.layers().len() {
            let places = hit.of_layer(number);
            if !places.is_empty() || self.network.layers()[number].inputs.iter().any(|&input| self.differs(input)) {
                run.macs += self.layer(golden, number, places, &mut run.hit);
            }
        }
        let inputs = self.network.layers().iter().map(|layer| &layer.inputs[..]);
        run.stopped = ends_before_the_last(inputs, hit, |tensor| self.differs(tensor));
        run
    }

    /// Makes all tensors those of the fault-free run: of the image of the hit before, only what differs.
    fn restore(&mut self, golden: &FloatRun) {
        let is_same = self.is_filled && same_bits(&self.tensors[0], &golden.tensors[0]);
        let shapes = self.network.tensors().iter().map(|tensor| tensor.shape);
        for (((tensor, golden), changed), shape) in
            self.tensors.iter_mut().zip(&golden.tensors).zip(&mut self.changed).zip(shapes)
        {
            if is_same {
                for &at in &*changed {
                    let range = at as usize * shape.channels..(at as usize + 1) * shape.channels;
                    tensor[range.clone()].copy_from_slice(&golden[range]);
                }
            } else {
                tensor.copy_from_slice(golden);
            }
            changed.clear();
        }
        self.is_filled = true;
    }

    fn layer(&mut self, golden: &FloatRun, number: usize, places: &[Place], first: &mut Option<HitBits>) -> u64 {
        let (before, rest) = self.tensors.split_at_mut(number + 1);
        let Some(made) = rest.first_mut() else { return 0 };
        let shape = self.network.tensors()[number + 1].shape;
        let step = FloatStep::new(self.network, number, before, places, first);
        let mut marks = vec![false; shape.positions()];
        for (which, &input) in self.network.layers()[number].inputs.iter().enumerate() {
            let channels = self.network.tensors()[input].shape.channels;
            let struck = places.iter().filter(|place| place.operand == LayerOperand::In(which));
            let struck = struck.map(|place| (place.element / channels) as u32);
            for at in self.changed[input].iter().copied().chain(struck) {
                if step.differs(which, at as usize, &golden.tensors[input]) {
                    touch(self.network, number, which, at as usize, &mut marks);
                }
            }
        }
        if places.iter().any(|place| matches!(place.operand, LayerOperand::Weight | LayerOperand::Bias)) {
            marks.fill(true);
        }
        let mut touched: Vec<u32> = (0..marks.len() as u32).filter(|&at| marks[at as usize]).collect();
        let macs = self.network.topology().macs(number) / shape.positions() as u64 * touched.len() as u64;
        for &at in &touched {
            step.position(at as usize, &mut made[at as usize * shape.channels..][..shape.channels]);
        }
        drop(step);
        touched.extend(strike_outputs(self.network, places, made, first));
        touched.sort_unstable();
        touched.dedup();
        let golden = &golden.tensors[number + 1];
        touched.retain(|&at| {
            let range = at as usize * shape.channels..(at as usize + 1) * shape.channels;
            made[range.clone()].iter().zip(&golden[range]).any(|(a, b)| a.to_bits() != b.to_bits())
        });
        self.changed[number + 1] = touched;
        macs
    }
}

fn same_bits(some: &[f32], others: &[f32]) -> bool {
    some.iter().zip(others).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// Marks the positions of what a layer makes that read a position of an input.
fn touch(network: &FloatNetwork, number: usize, which: usize, at: usize, marks: &mut [bool]) {
    let (layer, to) = (&network.layers()[number], network.tensors()[number + 1].shape);
    let from = network.tensors()[layer.inputs[which]].shape;
    match (&layer.operator, layer.window()) {
        (FloatOperator::GlobalAverage, _) => marks.fill(true),
        (FloatOperator::Product, _) if which == 1 => marks[at / from.width * to.width..][..to.width].fill(true),
        (FloatOperator::Rearrange(moved), _) => {
            moved.readers(which, at).iter().for_each(|&position| marks[position as usize] = true);
        }
        (FloatOperator::Multiply, _) if from.positions() < to.positions() => marks.fill(true),
        (_, None) => marks[at] = true,
        (_, Some(window)) => {
            let (y, x) = (at / from.width, at % from.width);
            for row in (0..window.kernel[0]).filter_map(|r| window.window_of(0, y, r, to.height)) {
                for column in (0..window.kernel[1]).filter_map(|s| window.window_of(1, x, s, to.width)) {
                    marks[row * to.width + column] = true;
                }
            }
        }
    }
}
