//! Times of kernels with two schemes on a GPU, with facts of them that need no run: a choice is learned from them.

use crate::hardening::automatic::features::KernelFeatures;
use crate::hardening::automatic::tree::{ChoiceTree, TimedExample};
use serde::{Deserialize, Serialize};

/// The bundled table.
const BUNDLED: &str = include_str!("../../../../../profiles/protection/h100.toml");

/// The times of kernels with both forms of FastSig.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HardenedTimes {
    /// The GPU.
    pub gpu: String,
    /// Where the times come from.
    pub source: String,
    /// The kernels.
    #[serde(rename = "kernel")]
    pub kernels: Vec<HardenedTimesOfKernel>,
}

/// A kernel of an application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HardenedTimesOfKernel {
    /// The application, by the name of its capsule.
    pub application: String,
    /// The kernel.
    pub kernel: String,
    /// Its share of the time of all kernels of the application, before.
    pub share: f64,
    /// How many times as long it takes with FastSig-DRDV.
    pub fastsig_drdv: f64,
    /// How many times as long it takes with FastSig-SRIV.
    pub fastsig_sriv: f64,
    /// Its facts that need no run.
    pub features: KernelFeatures,
}

/// How many times as long the kernels of an application take.
#[derive(Clone, Debug, PartialEq)]
pub struct ChoiceOutcome {
    /// The application.
    pub application: String,
    /// With FastSig-DRDV for all of its kernels.
    pub drdv: f64,
    /// With FastSig-SRIV for all of them.
    pub sriv: f64,
    /// With the scheme that a tree chooses which was grown without this application.
    pub automatic: f64,
    /// With the better one of both for each kernel.
    pub best: f64,
}

impl HardenedTimes {
    /// The bundled table.
    ///
    /// # Errors
    /// If it cannot be read, which is a mistake of ours.
    pub fn bundled() -> Result<Self, String> {
        toml::from_str(BUNDLED).map_err(|error| format!("read profiles/protection/h100.toml: {error}"))
    }

    /// The tree of all applications but one.
    pub(super) fn without(&self, application: &str) -> ChoiceTree {
        let others = self.kernels.iter().filter(|kernel| kernel.application != application);
        let examples = others.map(|kernel| TimedExample {
            application: &kernel.application,
            features: kernel.features,
            costs: [kernel.fastsig_drdv.ln(), kernel.fastsig_sriv.ln()],
            weight: kernel.share,
        });
        ChoiceTree::grown(&examples.collect::<Vec<_>>())
    }

    /// The times of each application by the choice of trees that were grown without it, in the order of the table.
    #[must_use]
    pub fn left_out(&self) -> Vec<ChoiceOutcome> {
        let mut names: Vec<&str> = self.kernels.iter().map(|kernel| kernel.application.as_str()).collect();
        names.dedup();
        names.into_iter().map(|name| self.outcome(name)).collect()
    }

    fn outcome(&self, application: &str) -> ChoiceOutcome {
        let tree = self.without(application);
        let kernels: Vec<&HardenedTimesOfKernel> =
            self.kernels.iter().filter(|kernel| kernel.application == application).collect();
        let times = |of: &dyn Fn(&HardenedTimesOfKernel) -> f64| {
            let shares: f64 = kernels.iter().map(|kernel| kernel.share).sum();
            kernels.iter().map(|kernel| kernel.share * of(kernel)).sum::<f64>() / shares
        };
        ChoiceOutcome {
            application: application.to_owned(),
            drdv: times(&|kernel| kernel.fastsig_drdv),
            sriv: times(&|kernel| kernel.fastsig_sriv),
            automatic: times(&|kernel| match tree.choose(&kernel.features).0 {
                0 => kernel.fastsig_drdv,
                _ => kernel.fastsig_sriv,
            }),
            best: times(&|kernel| kernel.fastsig_drdv.min(kernel.fastsig_sriv)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_application_of_the_bundled_table_is_left_out_once_and_none_beats_the_better_one_of_both() {
        let table = HardenedTimes::bundled().unwrap();
        let outcomes = table.left_out();
        let mut names: Vec<&str> = outcomes.iter().map(|it| it.application.as_str()).collect();
        names.dedup();
        assert_eq!((names.len(), outcomes.len()), (48, 48));
        for it in &outcomes {
            assert!(it.best <= it.automatic.min(it.drdv).min(it.sriv) + 1e-9, "{it:?}");
        }
    }
}
