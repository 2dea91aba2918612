//! How far an order of feature maps is from that of the oracle.

use serde::Serialize;
use stats::{Confidence, spearman};

use crate::filr::flr::order_of;
use crate::filr::maps::FeatureMap;

/// Vulnerabilities of feature maps held against those of the oracle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OracleAgreement {
    /// The mean over feature maps of |coverage of this order - coverage of the oracle's order|, both by the oracle's mismatches.
    pub distance: f64,
    /// The same with the coverage that the measure itself says of its order.
    pub own_distance: f64,
    /// Spearman's rank correlation of the vulnerabilities; none where all are the same.
    pub spearman: Option<f64>,
    /// The bounds of it at 95 %, as if feature maps were drawn from more of them.
    pub spearman_bounds: [f64; 2],
}

/// The vulnerabilities of feature maps that an oracle knows.
#[derive(Clone, Debug)]
pub struct Oracle<'m> {
    maps: &'m [FeatureMap],
    vulnerabilities: Vec<f64>,
    /// By its own order: the coverage of no feature map, of the first, and so on to all.
    coverages: Vec<f64>,
}

impl<'m> Oracle<'m> {
    /// The oracle that knows these vulnerabilities, one for each feature map, of any unit; none if all are 0.
    #[must_use]
    pub fn new(maps: &'m [FeatureMap], vulnerabilities: Vec<f64>) -> Option<Self> {
        let coverages = cumulated(&order_of(maps, &vulnerabilities), &vulnerabilities)?;
        Some(Self { maps, vulnerabilities, coverages })
    }

    /// How far the order by these vulnerabilities is; there is one for each feature map, of any unit.
    #[must_use]
    pub fn agreement(&self, vulnerabilities: &[f64]) -> Option<OracleAgreement> {
        let order = order_of(self.maps, vulnerabilities);
        let found = cumulated(&order, &self.vulnerabilities)?;
        let own = cumulated(&order, vulnerabilities).unwrap_or_else(|| vec![0.0; found.len()]);
        let pairs: Vec<(f64, f64)> =
            vulnerabilities.iter().copied().zip(self.vulnerabilities.iter().copied()).collect();
        let correlation = spearman(&pairs);
        let bounds = correlation.map(|it| it.bounds(Confidence::PERCENT_95));
        Some(OracleAgreement {
            distance: distance(&found, &self.coverages),
            own_distance: distance(&own, &self.coverages),
            spearman: correlation.map(|it| it.coefficient),
            spearman_bounds: bounds.map_or([-1.0, 1.0], |it| [it.low, it.high]),
        })
    }

    /// The part of the vulnerability that these give to wrong feature maps: half of the sum of |V_rel - that of the oracle|. It
    /// is 1 where all of these are 0.
    #[must_use]
    pub fn misplaced(&self, vulnerabilities: &[f64]) -> f64 {
        let [all, own] = [vulnerabilities, &self.vulnerabilities].map(|numbers| numbers.iter().sum::<f64>());
        let pairs = vulnerabilities.iter().zip(&self.vulnerabilities);
        if all > 0.0 { pairs.map(|(it, oracle)| (it / all - oracle / own).abs()).sum::<f64>() / 2.0 } else { 1.0 }
    }
}

/// The shares of the first feature maps of an order in all of these numbers, from none to all; none if all are 0.
fn cumulated(order: &[usize], numbers: &[f64]) -> Option<Vec<f64>> {
    let all: f64 = order.iter().map(|&map| numbers[map]).sum();
    let mut sum = 0.0;
    let share = |&map: &usize| {
        sum += numbers[map];
        sum / all
    };
    (all > 0.0).then(|| std::iter::once(0.0).chain(order.iter().map(share)).collect())
}

/// The mean over feature maps of how far two coverages are apart.
fn distance(one: &[f64], other: &[f64]) -> f64 {
    let apart: f64 = one.iter().zip(other).map(|(one, other)| (one - other).abs()).sum();
    apart / (one.len().min(other.len()).max(2) - 1) as f64
}
