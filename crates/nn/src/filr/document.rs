//! The result of an analysis, as one document.

use serde::Serialize;

use crate::filr::agreement::OracleAgreement;
use crate::filr::certainty::{Criterion, Reading};
use crate::filr::choice::TechniqueChoice;
use crate::filr::combine::Combination;
use crate::filr::convergence::ExhaustiveComparison;
use crate::filr::deploy::Deployment;
use crate::filr::flr::CurvePoint;
use crate::filr::heuristics::Heuristic;
use crate::filr::ilr::ThresholdPoint;
use crate::filr::neuron_fault::NeuronFault;
use crate::filr::order::Order;
use crate::filr::share::Share;

/// The format of documents.
pub const FORMAT: &str = "beamline.filr/1";

/// What an analysis came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Filr {
    /// [`FORMAT`].
    pub format: &'static str,
    /// The network.
    pub network: String,
    /// The digest of the network and of its images.
    pub digest: String,
    /// The seed of all draws.
    pub seed: u64,
    /// The coverage that the combinations have to reach on the analysis set.
    pub target: f64,
    /// By which measure combinations take feature maps.
    pub order: Order,
    /// The fault of a neuron.
    pub fault: NeuronFault,
    /// The images.
    pub sets: Sets,
    /// The injections of the analysis set.
    pub injections: Injections,
    /// The feature maps, layer by layer.
    pub maps: Vec<MapRow>,
    /// FLR: coverage against overhead, by each order.
    pub flr: Vec<FlrCurve>,
    /// FLR by estimates that need no injection.
    pub heuristics: Vec<HeuristicCurve>,
    /// Estimates held against every fault of some images; none if that is not asked for, or if none of these changed the class.
    pub exhaustive: Option<ExhaustiveComparison>,
    /// ILR: coverage and overhead at each threshold, by each criterion and reading.
    pub ilr: Vec<IlrCurve>,
    /// Thresholds that few injections choose.
    pub few: Vec<FewInjections>,
    /// FILR: the combinations at each threshold, by either reading.
    pub filr: Vec<FilrSweep>,
    /// What targets cost by each technique.
    pub costs: Vec<Cost>,
    /// How the SDCs of images go with how certain the network is of them.
    pub correlations: Vec<Correlation>,
    /// The choice of each technique for the target, as a deployed check can do it.
    pub choices: Vec<TechniqueChoice>,
    /// What the cheapest combinations came to on the deployment set; none if nothing could be chosen or measured.
    pub deployment: Option<Deployment>,
    /// What has to be known beside the numbers.
    pub notes: Vec<String>,
}

/// The images.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sets {
    /// The share of images that belong to the analysis set.
    pub analysis_share: f64,
    /// Images of the analysis set.
    pub analysis: usize,
    /// Images of the deployment set.
    pub deployment: usize,
    /// Those of them that are also in the analysis set, pixel by pixel.
    pub also_analysed: usize,
    /// Images of the analysis set that the network gets right. Faults are injected into these only.
    pub accuracy: Share,
    /// How many classes there are.
    pub classes: usize,
}

/// The injections of the analysis set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Injections {
    /// Injections for each feature map.
    pub per_map: u64,
    /// All injections.
    pub all: u64,
    /// Those that changed the class.
    pub sdcs: u64,
    /// Feature maps with such an injection.
    pub maps_with_sdcs: usize,
    /// Images with such an injection.
    pub images_with_sdcs: usize,
    /// The vulnerability of the network (Equation 6.2): the chance that a fault changes the class, by multiplications.
    pub v_cnn: f64,
}

/// A feature map.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MapRow {
    /// The layer.
    pub layer: String,
    /// The channel.
    pub channel: usize,
    /// Its neurons.
    pub neurons: u64,
    /// Its multiplications in one forward run.
    pub macs: u64,
    /// Its share in the multiplications of all convolutions.
    pub v_orig: f64,
    /// The share of injections that changed the class.
    pub p_mismatch: Share,
    /// The mean change of the cross entropy.
    pub p_loss: f64,
    /// The standard error of it.
    pub p_loss_error: f64,
    /// The vulnerability by mismatch (Equation 6.1).
    pub v: f64,
    /// Its share in that of the network (Equation 6.3); 0 if no injection changed the class.
    pub v_rel: f64,
    /// The same by the change of the cross entropy.
    pub v_rel_loss: f64,
}

