//! Runs that were followed, kept in a file, so that the same command goes on where it was ended and rows and graph are of one
//! campaign.

use campaign::{Site, Subject as _};
use inject::{CapsuleTarget, Corruption, Extent};
use outcome::{Class, Outcome};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::arrays::FollowedArrays;
use super::follow::{ArrayCorruption, TrackedRun, follow};
use crate::kit::{InputHistory, StudyError};

/// Runs that are followed and kept together; an interruption loses the ones in hand.
const TOGETHER: usize = 500;

/// The word of these values in the history, with the version of their form.
const WHAT: &str = "propagation/1";

/// The runs of a capsule whose arrays are followed.
pub(super) struct KeptRuns<'c> {
    history: InputHistory,
    capsule: &'c CapsuleTarget,
    followed: &'c FollowedArrays,
}

impl<'c> KeptRuns<'c> {
    /// Opens them in a directory, or begins them: other arrays, another recording or another machine are others.
    ///
    /// # Errors
    /// If the file cannot be made or used.
    pub(super) fn open(
        dir: &Path,
        capsule: &'c CapsuleTarget,
        followed: &'c FollowedArrays,
    ) -> Result<Self, StudyError> {
        let golden = capsule.golden_run();
        let of = format!(
            "{WHAT} {} {:?} {:?} {:?} {:?}",
            capsule.digest(),
            followed.arrays,
            capsule.criteria(),
            golden.machine_words(),
            golden.explicit_fuel()
        );
        let of = blake3::hash(of.as_bytes()).to_hex();
        let history = InputHistory::open(dir, &format!("{}-propagation", capsule.name()), &of)?;
        Ok(Self { history, capsule, followed })
    }

    /// Follows the faults of sites, but those that are kept, and shows each run to `see`, in order.
    ///
    /// # Errors
    /// If a fault names no place, the work is stopped, or the file cannot be read or written.
    pub(super) fn follow(
        &self,
        sites: &[Site],
        jobs: usize,
        stop: &AtomicBool,
        see: &mut dyn FnMut(TrackedRun),
    ) -> Result<(), StudyError> {
        for (number, sites) in sites.chunks(TOGETHER).enumerate() {
            let faults: Vec<&str> = sites.iter().filter_map(Site::fault).collect();
            let key = blake3::hash(faults.join("\n").as_bytes()).to_hex();
            let runs = match self.history.get::<Vec<KeptRun>>(&key, WHAT)? {
                Some(kept) => {
                    let runs = kept.into_iter().map(KeptRun::into_run).collect::<Option<Vec<_>>>();
                    runs.ok_or_else(|| StudyError::Refused("read runs that were kept: an outcome is none".to_owned()))?
                }
                None => {
                    let mut runs = Vec::new();
                    follow(self.capsule, &self.followed.arrays, sites, jobs, stop, &mut |it| runs.push(it))?;
                    runs.sort_by_key(|it| it.run);
                    self.history.put(&key, WHAT, &runs.iter().map(KeptRun::of).collect::<Vec<_>>())?;
                    runs
                }
            };
            runs.into_iter().for_each(|it| see(TrackedRun { run: number * TOGETHER + it.run, ..it }));
        }
        Ok(())
    }
}

/// A run as it is written.
#[derive(Serialize, Deserialize)]
struct KeptRun {
    run: usize,
    launch: u32,
    class: String,
    kind: Option<String>,
    completed: bool,
    after: BTreeMap<u32, BTreeSet<usize>>,
    ends: BTreeMap<usize, KeptArray>,
}

#[derive(Serialize, Deserialize)]
struct KeptArray {
    launch: u32,
    first: KeptCorruption,
    last: Option<KeptCorruption>,
}

/// Errors are written as their bits: some are no finite numbers.
#[derive(Serialize, Deserialize)]
struct KeptCorruption {
    elements: u64,
    max_abs: u64,
    sum_abs: u64,
    ends: (u64, u64),
    rows: u64,
    columns: u64,
}

impl KeptRun {
    fn of(it: &TrackedRun) -> Self {
        let array = |(&array, it): (&usize, &ArrayCorruption)| {
            let last = it.last.as_ref().map(KeptCorruption::of);
            (array, KeptArray { launch: it.launch, first: KeptCorruption::of(&it.first), last })
        };
        Self {
            run: it.run,
            launch: it.launch,
            class: it.class().word().to_owned(),
            kind: it.outcome.kind().map(Into::into),
            completed: it.completed,
            after: it.after.clone(),
            ends: it.ends.iter().map(array).collect(),
        }
    }

    fn into_run(self) -> Option<TrackedRun> {
        let outcome = Outcome::from_words(self.class.parse::<Class>().ok()?, self.kind.as_deref())?;
        let array = |(array, it): (usize, KeptArray)| {
            let last = it.last.map(KeptCorruption::into_corruption);
            (array, ArrayCorruption { launch: it.launch, first: it.first.into_corruption(), last })
        };
        let ends = self.ends.into_iter().map(array).collect();
        let Self { run, launch, completed, after, .. } = self;
        Some(TrackedRun { run, launch, outcome, completed, after, ends })
    }
}

impl KeptCorruption {
    fn of(it: &Corruption) -> Self {
        let Extent { ends, rows, columns } = it.extent;
        let (max_abs, sum_abs) = (it.max_abs.to_bits(), it.sum_abs.to_bits());
        Self { elements: it.elements, max_abs, sum_abs, ends, rows, columns }
    }

    fn into_corruption(self) -> Corruption {
        let Self { elements, max_abs, sum_abs, ends, rows, columns } = self;
        let [max_abs, sum_abs] = [max_abs, sum_abs].map(f64::from_bits);
        Corruption { elements, max_abs, sum_abs, extent: Extent { ends, rows, columns } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcome::Sdc;

    #[test]
    fn a_run_is_read_back_as_it_is_kept() {
        let corruption = |sum_abs: f64| Corruption {
            elements: 3,
            max_abs: f64::INFINITY,
            sum_abs,
            extent: Extent { ends: (1, 9), rows: 2, columns: 3 },
        };
        let run = TrackedRun {
            run: 7,
            launch: 2,
            outcome: Outcome::Sdc(Sdc::Maybe(3)),
            completed: true,
            after: BTreeMap::from([(2, BTreeSet::from([0, 4]))]),
            ends: BTreeMap::from([(
                4,
                ArrayCorruption { launch: 2, first: corruption(0.1), last: Some(corruption(0.3)) },
            )]),
        };
        let text = serde_json::to_string(&KeptRun::of(&run)).unwrap();
        let read = serde_json::from_str::<KeptRun>(&text).unwrap().into_run();
        assert_eq!(read, Some(run));
        let other = text.replace("maybe_3", "perhaps");
        assert_eq!(serde_json::from_str::<KeptRun>(&other).unwrap().into_run(), None);
    }
}
