//! All campaigns of the page.

use methods::kit::StudyError;
use nn::{NetworkTarget, bundled};
use stats::Proportion;
use std::sync::atomic::AtomicBool;

use super::clock::{TimedBlock, timed};
use super::detector::{DetectorRuns, detector};
use super::kernels::{KernelRuns, kernels};
use super::networks::{NETWORK, NetworkRuns, Trained, networks, trained};
use super::sensitive::{SensitiveMaps, sensitive};
use super::survey::{Laboratory, Runs, by_layer, selection};

/// The operands, by the words of campaigns.
pub(super) const OPERANDS: [&str; 4] = ["neuron", "weight", "bias", "input"];

/// Patterns over several neurons, by the words of campaigns; the last one draws a neuron in each layer.
pub(super) const PATTERNS: [&str; 5] = ["row", "column", "channel", "tile:4x4", "layers"];

/// The other models, by the words of campaigns: two of bits, and the default of PyTorchFI.
pub(super) const MODELS: [&str; 3] = ["random", "zero", "range:-1..1"];

/// All that is measured.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    /// The names of layers, by their numbers.
    pub(super) layers: Vec<String>,
    /// Multiplications of a forward run, and those of convolutions.
    pub(super) macs: [u64; 2],
    /// By operand, each element with the same chance.
    pub(super) operands: Vec<Runs>,
    /// By operand, the runs of which nothing differs before the last layer.
    pub(super) early: Vec<Proportion>,
    /// By operand, layers in turn.
    pub(super) by_layer: Vec<Runs>,
    /// By pattern, neurons.
    pub(super) patterns: Vec<Runs>,
    /// By model, single neurons.
    pub(super) models: Vec<Runs>,
    /// Runs of the whole network, for their time.
    pub(super) whole: Runs,
    /// Times of inferences.
    pub(super) blocks: Vec<TimedBlock>,
    pub(super) maps: SensitiveMaps,
    /// The bundled networks that classify.
    pub(super) networks: Vec<NetworkRuns>,
    /// Networks of one topology, trained in several ways.
    pub(super) trained: Vec<Trained>,
    pub(super) detector: DetectorRuns,
    /// Layers as kernels.
    pub(super) kernels: Vec<KernelRuns>,
}

/// Of how many runs it is counted at most where they end.
const EARLY: u64 = 50_000;

/// Measures, with these numbers of runs of each kind of campaign.
pub(super) fn measure(
    threads: usize,
    stop: &AtomicBool,
    [all, layer, pattern, of_trained, of_detector, of_kernel]: [u64; 6],
    [blocks, images]: [usize; 2],
) -> Result<Measured, StudyError> {
    let target = &bundled::open(NETWORK).map_err(|error| StudyError::Words(error.to_string()))?;
    let laboratory = Laboratory { target, threads, stop };
    let sizes = target.layers();
    let is_conv = |class: &str| matches!(class, "conv" | "depthwise");
    let names: Vec<String> = sizes.iter().map(|it| it.name.clone()).collect();
    let single = |operand: &str| laboratory.runs(&selection(operand, "flip", "one"), "delta", all);
    let early = |operand: &str| laboratory.early(&selection(operand, "flip", "one"), all.min(EARLY));
    let in_turn = |operand: &str| {
        // Inputs of all layers; of the others, the layers that campaigns usually hit.
        let layers = if operand == "input" { &names[..] } else { &[] };
        let selection = by_layer(operand, layers);
        let count = strata(target, &selection)?;
        laboratory.runs(&selection, "delta", layer * count)
    };
    let pattern_runs = |scope: &str| laboratory.runs(&selection("neuron", "flip", scope), "delta", pattern);
    let model_runs = |model: &str| laboratory.runs(&selection("neuron", model, "one"), "delta", pattern);
    Ok(Measured {
        macs: [
            sizes.iter().map(|it| it.macs).sum(),
            sizes.iter().filter(|it| is_conv(it.class)).map(|it| it.macs).sum(),
        ],
        operands: OPERANDS.into_iter().map(single).collect::<Result<_, _>>()?,
        early: OPERANDS.into_iter().map(early).collect::<Result<_, _>>()?,
        by_layer: OPERANDS.into_iter().map(in_turn).collect::<Result<_, _>>()?,
        patterns: PATTERNS.into_iter().map(pattern_runs).collect::<Result<_, _>>()?,
        models: MODELS.into_iter().map(model_runs).collect::<Result<_, _>>()?,
        whole: laboratory.runs(&selection("neuron", "flip", "one"), "full", (all / 100).max(1))?,
        blocks: timed(target, blocks as u64, images),
        maps: sensitive(target, images * 3),
        networks: networks(threads, stop, all)?,
        trained: trained(threads, stop, of_trained)?,
        detector: detector(stop, of_detector)?,
        kernels: kernels(threads, stop, of_kernel)?,
        layers: names,
    })
}

/// In how many layers a campaign takes turns.
fn strata(target: &NetworkTarget, selection: &campaign::SelectionWords) -> Result<u64, StudyError> {
    let strata = campaign::Planner::strata(target, selection);
    strata.map(|strata| strata.len() as u64).map_err(|error| StudyError::Words(error.to_string()))
}
