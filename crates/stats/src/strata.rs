//! The proportion of a population that is sampled by strata, and intervals for it.
//!
//! The population falls into strata of known weights W (summing to 1); stratum h was tried n times with x successes.
//! The estimate is Σ W x/n and its variance Σ W² p(1-p)/n (W. G. Cochran, *Sampling Techniques*, 3rd ed. 1977, §5.3
//! and 5.10). The textbook interval from that variance fails for rare outcomes as Wald's does, so it is not offered:
//!
//! - [`IntervalKind::Wilson`]: the score interval, all p whose score test does not reject the counts. The stratum rates
//!   that the test needs are those of largest likelihood among all that give p. With one stratum it is Wilson's
//!   interval. A. Martín Andrés, I. Herranz Tejedor & M. Álvarez Hernández, *The optimal method to make inferences
//!   about a linear combination of proportions*, Journal of Statistical Computation and Simulation 82, 2012, compare it
//!   (their S0) with others and prefer it. The stratified Wilson interval of X. Yan & X. G. Su (Statistics in
//!   Biopharmaceutical Research 2(3), 2010) needs no search, but says little where some strata have no successes.
//! - [`IntervalKind::ClopperPearson`]: the bounds of the strata by Clopper and Pearson, joined as G. Y. Zou, W. Huang &
//!   X. Zhang, *A note on confidence interval estimation for a linear function of binomial proportions*, Computational
//!   Statistics & Data Analysis 53, 2009, do ("MOVER"): p ± √(Σ W² (distance to the stratum's bound)²). Wider.
//!
//! A stratum that was never tried can have any rate: it moves the lower bound by nothing and the upper by its weight,
//! and the estimate is of the other strata.

use crate::confidence::Confidence;
use crate::proportion::{Interval, IntervalKind, Proportion};

/// A part of the population, and what was tried in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StratumSample {
    /// Its share of the population, in any unit: only ratios matter. Not negative.
    pub weight: f64,
    /// Trials and successes.
    pub sample: Proportion,
}

/// A population in strata of which the rate is asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stratified {
    /// Strata that were tried, with weights that sum to one.
    tried: Vec<StratumSample>,
    /// The share of the population in these.
    known: f64,
}

impl Stratified {
    /// The population of these strata; those without weight take no part.
    #[must_use]
    pub fn new(strata: &[StratumSample]) -> Self {
        let is_tried = |stratum: &&StratumSample| stratum.weight > 0.0 && stratum.sample.trials() > 0;
        let weigh = |strata: &mut dyn Iterator<Item = &StratumSample>| {
            strata.map(|stratum| stratum.weight.max(0.0)).sum::<f64>()
        };
        let (all, known) = (weigh(&mut strata.iter()), weigh(&mut strata.iter().filter(is_tried)));
        let share = |stratum: &StratumSample| StratumSample { weight: stratum.weight / known, ..*stratum };
        let tried = strata.iter().filter(is_tried).map(share).collect();
        Self { tried, known: if all > 0.0 { known / all } else { 0.0 } }
    }

    /// The share of the population in strata that were tried at least once.
    #[must_use]
    pub fn known(&self) -> f64 {
        self.known
    }

