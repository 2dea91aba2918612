//! One step of a model: a token at a position, the keys and values of the positions before, and the logits that follow.
//!
//! # Order of sums
//!
//! An element of a matrix product begins with its bias, and products are added in the order of the inputs; so are the logits, from
//! 0, the scores of attention, from 0 in the order of channels, and its results, from 0 in the order of positions. LayerNorm adds in
//! the order of channels. Every product and every sum is rounded to 32 bits. Exponentials and GELU are computed in 64 bits and
//! rounded once. What a part makes is stored in the format of the model, and so is the residual stream.

use fault::Model;

use super::model::{LanguageModel, Parameters};
use super::parts::{self, ModelShape};
use crate::exponential::{exp, gelu};
use crate::float::ValueFormat;
use crate::hit::HitBits;

/// The keys and values of the positions that were read, by layer and position.
#[derive(Clone, Debug, PartialEq)]
pub struct Cache {
    /// For each layer its keys and its values, position after position.
    layers: Vec<[Vec<f32>; 2]>,
    width: usize,
}

impl Cache {
    /// That of a model, for this number of positions.
    #[must_use]
    pub fn new(shape: ModelShape, positions: usize) -> Self {
        let empty = || vec![0.0; positions * shape.width];
        Self { layers: (0..shape.layers).map(|_| [empty(), empty()]).collect(), width: shape.width }
    }

    /// Takes the first positions of another.
    pub fn copy_first(&mut self, other: &Self, positions: usize) {
        let end = positions * self.width;
        for (to, from) in self.layers.iter_mut().flatten().zip(other.layers.iter().flatten()) {
            to[..end].copy_from_slice(&from[..end]);
        }
    }

    /// Whether both have the same bits at a position.
    #[must_use]
    pub fn equal_at(&self, other: &Self, position: usize) -> bool {
        let range = position * self.width..(position + 1) * self.width;
        let mut both = self.layers.iter().flatten().zip(other.layers.iter().flatten());
        both.all(|(a, b)| a[range.clone()].iter().zip(&b[range.clone()]).all(|(a, b)| a.to_bits() == b.to_bits()))
    }

    /// An element that the part with this number has stored.
    pub fn element_mut(&mut self, part: usize, position: usize, channel: usize) -> Option<&mut f32> {
        let inner = part.checked_sub(2)?;
        let which = [parts::KEY, parts::VALUE].iter().position(|&it| it == inner % parts::OF_LAYER)?;
        self.layers.get_mut(inner / parts::OF_LAYER)?[which].get_mut(position * self.width + channel)
    }
}

/// A change of one element of what a part makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputHit {
    /// The part, by number.
    pub part: usize,
    /// The element.
    pub element: usize,
    /// The change.
    pub model: Model,
}

/// A change of a stored value: the value afterwards, and the bits before and after.
#[must_use]
pub fn changed(format: ValueFormat, value: f32, model: Model) -> (f32, HitBits) {
    let before = format.stored(value);
    let after = model.apply(before.into()) as u32;
    (format.value(after), HitBits { before, after })
}

/// The memory of a step.
#[derive(Clone, Debug)]
pub struct Decoder {
    stream: Vec<f32>,
    norm: Vec<f32>,
    query: Vec<f32>,
    row: Vec<f32>,
    attention: Vec<f32>,
    inner: Vec<f32>,
    scores: Vec<f32>,
    logits: Vec<f32>,
}

/// How results of parts are stored, and the fault that changes one.
struct Storing {
    format: ValueFormat,
    hit: Option<OutputHit>,
    found: Option<HitBits>,
}

impl Storing {
    fn keep(&mut self, part: usize, values: &mut [f32]) {
        if self.format != ValueFormat::Fp32 {
            values.iter_mut().for_each(|value| *value = self.format.kept(*value));
        }
        if let Some(hit) = self.hit
            && hit.part == part
            && let Some(value) = values.get_mut(hit.element)
        {
            let (after, bits) = changed(self.format, *value, hit.model);
            *value = after;
            self.found = Some(bits);
        }
    }

    /// Adds to the residual stream.
    fn add(&self, stream: &mut [f32], values: &[f32]) {
        stream.iter_mut().zip(values).for_each(|(sum, value)| *sum = self.format.kept(*sum + value));
    }
}

impl Decoder {
    /// Memory for a model.
    #[must_use]
    pub fn new(shape: ModelShape) -> Self {
        let row = || vec![0.0; shape.width];
        Self {
            stream: row(),
            norm: row(),
            query: row(),
            row: row(),
            attention: row(),
            inner: vec![0.0; shape.inner],
            scores: Vec::new(),
            logits: vec![0.0; shape.tokens],
        }
    }

    /// The logits of the last step.
    #[must_use]
    pub fn logits(&self) -> &[f32] {
        &self.logits
    }