/// FLR by one order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlrCurve {
    /// The order.
    pub by: Order,
    /// The feature maps, by their numbers in the table.
    pub order: Vec<usize>,
    /// From no feature map to all; empty if no injection changed the class.
    pub points: Vec<CurvePoint>,
    /// How far the order is from that of the oracle, the mismatches of the same injections.
    pub agreement: Option<OracleAgreement>,
}

/// FLR by an estimate that needs no injection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeuristicCurve {
    /// The estimate.
    pub heuristic: Heuristic,
    /// The number of each feature map that stands in the place of P_prop.
    pub values: Vec<f64>,
    /// The feature maps, by their numbers in the table.
    pub order: Vec<usize>,
    /// From no feature map to all; empty if no injection changed the class.
    pub points: Vec<CurvePoint>,
    /// How far the order is from that of the oracle.
    pub agreement: Option<OracleAgreement>,
}

/// ILR by one criterion and reading.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IlrCurve {
    /// The criterion.
    pub criterion: Criterion,
    /// Of which run it is read.
    pub reading: Reading,
    /// Every threshold from 0 to 1; empty if no injection changed the class.
    pub points: Vec<ThresholdPoint>,
}

/// A threshold of Top2Diff chosen by some of the injections for a coverage of nine tenths.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FewInjections {
    /// Of which run Top2Diff is read.
    pub reading: Reading,
    /// How many injections chose it.
    pub injections: u64,
    /// Those of them that changed the class.
    pub sdcs: u64,
    /// The threshold.
    pub threshold: f64,
    /// The coverage of all injections by it, 0 to 1.
    pub coverage: f64,
    /// The share of images that are run again by it, 0 to 1.
    pub overhead: f64,
    /// The threshold that all injections choose.
    pub threshold_of_all: f64,
}

/// FILR by one reading.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FilrSweep {
    /// Of which run Top2Diff is read.
    pub reading: Reading,
    /// Every threshold from 0 to 1.
    pub points: Vec<SweepPoint>,
    /// The cheapest combination.
    pub combination: Option<Combination>,
    /// The overhead of the cheapest combination if the first half of the injections were all.
    pub overhead_from_half: Option<f64>,
}

/// A combination without its feature maps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SweepPoint {
    /// The threshold.
    pub threshold: f64,
    /// How many feature maps are made twice.
    pub maps: usize,
    /// The coverage of the inferences that are run again.
    pub coverage_by_reruns: f64,
    /// The coverage of both.
    pub coverage: f64,
    /// The share of multiplications that are made twice.
    pub duplication: f64,
    /// The share of inferences that are run again.
    pub reruns: f64,
    /// What both cost.
    pub overhead: f64,
}

/// The least overhead that reaches a coverage, by each technique; none where it does not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// The coverage.
    pub target: f64,
    /// FLR by mismatch.
    pub flr_mismatch: Option<f64>,
    /// FLR by the change of the cross entropy.
    pub flr_loss: Option<f64>,
    /// FLR by what a duplicated multiplication brings.
    pub flr_rate: Option<f64>,
    /// ILR by Top1Conf of fault-free runs.
    pub ilr_top1conf: Option<f64>,
    /// ILR by Top2Diff of fault-free runs.
    pub ilr_top2diff: Option<f64>,
    /// ILR by Top2Diff of faulty runs.
    pub ilr_top2diff_faulty: Option<f64>,
    /// FILR by Top2Diff of fault-free runs.
    pub filr: Option<f64>,
    /// FILR by Top2Diff of faulty runs.
    pub filr_faulty: Option<f64>,
}

/// Spearman's rank correlation of a criterion and SDCs, over the images of the analysis set that are right.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Correlation {
    /// The criterion, of fault-free runs.
    pub criterion: Criterion,
    /// The coefficient, -1 to 1.
    pub spearman: f64,
    /// How many images.
    pub images: usize,
}
