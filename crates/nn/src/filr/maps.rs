//! The feature maps of a network: the channels of what its convolutions make.

use crate::network::{Network, Operator};

/// A channel of what a convolution makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureMap {
    /// The layer, by number.
    pub layer: usize,
    /// The name of the layer.
    pub name: String,
    /// The channel.
    pub channel: usize,
    /// Its neurons.
    pub neurons: u64,
    /// Multiplications with a weight that make it, in one forward run.
    pub macs: u64,
}

/// The feature maps of all convolutions, depthwise ones too, layer by layer. A dense layer has none.
#[must_use]
pub fn feature_maps(network: &Network) -> Vec<FeatureMap> {
    let mut maps = Vec::new();
    for (layer, data) in network.layers().iter().enumerate() {
        if !matches!(data.operator, Operator::Conv(_)) {
            continue;
        }
        let shape = network.output(layer).shape;
        let (neurons, macs) = (shape.positions() as u64, network.macs(layer) / shape.channels as u64);
        let map = |channel| FeatureMap { layer, name: data.name.clone(), channel, neurons, macs };
        maps.extend((0..shape.channels).map(map));
    }
    maps
}

/// The multiplications of all of these.
#[must_use]
pub fn all_macs(maps: &[FeatureMap]) -> u64 {
    maps.iter().map(|map| map.macs).sum()
}

/// Each number times the multiplications of its feature map: a vulnerability, but for a factor, if the numbers are P_prop.
#[must_use]
pub fn by_macs(maps: &[FeatureMap], numbers: &[f64]) -> Vec<f64> {
    numbers.iter().zip(maps).map(|(number, map)| number * map.macs as f64).collect()
}

/// The share of some feature maps in the multiplications of all of them, 0 to 1: what it costs to make them twice.
#[must_use]
pub fn duplication(maps: &[FeatureMap], chosen: &[usize]) -> f64 {
    let macs: u64 = chosen.iter().filter_map(|&map| maps.get(map)).map(|map| map.macs).sum();
    match all_macs(maps) {
        0 => 0.0,
        all => macs as f64 / all as f64,
    }
}
