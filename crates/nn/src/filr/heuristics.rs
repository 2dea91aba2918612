//! Estimates of feature maps that need no injection, from fault-free runs of the analysis set.
//!
//! The thesis names six (its Table 6.3). Gain is of C. Sakr, Y. Kim and N. Shanbhag, *Analytical guarantees on numerical precision of
//! deep neural networks*, ICML 2017: with logits z, the predicted class ŷ and the neurons a of a feature map F,
//!
//! ```text
//! E[F]       = mean over images of Σ_{i≠ŷ} Σ_{a∈F} (∂(z_i - z_ŷ)/∂a)² / (24 · (z_i - z_ŷ)²)
//! Gain[F]    = Δ² · E[F], where Δ is the step of the tensor
//! ```
//!
//! where 24 is 12, of the variance Δ²/12 of rounding, times 2, of Chebyshev's inequality on one side; a class that ties with ŷ has
//! the divisor 1, as in the authors' code. The formula of ModGain is missing from the text of the thesis. Here it is **our
//! reconstruction**: one neuron of F, each with the same chance, is replaced by a number drawn uniformly from the map's range [lo, hi]:
//!
//! ```text
//! ModGain[F] = mean over images of Σ_{i≠ŷ} 1/|F| Σ_{a∈F} (∂(z_i - z_ŷ)/∂a)² · ((hi-lo)²/12 + ((hi+lo)/2 - a)²) / (2 · (z_i - z_ŷ)²)
//! ```

use serde::Serialize;

use crate::filr::inject::Work;
use crate::filr::maps::FeatureMap;
use crate::filr::part::Part;
use crate::filr::sets::AnalysisSet;
use crate::filr::settings::FilrError;
use crate::gradient::{RealRun, Reverse};

/// An estimate that needs no injection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Heuristic {
    /// The largest value of the map.
    MaxNeuron,
    /// The largest value less the smallest.
    FmapRange,
    /// The mean over images of the Euclidean norm of the map.
    L2,
    /// The mean over images and neurons of |∂ cross entropy / ∂ neuron|.
    Gradient,
    /// The bound of Sakr, Kim and Shanbhag on mismatches by rounding.
    Gain,
    /// The same with a random number in place of a neuron; our reconstruction.
    ModGain,
    /// Gain without the square of the step. It is not in the thesis.
    GainWithoutStep,
}

/// The heuristics in the order of the thesis, then ours.
pub const HEURISTICS: [Heuristic; 7] = [
    Heuristic::MaxNeuron,
    Heuristic::FmapRange,
    Heuristic::L2,
    Heuristic::Gradient,
    Heuristic::Gain,
    Heuristic::ModGain,
    Heuristic::GainWithoutStep,
];

/// Images that a thread takes at a time.
const CHUNK: usize = 16;

/// The classes beside the predicted one that Gain and ModGain look at: those of the largest logits.
const CLASSES: usize = 20;

impl Heuristic {
    /// Its name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::MaxNeuron => "MaxNeuron",
            Self::FmapRange => "FmapRange",
            Self::L2 => "L2",
            Self::Gradient => "Gradient",
            Self::Gain => "Gain",
            Self::ModGain => "ModGain",
            Self::GainWithoutStep => "Gain without Δ²",
        }
    }
}

/// The values of a feature map over some images.
#[derive(Clone, Copy, Debug)]
struct Values {
    low: f64,
    high: f64,
    /// The sum over images of the Euclidean norm.
    norms: f64,
}

/// The gradients of a feature map over some images.
#[derive(Clone, Copy, Debug, Default)]
struct Slopes {
    /// The sum over images of the mean of |∂ cross entropy / ∂ neuron|.
    gradient: f64,
    /// The sum over images of what [`Heuristic::GainWithoutStep`] is the mean of.
    gain: f64,
    /// The same of [`Heuristic::ModGain`].
    replaced: f64,
}

/// The estimates of each feature map, in the order of [`HEURISTICS`]; each stands in the place of P_prop.
///
/// # Errors
/// When the work is stopped.
pub fn estimate(
    set: &AnalysisSet<'_>,
    maps: &[FeatureMap],
    work: Work<'_>,
) -> Result<[Vec<f64>; HEURISTICS.len()], FilrError> {
    let (part, images) = (set.part(), set.images().len());
    let network = part.network();
    let chunks = images.div_ceil(CHUNK);
    let of_chunk = |chunk: usize| chunk * CHUNK..((chunk + 1) * CHUNK).min(images);
    let values = work.parts(
        network,
        chunks,
        |_, chunk| Some(of_chunk(chunk).map(|image| values(part, maps, image)).collect::<Vec<_>>()),
        &mut |_| {},
    )?;
    let values = fold(values.into_iter().flatten(), |a, b| Values {
        low: a.low.min(b.low),
        high: a.high.max(b.high),
        norms: a.norms + b.norms,
    });
    let reverse = Reverse::new(network);
    let slopes = work.parts(
        network,
        chunks,
        |_, chunk| {
            let of = |image| (!work.is_stopped()).then(|| slopes(part, &reverse, maps, &values, image));
            of_chunk(chunk).map(of).collect::<Option<Vec<_>>>()
        },
        &mut |_| {},
    )?;
    let slopes = fold(slopes.into_iter().flatten(), |a, b| Slopes {
        gradient: a.gradient + b.gradient,
        gain: a.gain + b.gain,
        replaced: a.replaced + b.replaced,
    });
    let mean = |sum: f64| sum / images.max(1) as f64;
    let of = |heuristic: Heuristic, map: usize| match heuristic {
        Heuristic::MaxNeuron => values[map].high,
        Heuristic::FmapRange => values[map].high - values[map].low,
        Heuristic::L2 => mean(values[map].norms),
        Heuristic::Gradient => mean(slopes[map].gradient),
        Heuristic::Gain => {
            mean(slopes[map].gain) * f64::from(network.output(maps[map].layer).quantisation.scale).powi(2)
        }
        Heuristic::ModGain => mean(slopes[map].replaced),
        Heuristic::GainWithoutStep => mean(slopes[map].gain),
    };
    Ok(HEURISTICS.map(|heuristic| (0..maps.len()).map(|map| of(heuristic, map)).collect()))
}

