//! Workloads of which everything is said by hand: what they execute, and how faults in it end.

use methods::two_level::{
    Composition, Counted, EndsByKernel, Executed, IpaTable, KnownIssueRate, OutcomeCounts, Shares,
};
use std::collections::BTreeMap;

use crate::two_level::survey::{Coverage, Measured, OF_PAPER, PATTERNS, VARIANTS};

/// Faults of each type and manifestation.
pub(super) const RUNS: u64 = 1000;

/// What is said of a workload.
#[derive(Clone, Copy)]
pub(super) struct Said {
    /// Its name.
    pub(super) name: &'static str,
    /// SDCs of 1000 faults: one bit, two bits, a random value.
    pub(super) sdc: [u64; 3],
    /// Instructions of 1000 that are of the two types that it executes, and those of them that were measured.
    pub(super) executed: [[u64; 2]; 2],
    /// Its issue rates: the paper's, and ours.
    pub(super) issue: [f64; 2],
}

impl Said {
    /// A workload of the paper like any other.
    pub(super) fn of(name: &'static str) -> Self {
        Self { name, sdc: [200; 3], executed: [[500, 300], [300, 190]], issue: [1.0, 1.0] }
    }
}

/// The bundled table.
pub(super) fn table() -> IpaTable {
    IpaTable::named("K40").unwrap()
}

fn ends(sdc: u64) -> OutcomeCounts {
    OutcomeCounts { masked: RUNS - sdc - 100, sdc, due: 100, undecided: 0 }
}

/// A workload, measured.
pub(super) fn workload(it: &Said, ipa: &IpaTable) -> Measured {
    let [types, measured] = it.executed;
    let padded = |of: [u64; 2]| of.into_iter().chain([0; 5]).collect::<Vec<u64>>();
    let left_out = BTreeMap::from([("store", 1000 - types[0] - types[1])]);
    let executed = Executed { all: 1000, types: padded(types), measured: padded(measured), left_out };
    let shares = Shares { kernels: BTreeMap::from([("k".to_owned(), executed)]) };
    // The first manifestation is a crash, of which no fault is made.
    let cells = [0, 1].into_iter().flat_map(|kind| (1..).zip(it.sdc).map(move |(at, sdc)| ((kind, at), sdc)));
    let by_kernel = |sdc: u64| EndsByKernel::from([("k".to_owned(), ends(sdc))]);
    let by_cell: BTreeMap<(usize, usize), EndsByKernel> = cells.map(|(at, sdc)| (at, by_kernel(sdc))).collect();
    let composition = Composition::of(ipa, &shares, &by_cell);
    let counted = Counted { ends: by_cell, ..Counted::default() };
    let issue = it.issue.map(|rate| Some(KnownIssueRate { rate, source: "by hand".to_owned(), profile: None }));
    Measured {
        name: it.name,
        paper: OF_PAPER.iter().find(|(name, _)| *name == it.name).map(|(_, paper)| *paper),
        instructions: 1000,
        variants: vec![(shares.clone(), composition.clone(), counted.clone()); VARIANTS.len()],
        composition,
        shares,
        counted,
        issue,
        patterns: vec![ends(it.sdc[0]); PATTERNS.len()],
        coverage: Coverage { worlds: 100, below: 2, above: 3 },
    }
}

/// Several.
pub(super) fn workloads(several: &[Said], ipa: &IpaTable) -> Vec<Measured> {
    several.iter().map(|it| workload(it, ipa)).collect()
}
