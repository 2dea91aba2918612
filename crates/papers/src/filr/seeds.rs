//! Numbers of several seeds, and what of a document they are.

use nn::filr::certainty::{Criterion, Reading};
use nn::filr::convergence::ExhaustiveComparison;
use nn::filr::flr::CurvePoint;
use nn::filr::heuristics::Heuristic;
use nn::filr::{Filr, Order};
use stats::{Confidence, Repeated};
use study::Cell;

use crate::statements::Verdict;

/// A number for each seed: their mean, and its bounds at 95 % by Student's t.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SeedMean {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// How many seeds.
    pub(super) seeds: u64,
}

impl SeedMean {
    /// Of every document; none if one lacks the number, or there are fewer than two.
    pub(super) fn of(all: &[Filr], number: impl Fn(&Filr) -> Option<f64>) -> Option<Self> {
        let values = all.iter().map(number).collect::<Option<Vec<f64>>>()?;
        let it = Repeated::of(&values)?;
        let half = it.half_width(0.0, Confidence::PERCENT_95);
        Some(Self { value: it.mean, low: it.mean - half, high: it.mean + half, seeds: it.count })
    }

    /// Whether the mean is at most a number: yes if its whole interval is, no if none of it is.
    pub(super) fn is_at_most(self, bound: f64) -> Verdict {
        if self.high <= bound {
            Verdict::Holds
        } else if self.low > bound {
            Verdict::Fails
        } else {
            Verdict::Open
        }
    }

    /// Whether the mean is at least a number.
    pub(super) fn is_at_least(self, bound: f64) -> Verdict {
        Self { value: -self.value, low: -self.high, high: -self.low, ..self }.is_at_most(-bound)
    }

    /// As a share in percent, whose bounds lie between nothing and all.
    pub(super) fn percent(self) -> String {
        let [value, low, high] = [self.value, self.low, self.high].map(|share| share.clamp(0.0, 1.0) * 100.0);
        format!("{value:.2} % ({low:.2} to {high:.2}), {} seeds", self.seeds)
    }

    /// As a number.
    pub(super) fn number(self) -> String {
        format!("{:.3} ({:.3} to {:.3}), {} seeds", self.value, self.low, self.high, self.seeds)
    }

    pub(super) fn rate(found: Option<Self>) -> Cell {
        found.map_or(Cell::None, |it| {
            let [rate, low, high] = [it.value, it.low, it.high].map(|share| share.clamp(0.0, 1.0));
            Cell::Rate { rate, low, high }
        })
    }

    pub(super) fn quantity(found: Option<Self>) -> Cell {
        found.map_or(Cell::None, |it| Cell::Quantity { value: it.value, low: it.low, high: it.high })
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

/// The comparison with every fault, of the seed that has one.
pub(super) fn truth(all: &[Filr]) -> Option<&ExhaustiveComparison> {
    all.iter().find_map(|it| it.exhaustive.as_ref())
}
