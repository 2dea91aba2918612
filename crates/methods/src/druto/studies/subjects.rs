//! Random inputs that studies are about.

use space::Point;
use std::collections::{BTreeMap, BTreeSet};

use super::super::bench::Bench;
use crate::kit::StudyError;

/// Points that are drawn for each input that is wanted, until the space counts as used up.
const DRAWN: u64 = 20;

/// Random inputs that run.
pub(super) struct Subjects {
    /// The inputs; no two of them make the application do the same.
    pub(super) points: Vec<Point>,
    /// Points that were drawn and make the application do the same as another.
    pub(super) same: u64,
    /// By reason, inputs that cannot be run.
    pub(super) refused: BTreeMap<String, u64>,
}

impl Subjects {
    /// This number of inputs, or as many as are found.
    pub(super) fn draw(bench: &mut Bench<'_, '_>, wanted: u64, seed: u64) -> Result<Self, StudyError> {
        let mut subjects = Self { points: Vec::new(), same: 0, refused: BTreeMap::new() };
        let (mut names, mut digests) = (BTreeSet::new(), BTreeSet::new());
        for number in 0..wanted.saturating_mul(DRAWN) {
            if subjects.points.len() as u64 == wanted {
                break;
            }
            let point = bench.inputs.space().draw(seed, number);
            if !names.insert(point.to_string()) {
                subjects.same += 1;
                continue;
            }
            match bench.run(&point)? {
                Ok(capsule) if digests.insert(bench.work_of(&capsule)) => subjects.points.push(point),
                Ok(_) => subjects.same += 1,
                Err(why) => *subjects.refused.entry(why).or_default() += 1,
            }
        }
        Ok(subjects)
    }

    /// Sentences about inputs that are left out.
    pub(super) fn notes(&self) -> Vec<String> {
        let same =
            (self.same > 0).then(|| format!("{} drawn inputs are left out: they are the same as others.", self.same));
        let refused = self.refused.iter().map(|(why, count)| format!("{count} inputs could not be run: {why}."));
        same.into_iter().chain(refused).collect()
    }
}
