//! The vulnerability of the register file, from faults in allocated registers at random times.
//!
//! A fault in a register that is allocated has an outcome with some rate; one in the rest of the file has none. So the
//! architectural vulnerability factor (S. S. Mukherjee et al., MICRO 2003) of the whole file is the rate times the share
//! that is allocated, weighted by how long each kernel runs: by instructions, as the times are drawn.

use serde::{Deserialize, Serialize};
use stats::{Confidence, Interval, IntervalKind, Proportion, Stratified, StratumSample};

use super::account::{NamedAccount, RateBounds};
use crate::target::KernelRegisters;

/// The register file, in campaigns that hit registers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegisterFile {
    /// Its vulnerability over the run of the program; absent in campaigns with strata, and while nothing has landed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avf: Option<Avf>,
    /// By kernel.
    pub kernels: Vec<KernelFile>,
}

/// The register file while a kernel runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelFile {
    /// What the kernel is given.
    #[serde(flatten)]
    pub given: KernelRegisters,
    /// The vulnerability of the whole file while it runs; absent while nothing has landed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avf: Option<Avf>,
}

/// A vulnerability factor, by what comes of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Avf {
    /// Silent data corruption.
    pub sdc: Factor,
    /// Detected unrecoverable errors.
    pub due: Factor,
}

/// A factor and its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    /// The estimate.
    pub factor: f64,
    /// Its bounds.
    #[serde(flatten)]
    pub bounds: RateBounds,
}

/// The register file of a campaign; none where no registers are hit.
pub(super) fn register_file(
    given: Vec<KernelRegisters>,
    by_kernel: &[NamedAccount],
    stratified: bool,
    method: IntervalKind,
    confidence: Confidence,
) -> Option<RegisterFile> {
    if given.is_empty() {
        return None;
    }
    let part = |name: &str| by_kernel.iter().find(|part| part.name == name);
    let file = |given: &KernelRegisters| {
        let one = part(&given.kernel).map(|part| (given.share, part));
        KernelFile { given: given.clone(), avf: avf(one.as_slice(), method, confidence) }
    };
    let kernels: Vec<KernelFile> = given.iter().map(file).collect();
    let all: Vec<(f64, &NamedAccount)> = given.iter().filter_map(|it| Some((it.share, part(&it.kernel)?))).collect();
    Some(RegisterFile { avf: if stratified { None } else { avf(&all, method, confidence) }, kernels })
}

/// The factor over some kernels, each with its share of the file.
fn avf(parts: &[(f64, &NamedAccount)], method: IntervalKind, confidence: Confidence) -> Option<Avf> {
    let landed = |part: &NamedAccount| {
        let outcomes = part.account.outcomes;
        outcomes.masked + outcomes.sdc + outcomes.due + outcomes.undecided
    };
    let all: u64 = parts.iter().map(|(_, part)| landed(part)).sum();
    let of = |count: &dyn Fn(&NamedAccount) -> u64| {
        let stratum = |&(share, part): &(f64, &NamedAccount)| StratumSample {
            weight: share * landed(part) as f64 / all as f64,
            sample: Proportion::from_counts(count(part), landed(part) - count(part)),
        };
        let strata: Vec<StratumSample> = parts.iter().map(stratum).collect();
        let weight: f64 = strata.iter().map(|stratum| stratum.weight).sum();
        let stratified = Stratified::new(&strata);
        let Interval { low, high } = stratified.interval(method, confidence);
        let bounds = RateBounds { low: low * weight, high: high * weight };
        Some(Factor { factor: stratified.rate()? * weight, bounds })
    };
    // Of what is undecided none may count, or all.
    let between = |count: fn(&NamedAccount) -> u64| {
        let most = of(&|part| count(part) + part.account.outcomes.undecided)?;
        let least = of(&count)?;
        Some(Factor { bounds: RateBounds { high: most.bounds.high, ..least.bounds }, ..least })
    };
    Some(Avf { sdc: between(|part| part.account.outcomes.sdc)?, due: between(|part| part.account.outcomes.due)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::account::{Account, Outcomes};

    fn part(name: &str, [masked, sdc, due]: [u64; 3]) -> NamedAccount {
        let outcomes = Outcomes { masked, sdc, due, undecided: 0 };
        let bounds = RateBounds { low: 0.0, high: 1.0 };
        let intervals = Outcomes { masked: bounds, sdc: bounds, due: bounds, undecided: bounds };
        let runs = masked + sdc + due;
        let account =
            Account { runs, not_landed: 0, failed: 0, outcomes, rates: None, intervals: Some(intervals), bad: None };
        NamedAccount { name: name.to_owned(), account }
    }

    fn given(kernel: &str, share: f64) -> KernelRegisters {
        KernelRegisters { kernel: kernel.to_owned(), registers_per_thread: 32, share }
    }

    #[test]
    fn the_factor_is_the_rate_times_the_share_weighted_by_time() {
        let parts = [part("a", [60, 20, 20]), part("b", [100, 100, 100])];
        let kernels = vec![given("a", 0.5), given("b", 0.1), given("never", 1.0)];
        let file = register_file(kernels, &parts, false, IntervalKind::Wilson, Confidence::PERCENT_95).unwrap();
        let sdc: Vec<Option<f64>> = file.kernels.iter().map(|kernel| Some(kernel.avf?.sdc.factor)).collect();
        assert_eq!(sdc, [Some(0.1), Some(0.1 / 3.0), None]);
        let all = file.avf.unwrap().sdc;
        assert!((all.factor - (0.25 * 0.1 + 0.75 * 0.1 / 3.0)).abs() < 1e-12, "{all:?}");
        assert!(all.bounds.low < all.factor && all.factor < all.bounds.high && all.bounds.high < 0.1);
    }

    #[test]
    fn a_campaign_on_other_targets_has_none() {
        assert_eq!(register_file(Vec::new(), &[], false, IntervalKind::Wilson, Confidence::PERCENT_95), None);
    }
}
