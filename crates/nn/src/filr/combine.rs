//! FILR: inferences that are run again, and feature maps made twice for the SDCs of all others.

use serde::Serialize;

use crate::filr::certainty::{Criterion, LAST_STEP, Reading, threshold};
use crate::filr::flr::fill;
use crate::filr::maps::duplication;
use crate::filr::order::Order;
use crate::filr::table::Table;

/// A threshold of Top2Diff with the feature maps that are made twice beside it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Combination {
    /// Of which run Top2Diff is read.
    pub reading: Reading,
    /// The threshold below which an inference is run again.
    pub threshold: f64,
    /// The feature maps that are made twice, by number, in the order in which they were taken.
    pub maps: Vec<usize>,
    /// The coverage of the inferences that are run again, 0 to 1.
    pub coverage_by_reruns: f64,
    /// The coverage of both together, 0 to 1.
    pub coverage: f64,
    /// The share of multiplications that are made twice in every inference, 0 to 1.
    pub duplication: f64,
    /// The share of inferences that are run again, 0 to 1.
    pub reruns: f64,
    /// What both cost: (1 + duplication) · (1 + reruns) - 1.
    pub overhead: f64,
}

/// What duplication and reruns cost together, where an inference that is run again has its duplicates, too.
#[must_use]
pub fn overhead(duplication: f64, reruns: f64) -> f64 {
    // As a sum, so that it is that of one alone where the other is nothing.
    duplication + reruns + duplication * reruns
}

/// For every threshold from 0 to 1 the combination that reaches the target; empty if no injection changed the class.
///
/// Where reruns alone reach it, no feature map is made twice.
#[must_use]
pub fn combinations(table: &Table, reading: Reading, by: Order, target: f64) -> Vec<Combination> {
    let maps = table.maps();
    let all = table.all().mass(maps);
    if all == 0 {
        return Vec::new();
    }
    // Masses are whole numbers, so that nothing but all of them is a coverage of 1.
    let coverage = |uncovered: u128| all.saturating_sub(uncovered) as f64 / all as f64;
    let reached = |uncovered: u128| uncovered == 0 || (target < 1.0 && coverage(uncovered) >= target);
    let combination = |step: usize| {
        let mut left = table.left(reading, step);
        let coverage_by_reruns = coverage(left.mass(maps));
        let chosen = fill(maps, &left, by, reached);
        for &map in &chosen {
            left.sdcs[map] = 0;
        }
        let (duplication, reruns) = (duplication(maps, &chosen), table.reruns(Criterion::Top2Diff, step));
        Combination {
            reading,
            threshold: threshold(step),
            maps: chosen,
            coverage_by_reruns,
            coverage: coverage(left.mass(maps)),
            duplication,
            reruns,
            overhead: overhead(duplication, reruns),
        }
    };
    (0..=LAST_STEP).map(combination).collect()
}

/// The combination with the least overhead; of equal ones that with the smaller threshold.
#[must_use]
pub fn cheapest(combinations: &[Combination]) -> Option<&Combination> {
    combinations.iter().min_by(|one, other| one.overhead.total_cmp(&other.overhead))
}
