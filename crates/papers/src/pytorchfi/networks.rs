//! The bundled networks that classify, and those that were trained for the chapter's uses.

use methods::kit::StudyError;
use nn::file::read_network;
use nn::{NetworkTarget, bundled};
use serde::Deserialize;
use stats::Proportion;
use std::sync::atomic::AtomicBool;
use study::{Cell, Table};

use super::sensitive::skewed_heat_maps;
use super::survey::{Ends, Laboratory, Runs, rate, selection};

/// The network of most campaigns.
pub(super) const NETWORK: &str = "fashion";

/// The bundled networks, each with the kind of its layers.
pub(super) const NETWORKS: [(&str, &str); 3] =
    [("fashion", "residual, depthwise"), ("fashion-vgg", "plain"), ("fashion-fire", "fire modules")];

/// Images of which heat maps are made.
const MAPPED: usize = 500;

/// A network of another kind, irradiated.
#[derive(Clone, Debug)]
pub(super) struct NetworkRuns {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    /// The share of images whose class is right.
    pub(super) accuracy: f64,
    pub(super) neurons: u64,
    pub(super) macs: u64,
    pub(super) runs: Runs,
    /// Images whose heat map changes more by the most sensitive feature map.
    pub(super) skewed: Proportion,
}

/// Flips in neurons of each bundled network.
pub(super) fn networks(threads: usize, stop: &AtomicBool, runs: u64) -> Result<Vec<NetworkRuns>, StudyError> {
    let of = |&(name, kind): &(&'static str, &'static str)| {
        let target = bundled::open(name).map_err(|error| StudyError::Words(error.to_string()))?;
        let found =
            Laboratory { target: &target, threads, stop }.runs(&selection("neuron", "flip", "one"), "delta", runs)?;
        let layers = target.layers();
        let hit = layers.iter().filter(|it| matches!(it.class, "conv" | "depthwise"));
        Ok(NetworkRuns {
            name,
            kind,
            accuracy: target.accuracy().share(),
            neurons: hit.map(|it| it.neurons).sum(),
            macs: layers.iter().map(|it| it.macs).sum(),
            runs: found,
            skewed: skewed_heat_maps(&target, MAPPED)?,
        })
    };
    NETWORKS.iter().map(of).collect()
}

/// The networks side by side.
pub(super) fn table(all: &[NetworkRuns]) -> Table {
    let columns = [
        "network",
        "layers",
        "right images",
        "neurons",
        "MACs",
        "equal logits",
        "another class",
        "MACs a run, of a forward run",
    ];
    let mut table = Table::new("Networks", &columns);
    let row = |it: &NetworkRuns| {
        let (ends, macs) = (Ends::of(&it.runs.all), it.runs.all.iter().map(|run| run.macs).sum::<u64>());
        vec![
            Cell::text(it.name),
            Cell::text(it.kind),
            Cell::Share(it.accuracy),
            Cell::Count(it.neurons),
            Cell::Count(it.macs),
            rate(ends.masked()),
            rate(ends.class()),
            Cell::Share(macs as f64 / (it.macs.max(1) * ends.runs.max(1)) as f64),
        ]
    };
    table.rows = all.iter().map(row).collect();
    table
}

/// The record of a training, as `train_all.py` writes it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Training {
    pub(super) name: String,
    pub(super) seed: u64,
    /// Whether a random neuron of each layer was another number in each forward pass.
    pub(super) inject: bool,
    /// The weight of the worst case, and the largest change of a pixel that it allows.
    pub(super) alpha: f64,
    pub(super) eps: f64,
    /// The time that it took, without the tests between.
    pub(super) seconds: f64,
    /// The share of right images of the test set, as floats.
    pub(super) float: f64,
}

/// A trained network, irradiated.
#[derive(Clone, Debug)]
pub(super) struct Trained {
    pub(super) training: Training,
    /// Flips of one bit of a neuron: in the first two layers, and in the others.
    pub(super) flips: [Ends; 2],
    /// A neuron that becomes a number from -1 to 1, as in the training.
    pub(super) range: Ends,
}

impl Trained {
    /// Flips in any layer.
    pub(super) fn all_flips(&self) -> Ends {
        let [first, rest] = self.flips;
        Ends { runs: first.runs + rest.runs, masked: first.masked + rest.masked, class: first.class + rest.class }
    }
}

macro_rules! trained {
    ($($name:literal),* $(,)?) => {
        [
            ("fashion-vgg-s1", include_bytes!("../../../nn/networks/fashion-vgg/fashion-vgg.onnx")),
            (
                "fashion-vgg-injected-s1",
                include_bytes!("../../../nn/networks/fashion-vgg-injected/fashion-vgg-injected.onnx"),
            ),
            (
                "fashion-vgg-robust-a0.1-e0.02",
                include_bytes!("../../../nn/networks/fashion-vgg-robust/fashion-vgg-robust.onnx"),
            ),
            $(($name, include_bytes!(concat!("trained/", $name, ".onnx")))),*
        ]
    };
}

/// The networks of `train_all.py` with the topology of `fashion-vgg`, in INT8.
static FILES: [(&str, &[u8]); 16] = trained![
    "fashion-vgg-s2",
    "fashion-vgg-s3",
    "fashion-vgg-s4",
    "fashion-vgg-s5",
    "fashion-vgg-injected-s2",
    "fashion-vgg-injected-s3",
    "fashion-vgg-injected-s4",
    "fashion-vgg-injected-s5",
    "fashion-vgg-robust-a0.025-e0.02",
    "fashion-vgg-robust-a0.025-e0.1",
    "fashion-vgg-robust-a0.1-e0.1",
    "fashion-vgg-robust-a0.25-e0.02",
    "fashion-vgg-robust-a0.25-e0.1",
];

/// The lines that `train_all.py` wrote.
const TRAININGS: &str = include_str!("trained/trainings.jsonl");

/// All trained networks, in the order of their names.
pub(super) fn trained(threads: usize, stop: &AtomicBool, runs: u64) -> Result<Vec<Trained>, StudyError> {
    let words = |error: &dyn std::fmt::Display| StudyError::Words(format!("read a trained network: {error}"));
    let lines = TRAININGS.lines().map(serde_json::from_str::<Training>).collect::<Result<Vec<_>, _>>();
    let lines = lines.map_err(|error| words(&error))?;
    let images = bundled::open("fashion-vgg").map_err(|error| words(&error))?.images().clone();
    let mut all = Vec::new();
    for training in lines {
        let Some((name, file)) = FILES.iter().find(|(name, _)| *name == training.name) else { continue };
        let network = read_network(name, file).map_err(|error| words(&error))?;
        let target = NetworkTarget::new(network, file, images.clone()).map_err(|error| words(&error))?;
        let laboratory = Laboratory { target: &target, threads, stop };
        let flips = laboratory.runs(&selection("neuron", "flip", "one"), "delta", runs)?;
        let range = laboratory.runs(&selection("neuron", "range:-1..1", "one"), "delta", runs)?;
        let convolutions = target.layers().iter().position(|it| it.name == "c3").unwrap_or(0);
        let part = |first: bool| Ends::of(flips.all.iter().filter(|run| (run.layer < convolutions) == first));
        all.push(Trained { training, flips: [part(true), part(false)], range: Ends::of(&range.all) });
    }
    all.sort_by(|a, b| a.training.name.cmp(&b.training.name));
    Ok(all)
}
