//! ILR: from which threshold on inferences are run again.

use serde::Serialize;

use crate::filr::certainty::{Criterion, LAST_STEP, Reading, threshold};
use crate::filr::table::{Left, Sdc, Table, Tally};

/// What a threshold costs and brings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ThresholdPoint {
    /// The threshold.
    pub threshold: f64,
    /// The share of SDCs in inferences that are run again, 0 to 1, each as heavy as the multiplications of its feature map.
    pub coverage: f64,
    /// The same with each SDC as heavy as the neurons of its feature map, as if all neurons were drawn alike.
    pub coverage_by_neurons: f64,
    /// SDCs in inferences that are run again, as they were counted.
    pub sdcs: u64,
    /// The share of images that are run again, 0 to 1, right or not.
    pub overhead: f64,
}

/// Coverage and overhead at every threshold from 0 to 1; empty if no injection changed the class.
#[must_use]
pub fn sweep(table: &Table, criterion: Criterion, reading: Reading) -> Vec<ThresholdPoint> {
    let (maps, all) = (table.maps(), table.all());
    let (mass, mass_by_neurons) = (all.mass(maps), all.mass_by_neurons(maps));
    if mass == 0 || mass_by_neurons == 0 {
        return Vec::new();
    }
    let point = |step: usize| {
        let again = |tally: &Tally| {
            let first = |sdc: &Sdc| sdc.certainty(reading).first_step(criterion);
            tally.sdcs.iter().filter(|sdc| first(sdc) <= step).count() as u64
        };
        let covered = Left { sdcs: table.tallies().iter().map(again).collect(), loss: Vec::new() };
        ThresholdPoint {
            threshold: threshold(step),
            coverage: covered.mass(maps) as f64 / mass as f64,
            coverage_by_neurons: covered.mass_by_neurons(maps) as f64 / mass_by_neurons as f64,
            sdcs: covered.sdcs.iter().sum(),
            overhead: table.reruns(criterion, step),
        }
    };
    (0..=LAST_STEP).map(point).collect()
}