    /// The estimate Σ W x/n over the strata that were tried; `None` if none was.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        let rate = |stratum: &StratumSample| stratum.weight * stratum.sample.rate().unwrap_or(0.0);
        (!self.tried.is_empty()).then(|| self.tried.iter().map(rate).sum::<f64>().min(1.0))
    }

    /// The estimated variance Σ W² p(1-p)/n of the estimate; `None` if nothing was tried.
    #[must_use]
    pub fn variance(&self) -> Option<f64> {
        let rates = self.tried.iter().map(|stratum| stratum.sample.rate().unwrap_or(0.0));
        (!self.tried.is_empty()).then(|| variance(&self.tried, rates))
    }

    /// The interval by `method` at `confidence`, over the whole population; [`Interval::UNKNOWN`] if nothing was tried.
    #[must_use]
    pub fn interval(&self, method: IntervalKind, confidence: Confidence) -> Interval {
        let Some(rate) = self.rate() else {
            return Interval::UNKNOWN;
        };
        let Interval { low, high } = match method {
            IntervalKind::Wilson => self.score(confidence),
            IntervalKind::ClopperPearson => self.mover(rate, method, confidence),
        };
        Interval { low: low * self.known, high: (high * self.known + (1.0 - self.known)).min(1.0) }
    }

    /// The score interval of the strata that were tried.
    fn score(&self, confidence: Confidence) -> Interval {
        let mirrored = |stratum: &StratumSample| {
            let (x, n) = (stratum.sample.successes(), stratum.sample.trials());
            StratumSample { sample: Proportion::from_counts(n - x, x), ..*stratum }
        };
        let mirror: Vec<StratumSample> = self.tried.iter().map(mirrored).collect();
        let z = confidence.z();
        Interval { low: 1.0 - score_bound(&mirror, z), high: score_bound(&self.tried, z) }
    }

    fn mover(&self, rate: f64, method: IntervalKind, confidence: Confidence) -> Interval {
        let (mut below, mut above) = (0.0, 0.0);
        for StratumSample { weight, sample } in &self.tried {
            let (own, Interval { low, high }) = (sample.rate().unwrap_or(0.0), sample.interval(method, confidence));
            below += (weight * (own - low)).powi(2);
            above += (weight * (high - own)).powi(2);
        }
        Interval { low: (rate - below.sqrt()).max(0.0), high: (rate + above.sqrt()).min(1.0) }
    }
}

/// Σ W² p(1-p)/n with these rates.
fn variance(strata: &[StratumSample], rates: impl Iterator<Item = f64>) -> f64 {
    let part = |(stratum, p): (&StratumSample, f64)| {
        stratum.weight * stratum.weight * p * (1.0 - p) / stratum.sample.trials() as f64
    };
    strata.iter().zip(rates).map(part).sum()
}

/// The largest p that a score test at the normal quantile `z` does not reject; weights sum to one.
///
/// The rates of largest likelihood among all with Σ W p = P lie on a curve with one parameter, Lagrange's multiplier
/// ([`pulled`]): the bound is searched along it, where it takes P from the observed rate to 1.
fn score_bound(strata: &[StratumSample], z: f64) -> f64 {
    let observed: f64 = strata.iter().map(|stratum| stratum.weight * stratum.sample.rate().unwrap_or(0.0)).sum();
    if strata.iter().all(|stratum| stratum.sample.successes() == stratum.sample.trials()) {
        return 1.0;
    }
    let at = |multiplier: f64| strata.iter().map(move |stratum| pulled(stratum, multiplier));
    let rate_at =
        |multiplier: f64| strata.iter().zip(at(multiplier)).map(|(stratum, p)| stratum.weight * p).sum::<f64>();
    let rejected = |multiplier: f64| {
        let distance = rate_at(multiplier) - observed;
        distance > 0.0 && distance >= z * variance(strata, at(multiplier)).sqrt()
    };
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    while !rejected(high) && high < 1e300 {
        (low, high) = (high, high * 2.0);
    }
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return rate_at(high).clamp(observed, 1.0);
        }
        if rejected(middle) { high = middle } else { low = middle }
    }
}

/// The rate of a stratum where the slope of its log-likelihood, x/p - (n-x)/(1-p), is -`multiplier` × weight: the root
/// of t p² + (n-t) p - x in [0, 1], with t = `multiplier` × weight.
fn pulled(stratum: &StratumSample, multiplier: f64) -> f64 {
    let (x, n) = (stratum.sample.successes() as f64, stratum.sample.trials() as f64);
    let t = multiplier * stratum.weight;
    let root = ((n - t) * (n - t) + 4.0 * t * x).sqrt();
    // Of the two forms of the root, the one that subtracts nothing from what is nearly the same.
    let p = if n > t { 2.0 * x / (n - t + root) } else { (t - n + root) / (2.0 * t) };
    p.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests;