/// Joins what images came to, map by map, in the order of the images.
fn fold<T>(images: impl Iterator<Item = Vec<T>>, join: impl Fn(&T, &T) -> T) -> Vec<T> {
    let joined = images.reduce(|all, image| all.iter().zip(&image).map(|(all, image)| join(all, image)).collect());
    joined.unwrap_or_default()
}

/// The numbers of a feature map in a tensor of position-major numbers.
fn of_map<'v, T>(values: &'v [T], map: &FeatureMap, channels: usize) -> impl Iterator<Item = &'v T> {
    values.iter().skip(map.channel).step_by(channels)
}

fn values(part: &Part<'_>, maps: &[FeatureMap], image: usize) -> Vec<Values> {
    let run = part.golden(image);
    let of = |map: &FeatureMap| {
        let output = part.network().output(map.layer);
        let bytes = of_map(&run.tensors[map.layer + 1], map, output.shape.channels);
        let mut found = Values { low: f64::INFINITY, high: f64::NEG_INFINITY, norms: 0.0 };
        for value in bytes.map(|&byte| f64::from(output.quantisation.value(byte))) {
            (found.low, found.high) = (found.low.min(value), found.high.max(value));
            found.norms += value * value;
        }
        Values { norms: found.norms.sqrt(), ..found }
    };
    maps.iter().map(of).collect()
}

fn slopes(part: &Part<'_>, reverse: &Reverse<'_>, maps: &[FeatureMap], values: &[Values], image: usize) -> Vec<Slopes> {
    let network = part.network();
    let golden = part.golden(image);
    let run = RealRun::new(network, part.pixels(image), None);
    let logits = run.logits();
    let loss = reverse.gradients(&run, &loss_direction(logits, part.label(image)));
    let channels = |map: &FeatureMap| network.output(map.layer).shape.channels;
    let mut found = vec![Slopes::default(); maps.len()];
    for (found, map) in found.iter_mut().zip(maps) {
        let all: f64 = of_map(&loss[map.layer + 1], map, channels(map)).map(|by| by.abs()).sum();
        found.gradient = all / map.neurons as f64;
    }
    for (margin, direction) in rivals(logits) {
        let gradients = reverse.gradients(&run, &direction);
        let below = if margin == 0.0 { 1.0 } else { margin * margin };
        for ((found, map), range) in found.iter_mut().zip(maps).zip(values) {
            let (variance, middle) = ((range.high - range.low).powi(2) / 12.0, (range.high + range.low) / 2.0);
            let quantisation = network.output(map.layer).quantisation;
            let bytes = of_map(&golden.tensors[map.layer + 1], map, channels(map));
            let (mut plain, mut replaced) = (0.0, 0.0);
            for (by, &byte) in of_map(&gradients[map.layer + 1], map, channels(map)).zip(bytes) {
                let square = by * by;
                plain += square;
                replaced += square * (variance + (middle - f64::from(quantisation.value(byte))).powi(2));
            }
            found.gain += plain / (24.0 * below);
            found.replaced += replaced / map.neurons as f64 / (2.0 * below);
        }
    }
    found
}

/// The gradient of the cross entropy to a label with respect to the logits: softmax, less 1 for the label.
fn loss_direction(logits: &[f64], label: usize) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = logits.iter().map(|logit| (logit - largest).exp()).collect();
    let all: f64 = powers.iter().sum();
    let less = |class: usize| if class == label { 1.0 } else { 0.0 };
    powers.iter().enumerate().map(|(class, power)| power / all - less(class)).collect()
}

/// The classes beside the predicted one with the largest logits: how far each is from it, and the direction of that difference.
fn rivals(logits: &[f64]) -> Vec<(f64, Vec<f64>)> {
    let mut classes: Vec<usize> = (0..logits.len()).collect();
    classes.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]).then(a.cmp(&b)));
    let Some((&predicted, others)) = classes.split_first() else { return Vec::new() };
    let rival = |&class: &usize| {
        let mut direction = vec![0.0; logits.len()];
        (direction[class], direction[predicted]) = (1.0, -1.0);
        (logits[class] - logits[predicted], direction)
    };
    others.iter().take(CLASSES).map(rival).collect()
}
