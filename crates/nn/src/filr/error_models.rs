//! Relative vulnerabilities of feature maps under several models of errors (the thesis' Figure 6.15).

use std::sync::atomic::AtomicBool;

use fault::Model;
use stats::Draws;

use crate::filr::inject::{Campaign, Progress, Work, campaign};
use crate::filr::maps::{FeatureMap, all_macs, by_macs, feature_maps};
use crate::filr::neuron_fault::{Injecting, NeuronFault};
use crate::filr::sets::{AnalysisSet, divide};
use crate::filr::settings::{FilrError, Settings};
use crate::float::{FloatDelta, FloatTarget};
use crate::hit::Hit;
use crate::target::NetworkTarget;

/// A model of errors in neurons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorModel {
    /// One bit of the byte flips (FxP-Flip).
    ByteFlip,
    /// The byte becomes any of 256 (FxP-Rand).
    RandomByte,
    /// The number of floating point becomes any between the least and the greatest of its layer in fault-free runs (FP-Rand).
    RandomFloat,
}

/// The vulnerabilities of all feature maps under one model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelVulnerability {
    /// The model.
    pub model: ErrorModel,
    /// Injections into all feature maps.
    pub injections: u64,
    /// Those of them that changed the class.
    pub sdcs: u64,
    /// The vulnerability of the network by mismatch, 0 to 1.
    pub v_cnn: f64,
    /// The share of each feature map in it, 0 to 1; all 0 if no injection changed the class.
    pub v_rel: Vec<f64>,
}

impl ModelVulnerability {
    fn of(model: ErrorModel, maps: &[FeatureMap], sdcs: &[u64], each: u64) -> Self {
        let rates: Vec<f64> = sdcs.iter().map(|&sdcs| sdcs as f64 / each as f64).collect();
        let masses = by_macs(maps, &rates);
        let all: f64 = masses.iter().sum();
        let v_rel = masses.iter().map(|mass| if all > 0.0 { mass / all } else { 0.0 }).collect();
        let v_cnn = all / all_macs(maps) as f64;
        Self { model, injections: each * maps.len() as u64, sdcs: sdcs.iter().sum(), v_cnn, v_rel }
    }

    /// The greatest difference of cumulative shares to another model's, in the order of this one's shares, 0 to 1.
    #[must_use]
    pub fn distance(&self, other: &Self) -> f64 {
        let mut order: Vec<usize> = (0..self.v_rel.len()).collect();
        order.sort_by(|&a, &b| self.v_rel[b].total_cmp(&self.v_rel[a]));
        let mut sums = [0.0; 2];
        let differences = order.into_iter().map(|map| {
            sums[0] += self.v_rel[map];
            sums[1] += other.v_rel[map];
            f64::abs(sums[0] - sums[1])
        });
        differences.fold(0.0, f64::max)
    }
}

/// Injects into the analysis set of a network as [`analyse`](crate::filr::analyse) does, by each model: flips by two seeds,
/// random bytes, and random numbers into `floats`, the same network in floating point on the same images.
///
/// # Errors
/// When a setting means nothing, `floats` has other convolutions, there is nothing to inject into, or `stop` is set.
pub fn error_models(
    target: &NetworkTarget,
    floats: &FloatTarget,
    settings: &Settings,
    stop: &AtomicBool,
    progress: Progress<'_>,
) -> Result<[ModelVulnerability; 4], FilrError> {
    settings.check()?;
    let (maps, work) = (feature_maps(target.network()), Work { threads: settings.threads, stop });
    if maps.is_empty() || all_macs(&maps) == 0 {
        return Err(FilrError::NoMaps { network: target.network().name().to_owned() });
    }
    let (analysis, _) = divide(target, settings.analysis_share, settings.seed);
    let each = settings.injections_per_map;
    let all = 4 * each * maps.len() as u64;
    let mut bytes = |at: u64, model: ErrorModel, seed: u64| {
        let fault = if model == ErrorModel::RandomByte { NeuronFault::Random } else { NeuronFault::Flip };
        let injecting = Injecting { count: each, seed, fault };
        let mut told = |done: u64, of: u64| progress(at * of + done, all);
        let Campaign { table, .. } = campaign(&analysis, &maps, injecting, work, &mut told)?;
        let sdcs: Vec<u64> = table.tallies().iter().map(|tally| tally.sdcs.len() as u64).collect();
        Ok::<_, FilrError>(ModelVulnerability::of(model, &maps, &sdcs, each))
    };
    let flips = bytes(0, ErrorModel::ByteFlip, settings.seed)?;
    let again = bytes(1, ErrorModel::ByteFlip, Draws::new(settings.seed, OTHER_SEED).next())?;
    let random = bytes(2, ErrorModel::RandomByte, settings.seed)?;
    let sdcs = random_floats(floats, &analysis, &maps, settings, work)?;
    let floats = ModelVulnerability::of(ErrorModel::RandomFloat, &maps, &sdcs, each);
    Ok([flips, again, random, floats])
}

