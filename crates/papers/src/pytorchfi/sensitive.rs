//! A large value in the feature map to which the cross entropy of an image is least sensitive, and in that to which it is most.

use fault::Model;
use methods::kit::StudyError;
use nn::NetworkTarget;
use nn::delta::Delta;
use nn::forward::top_class;
use nn::gradient::{RealRun, Reverse};
use nn::heat_map::{HeatMapper, SensitivityContrast};
use nn::hit::{Hit, LayerOperand};
use stats::{Draws, Proportion};

/// The value of the chapter's Section 5.4.4; a byte stores the largest that it can.
const LARGE: f64 = 10_000.0;

/// How many images change their class by a large value in one neuron of a feature map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SensitiveMaps {
    pub(super) images: u64,
    /// Of the map with the least mean of |∂ cross entropy / ∂ neuron|.
    pub(super) least: u64,
    /// Of the map with the largest.
    pub(super) most: u64,
}

impl SensitiveMaps {
    pub(super) fn shares(self) -> Option<[Proportion; 2]> {
        Some([Proportion::new(self.least, self.images)?, Proportion::new(self.most, self.images)?])
            .filter(|_| self.images > 0)
    }
}

/// The share of the first images that the network gets right whose heat map (Grad-CAM, of the last layer with rows and columns) changes
/// more by a large value in all of the feature map to which the score is most sensitive than in that to which it is least.
///
/// # Errors
/// If the network has no such layer.
pub(super) fn skewed_heat_maps(target: &NetworkTarget, images: usize) -> Result<Proportion, StudyError> {
    let words = |error: String| StudyError::Words(format!("make heat maps of {}: {error}", target.network().name()));
    let mapper = HeatMapper::new(target.network(), target.images().task(), None);
    let mapper = mapper.map_err(|error| words(error.to_string()))?;
    let count = target.images().count();
    let (mut more, mut all) = (0, 0);
    for image in right_images(target).take(images) {
        let of_image = (image, target.images().pixels(image));
        let found =
            SensitivityContrast::new(mapper, of_image, LARGE, count).map_err(|error| words(error.to_string()))?;
        let [least, most] = found.differences();
        more += u64::from(most > least);
        all += 1;
    }
    Ok(Proportion::from_counts(more, all - more))
}

/// A feature map: a layer and a channel.
type MapPlace = (usize, usize);

/// The images that the network gets right.
fn right_images(target: &NetworkTarget) -> impl Iterator<Item = usize> {
    let labels = target.images().labels();
    let right = |&image: &usize| top_class(target.golden_run(image).logits()) == usize::from(labels[image]);
    (0..target.images().count()).filter(right)
}

/// Injects into the first images that the network gets right.
pub(super) fn sensitive(target: &NetworkTarget, images: usize) -> SensitiveMaps {
    let network = target.network();
    let (reverse, mut delta) = (Reverse::new(network), Delta::new(network));
    let mut found = SensitiveMaps::default();
    for image in right_images(target).take(images) {
        let Some([least, most]) = ends(target, &reverse, image) else { continue };
        let golden = target.golden_run(image);
        let mut draws = Draws::new(image as u64, 0);
        let mut changes = |(layer, channel): MapPlace| {
            let shape = network.output(layer).shape;
            let position = draws.below(shape.positions() as u64).unwrap_or(0) as usize;
            let element = position * shape.channels + channel;
            let stored = network.topology().stored(layer, LayerOperand::Out, element, LARGE).unwrap_or_default();
            delta.run(&golden, &Hit::neuron(layer, element, Model::Value(stored.into())));
            let logits = delta.tensor(&golden, network.layers().len());
            u64::from(top_class(&logits) != top_class(golden.logits()))
        };
        found.images += 1;
        found.least += changes(least);
        found.most += changes(most);
    }
    found
}

/// The feature maps of convolutions with the least and the largest mean gradient on an image.
fn ends(target: &NetworkTarget, reverse: &Reverse<'_>, image: usize) -> Option<[MapPlace; 2]> {
    let network = target.network();
    let run = RealRun::new(network, target.images().pixels(image), None);
    let largest = run.logits().iter().copied().fold(f64::MIN, f64::max);
    let powers: Vec<f64> = run.logits().iter().map(|logit| (logit - largest).exp()).collect();
    let sum: f64 = powers.iter().sum();
    let label = usize::from(target.images().labels()[image]);
    // The gradient of the cross entropy: the softmax less 1 at the label.
    let direction = powers.iter().enumerate().map(|(class, power)| power / sum - f64::from(u8::from(class == label)));
    let gradients = reverse.gradients(&run, &direction.collect::<Vec<f64>>());
    let mut maps: Vec<(f64, MapPlace)> = Vec::new();
    for (layer, found) in network.layers().iter().enumerate() {
        if !matches!(found.class(), "conv" | "depthwise") {
            continue;
        }
        let shape = network.output(layer).shape;
        maps.extend((0..shape.channels).map(|channel| {
            let of_map = gradients[layer + 1][channel..].iter().step_by(shape.channels);
            (of_map.map(|by| by.abs()).sum::<f64>() / shape.positions() as f64, (layer, channel))
        }));
    }
    let least = maps.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let most = maps.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some([least.1, most.1])
}
