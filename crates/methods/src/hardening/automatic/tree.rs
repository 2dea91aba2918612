//! A decision tree of at most two levels between two schemes, grown of what their times were.
//!
//! The cost of a choice is the logarithm of how many times as long a kernel takes; the tree is that of the lowest cost among all of
//! its depth, and a split has to leave kernels of three applications on each side: with less it would learn one application by heart.

use crate::hardening::automatic::features::{FEATURES, KernelFeatures};
use std::collections::BTreeSet;

/// How deep a tree may be.
const DEPTH: u32 = 2;
/// The applications that each side of a split has at least.
const APPLICATIONS: usize = 3;

/// A kernel whose times are known.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TimedExample<'a> {
    pub(super) application: &'a str,
    pub(super) features: KernelFeatures,
    /// The logarithm of how many times as long it takes with the first scheme, and with the second.
    pub(super) costs: [f64; 2],
    /// The share of its application's time.
    pub(super) weight: f64,
}

/// A tree.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ChoiceTree {
    /// The first scheme or the second.
    Leaf(usize),
    /// The first branch is for values up to the threshold.
    Split { feature: usize, threshold: f64, branches: Box<[ChoiceTree; 2]> },
}

impl ChoiceTree {
    /// The tree of the lowest cost.
    pub(super) fn grown(examples: &[TimedExample<'_>]) -> Self {
        best(&examples.iter().collect::<Vec<_>>(), DEPTH).1
    }

    /// The scheme for a kernel, and the conditions that lead to it.
    pub(super) fn choose(&self, features: &KernelFeatures) -> (usize, Vec<String>) {
        match self {
            Self::Leaf(scheme) => (*scheme, Vec::new()),
            Self::Split { feature, threshold, branches } => {
                let value = features.values()[*feature];
                let side = usize::from(value > *threshold);
                let (scheme, mut reasons) = branches[side].choose(features);
                let relation = if side == 0 { "at most" } else { "above" };
                reasons.insert(0, format!("{} {value:.2}, {relation} {threshold:.2}", FEATURES[*feature]));
                (scheme, reasons)
            }
        }
    }

    /// The tree in words.
    pub(super) fn words(&self, schemes: [&str; 2]) -> String {
        match self {
            Self::Leaf(scheme) => schemes[*scheme].to_owned(),
            Self::Split { feature, threshold, branches } => {
                let [low, high] = [branches[0].words(schemes), branches[1].words(schemes)];
                format!("({} at most {threshold:.2}: {low}; above: {high})", FEATURES[*feature])
            }
        }
    }
}

/// The lowest cost and its tree.
fn best(examples: &[&TimedExample<'_>], depth: u32) -> (f64, ChoiceTree) {
    let cost = |scheme: usize| examples.iter().map(|it| it.weight * it.costs[scheme]).sum::<f64>();
    let [first, second] = [cost(0), cost(1)];
    let mut found = if second < first { (second, ChoiceTree::Leaf(1)) } else { (first, ChoiceTree::Leaf(0)) };
    if depth == 0 {
        return found;
    }
    for feature in 0..FEATURES.len() {
        let value = |it: &TimedExample<'_>| it.features.values()[feature];
        let mut values: Vec<f64> = examples.iter().map(|it| value(it)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        for pair in values.windows(2) {
            let threshold = f64::midpoint(pair[0], pair[1]);
            let (low, high): (Vec<_>, Vec<_>) = examples.iter().partition(|it| value(it) <= threshold);
            if [&low, &high].iter().any(|side| applications(side) < APPLICATIONS) {
                continue;
            }
            let [(low_cost, low), (high_cost, high)] = [best(&low, depth - 1), best(&high, depth - 1)];
            // Branches that say the same need no split; a smaller tree is kept where costs are equal.
            if low_cost + high_cost < found.0 - 1e-12 && low != high {
                let branches = Box::new([low, high]);
                found = (low_cost + high_cost, ChoiceTree::Split { feature, threshold, branches });
            }
        }
    }
    found
}

fn applications(examples: &[&TimedExample<'_>]) -> usize {
    examples.iter().map(|it| it.application).collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(application: &str, growth: f64, costs: [f64; 2]) -> TimedExample<'_> {
        let features = KernelFeatures { growth_second: growth, ..KernelFeatures::default() };
        TimedExample { application, features, costs, weight: 1.0 }
    }

    #[test]
    fn a_split_that_saves_is_found_and_its_reasons_are_said() {
        let names = ["a", "b", "c", "d", "e", "f"];
        let examples: Vec<TimedExample<'_>> =
            (0..6).map(|at| example(names[at], at as f64, if at < 3 { [0.5, 0.1] } else { [0.1, 0.5] })).collect();
        let tree = ChoiceTree::grown(&examples);
        assert_eq!(tree.choose(&examples[0].features).0, 1);
        let (scheme, reasons) = tree.choose(&examples[5].features);
        assert_eq!((scheme, reasons.len()), (0, 1));
        assert!(reasons[0].contains("5.00, above 2.50"), "{reasons:?}");
    }

    #[test]
    fn what_one_application_alone_would_gain_is_not_learned() {
        let examples: Vec<TimedExample<'_>> = ["a", "a", "b", "c", "d"]
            .into_iter()
            .zip(0..)
            .map(|(name, at)| example(name, f64::from(at), if name == "a" { [0.5, 0.1] } else { [0.1, 0.2] }))
            .collect();
        assert!(matches!(ChoiceTree::grown(&examples), ChoiceTree::Leaf(_)));
    }
}
