//! Some images of a target, by numbers of their own: whoever has a part cannot reach any other image.

use std::borrow::Cow;

use crate::arithmetic::Quantisation;
use crate::delta::Delta;
use crate::filr::certainty::{Certainty, cross_entropy};
use crate::filr::table::{Effect, ImageFacts, Sdc};
use crate::forward::{Run, top_class};
use crate::hit::Hit;
use crate::network::Network;
use crate::target::NetworkTarget;

/// Some images of a target with what their fault-free runs came to.
#[derive(Clone, Debug)]
pub(crate) struct Part<'t> {
    target: &'t NetworkTarget,
    /// The images, by their numbers in the target.
    numbers: Vec<usize>,
    facts: Vec<ImageFacts>,
    /// The cross entropy of each fault-free run.
    losses: Vec<f64>,
    /// The images that are right, by their numbers in the part.
    right: Vec<usize>,
}

impl<'t> Part<'t> {
    /// These images of a target.
    pub(crate) fn new(target: &'t NetworkTarget, numbers: Vec<usize>) -> Self {
        let quantisation = target.network().logits().quantisation;
        let (mut facts, mut losses) = (Vec::new(), Vec::new());
        for &number in &numbers {
            let run = target.golden_run(number);
            let label = usize::from(target.images().labels()[number]);
            let certainty = Certainty::of(run.logits(), quantisation);
            facts.push(ImageFacts { right: top_class(run.logits()) == label, certainty });
            losses.push(cross_entropy(run.logits(), quantisation, label));
        }
        let right = (0..numbers.len()).filter(|&image| facts[image].right).collect();
        Self { target, numbers, facts, losses, right }
    }

    /// The network.
    pub(crate) fn network(&self) -> &'t Network {
        self.target.network()
    }

    /// What the fault-free runs came to.
    pub(crate) fn facts(&self) -> &[ImageFacts] {
        &self.facts
    }

    /// The images that are right.
    pub(crate) fn right(&self) -> &[usize] {
        &self.right
    }

    /// The fault-free run of an image.
    pub(crate) fn golden(&self, image: usize) -> Cow<'_, Run> {
        self.target.golden_run(self.numbers[image])
    }

    /// The pixels of an image.
    pub(crate) fn pixels(&self, image: usize) -> &[u8] {
        self.target.images().pixels(self.numbers[image])
    }

    /// The label of an image.
    pub(crate) fn label(&self, image: usize) -> usize {
        usize::from(self.target.images().labels()[self.numbers[image]])
    }

    /// Runs a hit of an image; none if all logits stay as they were.
    pub(crate) fn effect(&self, delta: &mut Delta<'_>, image: usize, hit: &Hit) -> Option<Effect> {
        let golden = self.golden(image);
        delta.run(&golden, hit);
        let logits = self.network().layers().len();
        if !delta.differs(logits) {
            return None;
        }
        let found = delta.tensor(&golden, logits);
        let quantisation: Quantisation = self.network().logits().quantisation;
        let label = self.label(image);
        let faulty = Certainty::of(&found, quantisation);
        Some(Effect {
            seen: Sdc { image, fault_free: self.facts[image].certainty, faulty },
            mismatch: top_class(&found) != top_class(golden.logits()),
            loss: (cross_entropy(&found, quantisation, label) - self.losses[image]).abs(),
        })
    }
}
