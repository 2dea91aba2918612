//! Generations: the golden one of a prompt, and faulty ones, from the prompt or from the keys and values of the golden one.

use super::decode::{Cache, Decoder, OutputHit, changed};
use super::fault::{GenerationHit, StoredOperand};
use super::model::LanguageModel;
use super::parts;
use crate::hit::HitBits;
use crate::observe::top_value;

/// The tokens and the logits of a generation.
#[derive(Clone, Debug, PartialEq)]
pub struct Generation {
    /// The tokens that it chose.
    pub tokens: Vec<usize>,
    /// The logits of all steps, one step after the other.
    pub logits: Vec<f32>,
}

/// A generation without a fault, with what it left for other runs to start from.
#[derive(Clone, Debug, PartialEq)]
pub struct GoldenGeneration {
    /// Its tokens and its logits.
    pub generation: Generation,
    /// Its keys and values, of all positions.
    pub cache: Cache,
}

/// A generation with a fault.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultyGeneration {
    /// Its tokens and its logits.
    pub generation: Generation,
    /// The bits that were hit; none if the fault was not met.
    pub hit: Option<HitBits>,
    /// The tokens that were read for it.
    pub passes: u64,
    /// Whether it ended when nothing differed any more.
    pub stopped: bool,
}

/// Generates text on one thread; the model is changed while a fault of its weights lasts.
#[derive(Clone, Debug)]
pub struct Generator {
    model: LanguageModel,
    decoder: Decoder,
    cache: Cache,
    steps: usize,
}

impl Generator {
    /// One that continues prompts by this number of tokens.
    #[must_use]
    pub fn new(model: LanguageModel, steps: usize) -> Self {
        let shape = model.shape();
        Self { decoder: Decoder::new(shape), cache: Cache::new(shape, shape.context), model, steps }
    }

    /// The golden generation after a prompt, which has a token at least, and whose positions with those of the steps the model has.
    pub fn golden(&mut self, prompt: &[usize]) -> GoldenGeneration {
        let generation = self.whole(prompt, None).generation;
        let mut cache = Cache::new(self.model.shape(), prompt.len() - 1 + self.steps);
        cache.copy_first(&self.cache, prompt.len() - 1 + self.steps);
        GoldenGeneration { generation, cache }
    }

    /// A generation from the prompt on.
    pub fn whole(&mut self, prompt: &[usize], hit: Option<&GenerationHit>) -> FaultyGeneration {
        let before = prompt.len() - 1;
        for (position, &token) in prompt[..before].iter().enumerate() {
            self.decoder.step(&self.model, token, position, &mut self.cache, None);
        }
        let start = Generation { tokens: Vec::new(), logits: Vec::new() };
        let mut run = self.go_on(prompt, start, hit, None);
        run.passes += before as u64;
        run
    }

    /// A generation from the step of the fault on, with the keys and values that the golden one has left there.
    pub fn from_golden(
        &mut self,
        prompt: &[usize],
        golden: &GoldenGeneration,
        hit: &GenerationHit,
    ) -> FaultyGeneration {
        let (first, width) = (self.first_step(prompt.len(), hit), self.model.shape().tokens);
        self.cache.copy_first(&golden.cache, prompt.len() - 1 + first);
        let Generation { tokens, logits } = &golden.generation;
        let start = Generation { tokens: tokens[..first].to_vec(), logits: logits[..first * width].to_vec() };
        self.go_on(prompt, start, Some(hit), Some(golden))
    }

    /// The first step that can differ: of a row of the table of positions, the one that reads it.
    fn first_step(&self, length: usize, hit: &GenerationHit) -> usize {
        match self.position_row(hit) {
            Some(row) => {
                (row + 1).checked_sub(length).filter(|&step| step >= hit.step).unwrap_or(self.steps).min(self.steps)
            }
            None => hit.step,
        }
    }

    /// The row of the table of positions that is hit, if one is.
    fn position_row(&self, hit: &GenerationHit) -> Option<usize> {
        let is_row = hit.operand == StoredOperand::Weight && hit.part == parts::POSITION;
        is_row.then(|| hit.element / self.model.shape().width)
    }

