//! The numbers of a document that the page takes means of.

use nn::filr::certainty::{Criterion, Reading};
use nn::filr::convergence::ExhaustiveComparison;
use nn::filr::document::FewInjections;
use nn::filr::error_models::ModelVulnerability;
use nn::filr::flr::CurvePoint;
use nn::filr::heuristics::Heuristic;
use nn::filr::{Filr, Order};

/// All that the page is made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    /// The network, by seed.
    pub(super) network: Vec<Filr>,
    /// The others, by network and seed.
    pub(super) others: Vec<Vec<Filr>>,
    /// The vulnerabilities of the network's feature maps by model of errors, by seed.
    pub(super) models: Vec<[ModelVulnerability; 4]>,
}

impl Measured {
    /// The documents of each network.
    pub(super) fn networks(&self) -> impl Iterator<Item = &[Filr]> {
        std::iter::once(&self.network).chain(&self.others).map(Vec::as_slice).filter(|all| !all.is_empty())
    }
}

/// The curve of an order.
pub(super) fn curve(it: &Filr, by: Order) -> &[CurvePoint] {
    it.flr.iter().find(|curve| curve.by == by).map_or(&[], |curve| &curve.points)
}

/// The curve of a heuristic.
pub(super) fn heuristic(it: &Filr, which: Heuristic) -> &[CurvePoint] {
    it.heuristics.iter().find(|curve| curve.heuristic == which).map_or(&[], |curve| &curve.points)
}

/// The overhead of the first point with this coverage.
pub(super) fn overhead_at(points: &[CurvePoint], coverage: f64) -> Option<f64> {
    points.iter().find(|point| point.coverage >= coverage).map(|point| point.overhead)
}

/// The overhead of inferences that are run again, for this coverage, by fault-free runs.
pub(super) fn reruns_at(it: &Filr, criterion: Criterion, coverage: f64) -> Option<f64> {
    let curve = it.ilr.iter().find(|curve| curve.criterion == criterion && curve.reading == Reading::FaultFree)?;
    curve.points.iter().find(|point| point.coverage >= coverage).map(|point| point.overhead)
}

/// Spearman's coefficient of a criterion and the SDCs of images.
pub(super) fn correlation(it: &Filr, criterion: Criterion) -> Option<f64> {
    it.correlations.iter().find(|found| found.criterion == criterion).map(|found| found.spearman)
}

/// The overhead of the cheapest combination by a reading.
pub(super) fn combined(it: &Filr, reading: Reading) -> Option<f64> {
    it.filr.iter().find(|sweep| sweep.reading == reading)?.combination.as_ref().map(|found| found.overhead)
}

/// On the deployment set: coverage and overhead of the combination that was chosen by a reading, read so.
pub(super) fn deployed(it: &Filr, reading: Reading) -> Option<[f64; 2]> {
    let found = it.deployment.as_ref()?.protections.iter().find(|found| found.chosen_by == reading)?;
    let coverage = found.coverage.iter().find(|coverage| coverage.reading == reading)?;
    Some([coverage.covered.share?, found.overhead])
}

/// The smallest share of the feature maps that holds this share of the vulnerability by the change of the cross entropy.
pub(super) fn concentration(it: &Filr, held: f64) -> Option<f64> {
    let mut shares: Vec<f64> = it.maps.iter().map(|map| map.v_rel_loss).collect();
    shares.sort_by(|a, b| b.total_cmp(a));
    let mut sum = 0.0;
    let maps = shares.iter().position(|share| {
        sum += share;
        sum >= held
    })?;
    Some((maps + 1) as f64 / shares.len() as f64)
}

/// The threshold that the fewest injections choose by fault-free runs: the first thousandth of them.
pub(super) fn fewest(it: &Filr) -> Option<&FewInjections> {
    it.few.iter().filter(|few| few.reading == Reading::FaultFree).min_by_key(|few| few.injections)
}

/// The comparison with every fault, of the seed that has one.
pub(super) fn truth(all: &[Filr]) -> Option<&ExhaustiveComparison> {
    all.iter().find_map(|it| it.exhaustive.as_ref())
}
