//! How many faults a margin of error needs in each feature map, held against every fault.
//!
//! Statistical fault injection takes as many faults as a rate of one half needs, whatever the rate is. Where faults are drawn in
//! batches and an interval is looked at after each, rates that are small need fewer.

use serde::Serialize;
use stats::{Confidence, Draws, Margin, Proportion, sample_size};

use crate::filr::exhaustive::FaultJudgements;

/// The margins that are asked for.
pub const MARGINS: [f64; 3] = [0.05, 0.03, 0.01];

/// Faults between two looks at the interval.
const BATCH: u64 = 32;

/// The faults of one margin at 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SamplingCost {
    /// The margin.
    pub margin: f64,
    /// Faults in each feature map for a rate of one half.
    pub fixed: u64,
    /// The share of estimates by these that are as near to the rate of all faults as the margin says, 0 to 1.
    pub fixed_within: f64,
    /// Faults in each feature map until half of the score interval is as narrow as the margin: their mean.
    pub iterative: f64,
    /// The share of estimates by these that are as near.
    pub iterative_within: f64,
}

/// The estimates of some seeds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SampledMaps {
    estimates: u64,
    faults: u64,
    /// Estimates within the margin, by a fixed number of faults and by iterations.
    within: [u64; 2],
}

/// Samples every feature map by one seed, for each margin.
pub(crate) fn sampled(truth: &FaultJudgements, rates: &[f64], seed: u64) -> [SampledMaps; MARGINS.len()] {
    MARGINS.map(|margin| {
        let (mut found, fixed) = (SampledMaps::default(), fixed(margin));
        for (map, &rate) in rates.iter().enumerate() {
            let mut draws = Draws::new(seed, map as u64);
            let (mut hits, mut stopped) = (0, None);
            for faults in 1..=fixed {
                let Some(judgement) = truth.draw(map, &mut draws) else { break };
                hits += u64::from(judgement.mismatch);
                let estimate = Proportion::from_counts(hits, faults - hits);
                let is_narrow = || estimate.wilson(Confidence::PERCENT_95).half_width() <= margin;
                if stopped.is_none() && (faults == fixed || faults % BATCH == 0 && is_narrow()) {
                    stopped = Some(estimate);
                }
            }
            let is_near = |it: Proportion| u64::from(it.rate().is_some_and(|found| (found - rate).abs() <= margin));
            let Some(stopped) = stopped else { continue };
            found.estimates += 1;
            found.faults += stopped.trials();
            found.within[0] += is_near(Proportion::from_counts(hits, fixed - hits));
            found.within[1] += is_near(stopped);
        }
        found
    })
}

/// The costs over seeds.
pub(crate) fn costs(seeds: &[[SampledMaps; MARGINS.len()]]) -> Vec<SamplingCost> {
    let cost = |(at, margin): (usize, f64)| {
        let sum = |number: fn(&SampledMaps) -> u64| seeds.iter().map(|it| number(&it[at])).sum::<u64>() as f64;
        let estimates = sum(|it| it.estimates).max(1.0);
        SamplingCost {
            margin,
            fixed: fixed(margin),
            fixed_within: sum(|it| it.within[0]) / estimates,
            iterative: sum(|it| it.faults) / estimates,
            iterative_within: sum(|it| it.within[1]) / estimates,
        }
    };
    MARGINS.into_iter().enumerate().map(cost).collect()
}

fn fixed(margin: f64) -> u64 {
    Margin::new(margin).map_or(1, |margin| sample_size(margin, Confidence::PERCENT_95))
}