    /// Reads a token at a position; tells the bits that `hit` changed, if it was met.
    ///
    /// The token and the position are of the model, and the cache has the positions before.
    pub fn step(
        &mut self,
        model: &LanguageModel,
        token: usize,
        position: usize,
        cache: &mut Cache,
        hit: Option<OutputHit>,
    ) -> Option<HitBits> {
        let mut storing = Storing { format: model.format(), hit, found: None };
        let (ModelShape { width, .. }, all) = (model.shape(), model.parameters());
        let row = |table: usize, row: usize| &all[table].weight[row * width..(row + 1) * width];
        let both = row(parts::EMBED, token).iter().zip(row(parts::POSITION, position));
        self.stream.iter_mut().zip(both).for_each(|(sum, (token, position))| *sum = token + position);
        storing.keep(parts::EMBED, &mut self.stream);
        for (layer, stored) in cache.layers.iter_mut().enumerate() {
            self.attend(model, layer, position, stored, &mut storing);
            self.feed_forward(model, layer, &mut storing);
        }
        let last = all.len() - 2;
        normalise(&self.stream, &all[last], &mut self.norm);
        storing.keep(last, &mut self.norm);
        self.logits.fill(0.0);
        products(&self.norm, model.head(), &mut self.logits);
        storing.keep(last + 1, &mut self.logits);
        storing.found
    }

    fn attend(
        &mut self,
        model: &LanguageModel,
        layer: usize,
        position: usize,
        [keys, values]: &mut [Vec<f32>; 2],
        storing: &mut Storing,
    ) {
        let (ModelShape { width, heads, .. }, all) = (model.shape(), model.parameters());
        let part = |part| parts::number(layer, part);
        normalise(&self.stream, &all[part(parts::LN1)], &mut self.norm);
        storing.keep(part(parts::LN1), &mut self.norm);
        let here = position * width..(position + 1) * width;
        for (which, to) in [
            (parts::QUERY, &mut self.query[..]),
            (parts::KEY, &mut keys[here.clone()]),
            (parts::VALUE, &mut values[here.clone()]),
        ] {
            linear(&self.norm, &all[part(which)], to);
            storing.keep(part(which), to);
        }
        let size = width / heads;
        let scale = 1.0 / (size as f32).sqrt();
        for head in (0..width).step_by(size) {
            let channels = head..head + size;
            let query = &self.query[channels.clone()];
            self.scores.clear();
            self.scores.extend(keys[..here.end].chunks_exact(width).map(|key| {
                let products = query.iter().zip(&key[channels.clone()]);
                products.fold(0.0, |sum, (query, key)| sum + query * key) * scale
            }));
            let weights = softmax(&mut self.scores);
            let result = &mut self.attention[channels.clone()];
            result.fill(0.0);
            for (weight, value) in weights.iter().zip(values.chunks_exact(width)) {
                let value = &value[channels.clone()];
                result.iter_mut().zip(value).for_each(|(sum, value)| *sum += weight * value);
            }
        }
        storing.keep(part(parts::ATTENTION), &mut self.attention);
        linear(&self.attention, &all[part(parts::PROJECTION)], &mut self.row);
        storing.keep(part(parts::PROJECTION), &mut self.row);
        storing.add(&mut self.stream, &self.row);
    }

    fn feed_forward(&mut self, model: &LanguageModel, layer: usize, storing: &mut Storing) {
        let all = model.parameters();
        let part = |part| parts::number(layer, part);
        normalise(&self.stream, &all[part(parts::LN2)], &mut self.norm);
        storing.keep(part(parts::LN2), &mut self.norm);
        linear(&self.norm, &all[part(parts::EXPANSION)], &mut self.inner);
        storing.keep(part(parts::EXPANSION), &mut self.inner);
        self.inner.iter_mut().for_each(|value| *value = gelu(*value));
        storing.keep(part(parts::ACTIVATION), &mut self.inner);
        linear(&self.inner, &all[part(parts::CONTRACTION)], &mut self.row);
        storing.keep(part(parts::CONTRACTION), &mut self.row);
        storing.add(&mut self.stream, &self.row);
    }
}

/// A product with a matrix that lies as (input, output), on top of the bias.
fn linear(input: &[f32], of: &Parameters, output: &mut [f32]) {
    output.copy_from_slice(&of.bias);
    products(input, &of.weight, output);
}

fn products(input: &[f32], weight: &[f32], output: &mut [f32]) {
    for (input, row) in input.iter().zip(weight.chunks_exact(output.len())) {
        output.iter_mut().zip(row).for_each(|(sum, weight)| *sum += input * weight);
    }
}

/// LayerNorm with an epsilon of 10⁻⁵.
fn normalise(input: &[f32], of: &Parameters, output: &mut [f32]) {
    let count = input.len() as f32;
    let mean = input.iter().fold(0.0, |sum, value| sum + value) / count;
    let squares = input.iter().fold(0.0, |sum: f32, value| sum + (value - mean) * (value - mean));
    let deviation = (squares / count + 1e-5).sqrt();
    let scales = of.weight.iter().zip(&of.bias);
    for ((output, input), (weight, bias)) in output.iter_mut().zip(input).zip(scales) {
        *output = (input - mean) / deviation * weight + bias;
    }
}

/// Weights of attention in place of scores; NaN if a score is NaN or infinite.
fn softmax(scores: &mut [f32]) -> &[f32] {
    let largest = scores.iter().fold(f32::NEG_INFINITY, |largest, &score| largest.max(score));
    scores.iter_mut().for_each(|score| *score = exp(f64::from(*score - largest)) as f32);
    let sum = scores.iter().fold(0.0, |sum, weight| sum + weight);
    scores.iter_mut().for_each(|weight| *weight /= sum);
    scores
}