/// The run of the draw that gives the seed of the flips that are drawn again.
const OTHER_SEED: u64 = u64::MAX - 2;

/// By feature map, the injections of random numbers that changed the class.
fn random_floats(
    floats: &FloatTarget,
    analysis: &AnalysisSet<'_>,
    maps: &[FeatureMap],
    settings: &Settings,
    work: Work<'_>,
) -> Result<Vec<u64>, FilrError> {
    let topology = floats.network().topology();
    let unlike = |map: &FeatureMap| FilrError::Table {
        what: format!("the network in floating point has no layer `{}` of the same size", map.name),
    };
    let layer = |map: &FeatureMap| {
        let layer = topology.layer_named(&map.name).ok_or_else(|| unlike(map))?;
        let shape = floats.network().tensors()[layer + 1].shape;
        let fits = shape.positions() as u64 == map.neurons && map.channel < shape.channels;
        fits.then_some((layer, shape.channels)).ok_or_else(|| unlike(map))
    };
    let layers: Vec<(usize, usize)> = maps.iter().map(layer).collect::<Result<_, _>>()?;
    let mut bounds = vec![[f32::INFINITY, f32::NEG_INFINITY]; floats.network().tensors().len()];
    let mut right = Vec::new();
    for &image in analysis.images() {
        let run = floats.golden_run(image);
        let logits: Vec<f64> = run.logits().iter().map(|&logit| f64::from(logit)).collect();
        if floats.images().is_right(image, &logits) {
            right.push(image);
        }
        for (bounds, tensor) in bounds.iter_mut().zip(&run.tensors) {
            *bounds = tensor.iter().fold(*bounds, |[least, most], &value| [least.min(value), most.max(value)]);
        }
    }
    if right.is_empty() {
        let (network, images) = (topology.name().to_owned(), analysis.images().len());
        return Err(FilrError::NoneRight { network, set: "analysis", images });
    }
    let (each, logits) = (settings.injections_per_map, topology.layer_count());
    let of_map = |delta: &mut FloatDelta<'_>, map: usize| {
        let ((layer, channels), [least, most]) = (layers[map], bounds[layers[map].0 + 1]);
        let mut sdcs = 0;
        for injection in 0..each {
            if work.is_stopped() {
                return None;
            }
            let mut draws = Draws::new(settings.seed, map as u64 * each + injection);
            let image = *draws.one_of(&right)?;
            let position = draws.below(maps[map].neurons)? as usize;
            let value = least + draws.unit() as f32 * (most - least);
            let stored = Model::Value(floats.network().format().stored(value).into());
            let hit = Hit::neuron(layer, position * channels + maps[map].channel, stored);
            delta.run(&floats.golden_run(image), &hit);
            let logits: Vec<f64> = delta.tensor(logits).iter().map(|&logit| f64::from(logit)).collect();
            sdcs += u64::from(!floats.images().is_right(image, &logits));
        }
        Some(sdcs)
    };
    work.parts_with(|| FloatDelta::new(floats.network()), maps.len(), of_map, &mut |_| {})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_weighed_by_multiplications_and_compared_in_the_order_of_the_first() {
        let map = |channel, macs| FeatureMap { layer: 0, name: "c".into(), channel, neurons: 4, macs };
        let maps = [map(0, 10), map(1, 10), map(2, 20)];
        let of = |sdcs: &[u64]| ModelVulnerability::of(ErrorModel::ByteFlip, &maps, sdcs, 8);
        let one = of(&[4, 0, 2]);
        assert_eq!((one.injections, one.sdcs, one.v_cnn), (24, 6, (5.0 + 5.0) / 40.0));
        assert_eq!(one.v_rel, [0.5, 0.0, 0.5]);
        assert_eq!(one.distance(&one), 0.0);
        // In the order 0, 2, 1 the sums are 0.5, 1, 1 of one and 0, 0.5, 1 of the other.
        assert_eq!(one.distance(&of(&[0, 4, 2])), 0.5);
        assert_eq!(of(&[0, 0, 0]).v_rel, [0.0; 3]);
    }
}