    /// Whether a run with these tokens reads what is hit.
    #[must_use]
    pub fn reads(&self, prompt: &[usize], tokens: &[usize], hit: &GenerationHit) -> bool {
        if self.position_row(hit).is_some() {
            return self.first_step(prompt.len(), hit) < self.steps;
        }
        let is_row = hit.operand == StoredOperand::Weight && hit.part == parts::EMBED && !self.model.is_tied();
        let row = hit.element / self.model.shape().width;
        let mut read = prompt[prompt.len() - 1..].iter().chain(&tokens[..self.steps - 1]).skip(hit.step);
        !is_row || read.any(|&token| token == row)
    }

    /// Goes on after the steps of `run`. With the golden generation it ends once all that follows is the same.
    fn go_on(
        &mut self,
        prompt: &[usize],
        mut run: Generation,
        hit: Option<&GenerationHit>,
        golden: Option<&GoldenGeneration>,
    ) -> FaultyGeneration {
        let (mut bits, mut passes, mut stopped, mut undo) = (None, 0, false, None);
        let first = run.tokens.len();
        if let Some(hit) = hit.filter(|hit| hit.step < first || first == self.steps) {
            (bits, undo) = self.begin(hit);
        }
        for step in first..self.steps {
            let now = hit.filter(|hit| hit.step == step);
            if let Some(hit) = now.filter(|hit| hit.operand != StoredOperand::Out) {
                (bits, undo) = self.begin(hit);
            }
            let position = prompt.len() - 1 + step;
            let token = run.tokens.last().copied().unwrap_or(prompt[prompt.len() - 1]);
            let out = now.filter(|hit| hit.operand == StoredOperand::Out);
            let out = out.map(|&GenerationHit { part, element, model, .. }| OutputHit { part, element, model });
            let met = self.decoder.step(&self.model, token, position, &mut self.cache, out);
            bits = bits.or(met);
            passes += 1;
            run.tokens.push(top_value(self.decoder.logits()));
            run.logits.extend_from_slice(self.decoder.logits());
            if let Some(golden) = golden.filter(|_| out.is_some())
                && run.tokens[step] == golden.generation.tokens[step]
                && self.cache.equal_at(&golden.cache, position)
            {
                let left = run.logits.len();
                run.tokens.extend_from_slice(&golden.generation.tokens[step + 1..]);
                run.logits.extend_from_slice(&golden.generation.logits[left..]);
                stopped = true;
                break;
            }
        }
        if let Some((hit, value)) = undo {
            self.replace(&hit, value);
        }
        FaultyGeneration { generation: run, hit: bits, passes, stopped: stopped || passes == 0 }
    }

    /// Changes a weight, a bias, a key or a value; gives the bits, and what a parameter has to become again.
    fn begin(&mut self, hit: &GenerationHit) -> (Option<HitBits>, Option<(GenerationHit, f32)>) {
        let format = self.model.format();
        let held = self.model.parameters().get(hit.part);
        let before = match hit.operand {
            StoredOperand::Out => None,
            StoredOperand::Weight => held.and_then(|part| part.weight.get(hit.element)).copied(),
            StoredOperand::Bias => held.and_then(|part| part.bias.get(hit.element)).copied(),
            StoredOperand::Cache => {
                let place = self.cache.element_mut(hit.part, hit.position, hit.element);
                let found = place.map(|value| {
                    let (after, bits) = changed(format, *value, hit.model);
                    *value = after;
                    bits
                });
                return (found, None);
            }
        };
        let Some(before) = before else { return (None, None) };
        let (after, bits) = changed(format, before, hit.model);
        self.replace(hit, after);
        (Some(bits), Some((*hit, before)))
    }

    fn replace(&mut self, hit: &GenerationHit, value: f32) {
        if hit.operand == StoredOperand::Bias {
            self.model.replace_bias(hit.part, hit.element, value);
        } else {
            self.model.replace_weight(hit.part, hit.element, value);
        }
    }
}
